// Decimal: an exact amount, as a scaled 64-bit integer.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "wallock/decimal_text.hpp"
#include "wallock/print.hpp"
#include "wallock/result.hpp"

namespace wallock {

// An amount: units * 10^-places, with |units| < 2^63 and 0 <= places <= 18. Kept in its shortest
// form (1.50 is 1.5, -0 is 0), so that equal amounts are equal values and equal texts. Carries no
// currency and does no arithmetic.
//
// Immutable, trivially copyable; ordered as numbers are.
class Decimal {
 public:
  static constexpr int max_places = 18;

  // Zero.
  constexpr Decimal() noexcept = default;

  // Reads plain decimal notation, "-12.50". invalid_decimal (deterministic) for anything else:
  // exponents, a leading plus or zero, more than 18 places, more digits than 63 bits hold.
  [[nodiscard]] static Result<Decimal> parse(std::string_view text) {
    const auto digits = detail::read_decimal(text);
    if (!digits) return fail(invalid(Errc::invalid_decimal, "amount", max_places));
    const auto units = static_cast<std::int64_t>(digits->units);
    return shortest(digits->negative ? -units : units, digits->places);
  }

  // units * 10^-places. invalid_decimal (deterministic) for places outside 0 to 18, and for the one
  // 64-bit number without a positive twin.
  [[nodiscard]] static Result<Decimal> of(std::int64_t units, int places) {
    if (places < 0 || places > max_places || units == std::numeric_limits<std::int64_t>::min()) {
      return fail(invalid(Errc::invalid_decimal, "amount", max_places));
    }
    return shortest(units, places);
  }

  [[nodiscard]] constexpr std::int64_t units() const noexcept { return units_; }
  [[nodiscard]] constexpr int places() const noexcept { return places_; }

  friend constexpr bool operator==(Decimal, Decimal) noexcept = default;
  friend constexpr std::strong_ordering operator<=>(Decimal a, Decimal b) noexcept {
    const std::int64_t one_a = power_of_ten(a.places_);
    const std::int64_t one_b = power_of_ten(b.places_);
    // Whole parts first; then the fractions, each brought to 18 places, which 63 bits hold.
    if (const auto order = a.units_ / one_a <=> b.units_ / one_b; order != 0) return order;
    return a.units_ % one_a * power_of_ten(max_places - a.places_) <=>
           b.units_ % one_b * power_of_ten(max_places - b.places_);
  }

 private:
  constexpr Decimal(std::int64_t units, int places) noexcept : units_(units), places_(places) {}

  static constexpr Decimal shortest(std::int64_t units, int places) noexcept {
    while (places > 0 && units % 10 == 0) {
      units /= 10;
      --places;
    }
    return Decimal(units, places);
  }

  static constexpr std::int64_t power_of_ten(int exponent) noexcept {
    std::int64_t power = 1;
    for (int i = 0; i < exponent; ++i)
      power *= 10;
    return power;
  }

  std::int64_t units_ = 0;
  int places_ = 0;
};

[[nodiscard]] inline std::string to_string(Decimal amount) {
  const bool negative = amount.units() < 0;
  const auto units = static_cast<std::uint64_t>(negative ? -amount.units() : amount.units());
  return detail::write_decimal(negative, units, amount.places());
}

}  // namespace wallock
