// ClosedLoop: operations one after the other until a time is over, each timed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sides.hpp"
#include "statistics.hpp"

namespace wallock::bench {

// What a loop did.
struct Served {
  std::vector<double> microseconds;  // of each operation
  double seconds = 0;                // from the first one's start to the last one's end

  // Adds another loop that ran at the same time.
  void join(const Served& other) {
    microseconds.insert(microseconds.end(), other.microseconds.begin(), other.microseconds.end());
    seconds = std::max(seconds, other.seconds);
  }
  [[nodiscard]] double per_second() const {
    return seconds > 0 ? static_cast<double>(microseconds.size()) / seconds : 0;
  }
};

// Calls `operate` again and again with a place to note operations in; it may do several.
template <class Operate>
[[nodiscard]] Served closed_loop(std::chrono::nanoseconds length, const Operate& operate) {
  using Clock = std::chrono::steady_clock;
  Served served;
  const auto start = Clock::now();
  const auto timed = [&served](const auto& operation) {
    const auto before = Clock::now();
    auto result = operation();
    served.microseconds.push_back(
        std::chrono::duration<double, std::micro>(Clock::now() - before).count());
    return result;
  };
  while (Clock::now() - start < length)
    operate(timed);
  served.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return served;
}

// What a closed loop can do on a resource of its own.
enum class LoopKind { execute, lease };

[[nodiscard]] inline std::string to_string(LoopKind kind) {
  return kind == LoopKind::execute ? "execute" : "acquire_release";
}

// execute() with one new action, or acquire and release (two operations), on a resource that nobody
// else uses, under a holder of its own. `who` tells the loops of a store apart.
[[nodiscard]] inline Served loop_on_own_resource(Coordinator& coordinator, LoopKind kind,
                                                 const std::string& who,
                                                 std::chrono::nanoseconds length) {
  const std::string resource = "account-" + who;
  const std::string holder = "worker-" + who;
  const std::string payload(payload_bytes, 'p');
  std::uint64_t number = 0;
  return closed_loop(length, [&](const auto& timed) {
    if (kind == LoopKind::execute) {
      const ActionFields action{.id = "payment-" + who + "-" + std::to_string(number++),
                                .payload = payload};
      timed([&] {
        return must(coordinator.execute(resource, action, {}, {.holder = Given<HolderId>(holder)}));
      });
    } else {
      const Lease lease = timed(
          [&] { return must(coordinator.acquire(resource, {.holder = Given<HolderId>(holder)})); });
      timed([&] { return must(coordinator.release(lease)); });
    }
  });
}

}  // namespace wallock::bench
