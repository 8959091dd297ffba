// Waiting: the course of a call that waits for a resource that somebody else has.
#pragma once

#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "coordinator/lookout.hpp"
#include "wallock/clock.hpp"
#include "wallock/result.hpp"

namespace wallock::detail {

// How long one call may take.
struct WaitLimits {
  Duration wait{};               // while somebody else has the resource; zero asks once
  Duration operation_timeout{};  // of one attempt, for the store's write lock
  std::stop_token stop = {};
};

// One attempt of a waiting call.
struct Attempt {
  Instant deadline;     // until when it may wait for the store's write lock
  bool yields = false;  // others were in line first
};

// Bounded by one absolute deadline (INV-10): the call takes no longer than the wait or one
// operation_timeout, whichever is longer. Leaves nothing in the store. Belongs to one thread.
class Waiting {
 public:
  Waiting(Lookout& lookout, const Clock& clock, WaitLimits limits);

  [[nodiscard]] bool stop_requested() const noexcept { return limits_.stop.stop_requested(); }
  [[nodiscard]] Attempt next_attempt() const;
  // Given an attempt's error, blocks until another attempt is worth making (empty), or says how the
  // call ends: with the error itself, lease_held when the wait is over, or cancelled.
  [[nodiscard]] std::optional<Error> pause(const Error& refusal);

 private:
  Lookout& lookout_;
  const Clock& clock_;
  WaitLimits limits_;
  Instant first_deadline_;             // of the first attempt
  Instant wait_deadline_;              // of the waiting
  std::optional<Error> refusal_ = {};  // the last lease_held
};

// Calls `attempt`, a callable from an Attempt to a Result, until it answers something else than
// lease_held or the wait ends.
template <class Ask>
[[nodiscard]] auto attempt_until(Waiting& waiting, Ask attempt)
    -> std::invoke_result_t<Ask&, Attempt> {
  if (waiting.stop_requested()) return fail(Errc::cancelled);
  for (;;) {
    auto answer = attempt(waiting.next_attempt());
    if (answer) return answer;
    if (auto end = waiting.pause(answer.error())) return fail(*std::move(end));
  }
}

}  // namespace wallock::detail
