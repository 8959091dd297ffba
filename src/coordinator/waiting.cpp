#include "coordinator/waiting.hpp"

#include <algorithm>

namespace wallock::detail {

Waiting::Waiting(Lookout& lookout, const Clock& clock, WaitLimits limits)
    : lookout_(lookout), clock_(clock), limits_(std::move(limits)) {
  const Instant now = clock_.now();
  first_deadline_ = saturating_add(now, limits_.operation_timeout);
  wait_deadline_ = saturating_add(now, limits_.wait);
}

Attempt Waiting::next_attempt() const {
  const Instant own = saturating_add(clock_.now(), limits_.operation_timeout);
  return {.deadline = std::min(own, std::max(first_deadline_, wait_deadline_)),
          .yields = lookout_.yields()};
}

std::optional<Error> Waiting::pause(const Error& refusal) {
  const bool wait_is_over = clock_.now() >= wait_deadline_;
  if (refusal.code() != Errc::lease_held) {
    // An attempt cut short by the end of the wait says nothing new: the resource was held.
    const bool cut_short = refusal.code() == Errc::busy && wait_is_over && refusal_;
    return cut_short ? refusal_ : refusal;
  }
  refusal_ = refusal;
  if (wait_is_over) return refusal_;
  if (lookout_.await_news(refusal, wait_deadline_, limits_.stop)) return std::nullopt;
  return stop_requested() ? Error(Errc::cancelled) : refusal_;
}

}  // namespace wallock::detail
