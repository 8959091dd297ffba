// Numbers that grow and are held at their ends: counters, and times that double.
#pragma once

#include <cstdint>
#include <limits>

#include "wallock/time.hpp"

namespace wallock::rules {

// value + 1, held at the largest value.
template <class T>
[[nodiscard]] constexpr T saturating_increment(T value) noexcept {
  return value == std::numeric_limits<T>::max() ? value : static_cast<T>(value + 1);
}

// first * 2^times, held at `most`. Exact below it, and never overflows. Needs 0 <= first, most.
[[nodiscard]] constexpr Duration doubled(Duration first, std::uint32_t times,
                                         Duration most) noexcept {
  constexpr std::uint32_t value_bits = std::numeric_limits<Duration::rep>::digits;
  if (times >= value_bits || first.count() > (most.count() >> times)) return most;
  return Duration(first.count() << times);
}

}  // namespace wallock::rules
