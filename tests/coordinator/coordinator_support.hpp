// What the coordinator's tests are written with: a store in memory, a clock that is moved by hand
// and a list of faults.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "faulty_repository.hpp"
#include "memory_repository.hpp"
#include "wallock/coordinator.hpp"
#include "wallock/lease_guard.hpp"
#include "wallock/manual_clock.hpp"

namespace wallock::test {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ns;

inline Error transient(Errc code = Errc::io_error) { return Error(code); }

// A coordinator with faults of its own; several may share a store and a clock, as several processes
// of one machine do.
class World {
 public:
  explicit World(std::shared_ptr<MemoryStore> on = std::make_shared<MemoryStore>(),
                 std::shared_ptr<ManualClock> with = std::make_shared<ManualClock>())
      : store(std::move(on)), clock(std::move(with)) {}

  [[nodiscard]] std::unique_ptr<LeaseRepository> repository() const {
    return std::make_unique<FaultyRepository>(std::make_unique<MemoryRepository>(store, clock),
                                              faults);
  }
  [[nodiscard]] Coordinator open(Options options = {}) const {
    if (!options.clock) options.clock = clock;
    return Coordinator::over(repository(), std::move(options)).value();
  }
  // Another process on the same store.
  [[nodiscard]] World other() const { return World(store, clock); }

  std::shared_ptr<MemoryStore> store;
  std::shared_ptr<ManualClock> clock;
  std::shared_ptr<Faults> faults = std::make_shared<Faults>();
};

// Waits for another thread, in real time, for at most 30 s; says whether the condition came true.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

inline Lease lease(Instant requested, Duration ttl, std::uint64_t position = 500) {
  return Lease::create({.resource = ResourceName::parse("r").value(),
                        .token = FencingToken::of(1, position).value(),
                        .holder = HolderId::parse("ann").value(),
                        .instance = InstanceId{7},
                        .requested_at = requested,
                        .granted_at = requested,
                        .expires_at = requested + ttl})
      .value();
}

}  // namespace wallock::test
