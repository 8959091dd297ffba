// Waiting: how an operation waits for a resource that somebody else has.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <stop_token>

#include "wallock/clock.hpp"
#include "wallock/lease_repository.hpp"
#include "wallock/result.hpp"

namespace wallock::detail {

// Lengths of the naps between two looks at the store: 0.5 to 1.5 ms, so that waiters do not fall
// into step. The sequence follows from the seed. All members may be called from any thread.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) noexcept : state_(seed) {}

  [[nodiscard]] Duration next() noexcept;

 private:
  std::atomic<std::uint64_t> state_;
};

// How long one call may take.
struct WaitLimits {
  Duration wait{};               // while somebody else has the resource; zero asks once
  Duration operation_timeout{};  // of one attempt, for the store's write lock
  std::stop_token stop = {};
};

// The course of one waiting call. It wakes up when the store changed, when the holder's lease runs
// out, when stop is requested and at its own deadline; it leaves nothing in the store, so there is
// nothing to clean up when it ends.
//
// Bounded by one absolute deadline (INV-10): the call takes no longer than the wait or one
// operation_timeout, whichever is longer. Belongs to one thread.
class Waiting {
 public:
  Waiting(LeaseRepository& store, const Clock& clock, Jitter& jitter, WaitLimits limits);

  [[nodiscard]] bool stop_requested() const noexcept { return limits_.stop.stop_requested(); }

  // Until when the next attempt may wait for the store's write lock.
  [[nodiscard]] Instant attempt_deadline() const;

  // Given an attempt's error, blocks until another attempt is worth making (empty), or says how the
  // call ends: with the error itself, lease_held when the wait is over, or cancelled.
  [[nodiscard]] std::optional<Error> pause(const Error& refusal);

 private:
  [[nodiscard]] std::optional<Error> sleep_until_due(Instant due);
  [[nodiscard]] bool saw_change();

  LeaseRepository& store_;
  const Clock& clock_;
  Jitter& jitter_;
  WaitLimits limits_;
  Instant first_deadline_;                  // of the first attempt
  Instant wait_deadline_;                   // of the waiting
  std::optional<std::uint64_t> seen_ = {};  // the change counter before the last attempt
  std::optional<Error> refusal_ = {};       // the last lease_held
};

// Calls `attempt`, a callable from a deadline to a Result, until it answers something else than
// lease_held or the wait ends.
template <class Attempt>
[[nodiscard]] auto attempt_until(Waiting& waiting, Attempt attempt)
    -> std::invoke_result_t<Attempt&, Instant> {
  if (waiting.stop_requested()) return fail(Errc::cancelled);
  for (;;) {
    auto answer = attempt(waiting.attempt_deadline());
    if (answer) return answer;
    if (auto end = waiting.pause(answer.error())) return fail(*std::move(end));
  }
}

}  // namespace wallock::detail
