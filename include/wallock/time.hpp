// The two time lines of the library: boot time for decisions, wall time for people.
#pragma once

#include <chrono>

namespace wallock {

using Duration = std::chrono::nanoseconds;

// The clock type of Instant: time since this machine booted, suspend included (CLOCK_BOOTTIME,
// clock_gettime(2)). It has no now(): instants come from a Clock (wallock/clock.hpp), so that
// every decision can be replayed with a clock of the caller's.
struct BootTime {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootTime, duration>;
  static constexpr bool is_steady = true;
};

// A point on the boot clock. Comparable between all processes and containers of one running
// machine, meaningless after a reboot (the epoch of a token tells one boot from the next).
using Instant = BootTime::time_point;

// A point on the wall clock. Recorded for people to read; no decision is ever taken on it.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

// instant + duration, held at the ends of the time line instead of overflowing, so that a ttl of
// duration::max() means "for ever".
[[nodiscard]] constexpr Instant saturating_add(Instant instant, Duration duration) noexcept {
  if (duration > Duration::zero() && instant > Instant::max() - duration) return Instant::max();
  if (duration < Duration::zero() && instant < Instant::min() - duration) return Instant::min();
  return instant + duration;
}

// The same for the span between two instants.
[[nodiscard]] constexpr Duration saturating_sub(Instant later, Instant earlier) noexcept {
  const Duration a = later.time_since_epoch();
  const Duration b = earlier.time_since_epoch();
  if (b < Duration::zero() && a > Duration::max() + b) return Duration::max();
  if (b > Duration::zero() && a < Duration::min() + b) return Duration::min();
  return a - b;
}

}  // namespace wallock
