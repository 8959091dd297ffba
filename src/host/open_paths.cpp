#include "host/open_paths.hpp"

#include <algorithm>
#include <list>
#include <mutex>
#include <utility>

#include <pthread.h>

#include "host/process.hpp"

namespace wallock::host {
namespace {

struct Entry {
  const OpenPath* owner;
  std::string path;
  ProcessMark process = {};
};

struct Registry {
  std::mutex mutex;
  std::list<Entry> entries;
};

Registry& registry();

// No fork while another thread has the registry: its child would find it locked for ever.
void before_fork() noexcept { registry().mutex.lock(); }
void after_fork() noexcept { registry().mutex.unlock(); }

// Never destroyed: static Coordinators may close after it would be.
Registry& registry() {
  static auto* const made = new Registry;
  static const int registered = pthread_atfork(before_fork, after_fork, after_fork);
  static_cast<void>(registered);
  return *made;
}

}  // namespace

OpenPath::OpenPath(std::string path) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.entries.push_back({this, std::move(path)});
}

OpenPath::~OpenPath() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  // What was inherited stays, also if this object's place in memory has a new owner.
  all.entries.remove_if(
      [this](const Entry& entry) { return entry.owner == this && !entry.process.forked(); });
}

bool is_inherited(std::string_view path) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return std::ranges::any_of(all.entries, [path](const Entry& entry) {
    return entry.path == path && entry.process.forked();
  });
}

}  // namespace wallock::host
