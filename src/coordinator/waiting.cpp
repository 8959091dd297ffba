#include "coordinator/waiting.hpp"

#include <algorithm>
#include <utility>

namespace wallock::detail {

// SplitMix64 (Steele, Lea, Flood 2014): a counter behind a mixing function, so one atomic addition
// is all that threads share.
Duration Jitter::next() noexcept {
  constexpr std::uint64_t step = 0x9e3779b97f4a7c15;
  std::uint64_t z = state_.fetch_add(step, std::memory_order_relaxed) + step;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  z ^= z >> 31;
  constexpr Duration least = std::chrono::microseconds(500);
  constexpr std::uint64_t spread = 1'000'001;  // nanoseconds, both ends included
  return least + Duration(static_cast<Duration::rep>(z % spread));
}

Waiting::Waiting(LeaseRepository& store, const Clock& clock, Jitter& jitter, WaitLimits limits)
    : store_(store), clock_(clock), jitter_(jitter), limits_(std::move(limits)) {
  const Instant now = clock_.now();
  first_deadline_ = saturating_add(now, limits_.operation_timeout);
  wait_deadline_ = saturating_add(now, limits_.wait);
}

Instant Waiting::attempt_deadline() const {
  const Instant own = saturating_add(clock_.now(), limits_.operation_timeout);
  return std::min(own, std::max(first_deadline_, wait_deadline_));
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
  if (!seen_) {
    // From here on it waits, and must not miss a change between an attempt and its nap: it counts
    // from before the attempt that it makes now. The first attempt is spared that reading.
    static_cast<void>(saw_change());
    return std::nullopt;
  }
  return sleep_until_due(refusal.facts().retry_at.value_or(Instant::max()));
}

std::optional<Error> Waiting::sleep_until_due(Instant due) {
  for (;;) {
    if (stop_requested()) return Error(Errc::cancelled);
    const Instant now = clock_.now();
    if (now >= wait_deadline_) return refusal_;
    // A due time that has passed is not worth a nap of no length: the holder has news by then.
    const Instant limit = due > now ? std::min(due, wait_deadline_) : wait_deadline_;
    clock_.sleep_for(std::min(jitter_.next(), saturating_sub(limit, now)));
    const bool changed = saw_change();
    if (changed || clock_.now() >= due) return std::nullopt;
  }
}

// A counter that cannot be read counts as changed: the next attempt meets the cause and names it.
bool Waiting::saw_change() {
  const auto counter = store_.change_counter();
  if (!counter) {
    if (!seen_) seen_ = 0;
    return true;
  }
  return std::exchange(seen_, *counter) != *counter;
}

}  // namespace wallock::detail
