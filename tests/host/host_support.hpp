// What the tests of the sidecar are written with: a store's folder, openings of it, and children
// that can be killed.
#pragma once

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "catch.hpp"
#include "host/creation_lock.hpp"
#include "host/sidecar.hpp"
#include "host/sidecar_layout.hpp"
#include "temp_folder.hpp"
#include "wallock/manual_clock.hpp"

namespace wallock::test {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ns;

using host::Sidecar;

// Generous: whoever waits this long for another process has found one that hangs.
inline constexpr Duration long_enough = 60s;

// A seed of its own for every run; RNG_SEED of the environment repeats one.
inline unsigned draw_seed() {
  const char* const given = std::getenv("RNG_SEED");
  return given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device{}();
}

// How often something random is done: WALLOCK_STORM of the environment multiplies it.
inline int storm(int times) {
  const char* const given = std::getenv("WALLOCK_STORM");
  return given != nullptr ? times * std::stoi(given) : times;
}

// Waits in real time until `is_so`; false after long_enough.
template <class Predicate>
[[nodiscard]] bool await(Predicate is_so) {
  const auto end = std::chrono::steady_clock::now() + long_enough;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(200us);
  }
  return true;
}

// The folder of one store, with an empty file in the place of its database.
class Shore {
 public:
  Shore() { std::ofstream(database()).flush(); }

  [[nodiscard]] std::string database() const { return folder_ / "a.db"; }
  [[nodiscard]] std::string sidecar() const { return database() + "-wallock"; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return folder_ / name; }

  [[nodiscard]] Result<std::unique_ptr<Sidecar>> try_open(std::uint64_t instance,
                                                          const Clock& clock) const {
    return Sidecar::open(database(), instance, clock, saturating_add(clock.now(), long_enough));
  }
  [[nodiscard]] std::unique_ptr<Sidecar> open(std::uint64_t instance, const Clock& clock) const {
    auto opened = try_open(instance, clock);
    INFO((opened ? std::string() : to_string(opened.error())));
    REQUIRE(opened);
    return *std::move(opened);
  }
  [[nodiscard]] std::unique_ptr<Sidecar> open(std::uint64_t instance) const {
    return open(instance, *system_clock());
  }
  // The errno that opening fails with; 0 if it does not.
  [[nodiscard]] int open_error(const Clock& clock = *system_clock()) const {
    const auto opened = try_open(99, clock);
    if (opened) return 0;
    CHECK(opened.error().code() == Errc::store_unavailable);
    return opened.error().facts().native;
  }

 private:
  TempFolder folder_;
};

// A view of the sidecar's bytes beside all openings.
class RawSidecar {
 public:
  explicit RawSidecar(const std::string& path);
  RawSidecar(const RawSidecar&) = delete;
  RawSidecar& operator=(const RawSidecar&) = delete;
  ~RawSidecar() { munmap(layout_, sizeof *layout_); }

  [[nodiscard]] host::SidecarLayout* operator->() const noexcept { return layout_; }
  [[nodiscard]] host::SidecarLayout& operator*() const noexcept { return *layout_; }

 private:
  host::SidecarLayout* layout_;
};

// Memory that this process and its children share; all zero at first.
template <class T>
class Shared {
 public:
  Shared()
      : at_(static_cast<T*>(
            mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(static_cast<void*>(at_) != MAP_FAILED);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { munmap(at_, sizeof(T)); }

  [[nodiscard]] T* operator->() const noexcept { return at_; }
  [[nodiscard]] T& operator*() const noexcept { return *at_; }

 private:
  T* at_;
};

// A child of fork(2) that runs `work` and ends without destroying anything of the test's. It dies
// with the test, and at its own destruction.
class Fork {
 public:
  explicit Fork(const std::function<int()>& work);
  Fork(Fork&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Fork& operator=(Fork&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;
  ~Fork() { kill(); }

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  // SIGKILL, and waits until it is gone.
  void kill() noexcept;
  void signal(int number) const noexcept { ::kill(pid_, number); }
  // What `work` returned, or 128 + the signal that ended it.
  [[nodiscard]] int wait() noexcept;

 private:
  pid_t pid_;
};

// The same in a PID namespace of its own, where it has the number 1. Returns false, and runs
// nothing, where that is not permitted.
[[nodiscard]] bool may_have_namespaces();
[[nodiscard]] Fork fork_as_pid_1(const std::function<int()>& work);

}  // namespace wallock::test
