#include "machine.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace wallock::test {
namespace {

Machine* the_machine = nullptr;

bool can_befall(Trouble::Kind kind, Ask ask) {
  switch (kind) {
    case Trouble::Kind::none:
      return false;
    case Trouble::Kind::io_error:
      return ask != Ask::close && ask != Ask::unlock && ask != Ask::index_unlock &&
             ask != Ask::barrier && ask != Ask::unmap;
    case Trouble::Kind::lost_flush:
      return ask == Ask::flush;
    case Trouble::Kind::full:
      return ask == Ask::write;
    case Trouble::Kind::busy:
      return ask == Ask::lock || ask == Ask::index_lock;
    case Trouble::Kind::death:
    case Trouble::Kind::power_cut:
      return true;
  }
  return false;
}

int io_error_of(Ask ask) {
  switch (ask) {
    case Ask::open:
      return SQLITE_CANTOPEN;
    case Ask::read:
      return SQLITE_IOERR_READ;
    case Ask::write:
      return SQLITE_IOERR_WRITE;
    case Ask::truncate:
      return SQLITE_IOERR_TRUNCATE;
    case Ask::flush:
      return SQLITE_IOERR_FSYNC;
    case Ask::size:
      return SQLITE_IOERR_FSTAT;
    case Ask::lock:
      return SQLITE_IOERR_LOCK;
    case Ask::remove:
      return SQLITE_IOERR_DELETE;
    case Ask::access:
      return SQLITE_IOERR_ACCESS;
    case Ask::map:
      return SQLITE_IOERR_SHMMAP;
    case Ask::index_lock:
      return SQLITE_IOERR_SHMLOCK;
    case Ask::close:
    case Ask::unlock:
    case Ask::index_unlock:
    case Ask::barrier:
    case Ask::unmap:
      break;
  }
  return SQLITE_IOERR;
}

}  // namespace

std::string_view to_string(Trouble::Kind kind) {
  constexpr std::string_view words[] = {"none", "io_error", "lost_flush", "full",
                                        "busy", "death",    "power_cut"};
  return words[static_cast<std::size_t>(kind)];
}

Machine::Machine(const Image& before, Trace& trace, std::uint64_t seed, bool lies)
    : trace_(trace), random_(seed), lies_(lies), disk_(before, lies) {
  the_machine = this;
  for (const auto& [name, content] : before) {
    files_[name] = std::make_shared<StoredFile>(
        StoredFile{.name = name, .content = content, .number = numbers_++});
  }
}

Machine::~Machine() { the_machine = nullptr; }

Machine* Machine::running() noexcept { return the_machine; }

void Machine::arm(const Trouble& trouble) {
  trouble_ = trouble;
  asks_ = 0;
  struck_ = false;
}

bool Machine::disarm() {
  trouble_ = {};
  return struck_;
}

int Machine::befall(Ask ask) {
  const bool can = can_befall(trouble_.kind, ask) && trouble_.only.value_or(ask) == ask;
  if (struck_ || !can || asks_++ != trouble_.at) return SQLITE_OK;
  struck_ = true;
  switch (trouble_.kind) {
    case Trouble::Kind::none:
      break;
    case Trouble::Kind::io_error:
    case Trouble::Kind::lost_flush:
      return io_error_of(ask);
    case Trouble::Kind::full:
      return SQLITE_FULL;
    case Trouble::Kind::busy:
      return SQLITE_BUSY;
    case Trouble::Kind::death:
      die(process_);
      return io_error_of(ask);
    case Trouble::Kind::power_cut:
      cut_power();
      return io_error_of(ask);
  }
  return SQLITE_OK;
}

int Machine::meet(Ask ask, int process, std::string_view name) {
  if (!has_power_ || is_dead(process)) return io_error_of(ask);
  const int result = process == process_ ? befall(ask) : SQLITE_OK;
  if (result != SQLITE_OK) return noted(ask, name, 0, result);
  return result;
}

int Machine::noted(Ask ask, std::string_view name, std::uint64_t detail, int result) {
  trace_.number(static_cast<std::uint64_t>(ask) << 32 | static_cast<std::uint32_t>(result));
  trace_.number(detail);
  if (trace_.is_told()) {
    constexpr std::string_view words[] = {
        "open",   "close",  "read",   "write", "cut",        "flush",        "size",    "lock",
        "unlock", "remove", "access", "map",   "index_lock", "index_unlock", "barrier", "unmap"};
    trace_.show("    " + std::string(words[static_cast<std::size_t>(ask)]) + " " +
                std::string(name.substr(name.rfind('/') + 1)) + " " + std::to_string(detail) +
                " -> " + std::to_string(result));
  }
  return result;
}

void Machine::die(int process) {
  std::vector<Snapshot> snapshots;
  for (const auto& [name, file] : files_) {
    if (file->index.empty()) continue;
    Snapshot snapshot{.file = file};
    for (const auto& region : file->index)
      snapshot.index.push_back(*region);
    snapshots.push_back(std::move(snapshot));
  }
  dead_[process] = std::move(snapshots);
  if (on_death_) on_death_();
}

void Machine::cut_power() {
  has_power_ = false;
  if (on_death_) on_death_();
}

void Machine::bury(int process) {
  const auto found = dead_.find(process);
  if (found == dead_.end()) return;
  for (Snapshot& snapshot : found->second) {
    auto& index = snapshot.file->index;
    if (index.empty()) continue;  // nobody maps it any more
    index.resize(std::min(index.size(), snapshot.index.size()));
    for (std::size_t i = 0; i < index.size(); ++i)
      *index[i] = snapshot.index[i];
  }
  dead_.erase(found);
}

void Machine::restart() {
  const Image left = disk_.cut(random_.next());
  disk_ = Disk(left, lies_);
  files_.clear();
  numbers_ = 0;
  for (const auto& [name, content] : left) {
    files_[name] = std::make_shared<StoredFile>(
        StoredFile{.name = name, .content = content, .number = numbers_++});
  }
  dead_.clear();
  has_power_ = true;
}

Image Machine::image() const {
  Image image;
  for (const auto& [name, file] : files_)
    image[name] = file->content;
  return image;
}

}  // namespace wallock::test
