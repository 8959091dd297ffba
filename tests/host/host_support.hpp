// What the tests of the sidecar are written with: a store's folder, openings of it, and children
// that can be killed.
#pragma once

#include <sys/mman.h>
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
#include "fork.hpp"
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

}  // namespace wallock::test
