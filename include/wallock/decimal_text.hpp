// Plain decimal notation, read and written digit by digit: the way past floating point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace wallock::detail {

// A number as its digits say: units * 10^-places, before any bound of a type is applied.
struct DecimalDigits {
  bool negative = false;
  std::uint64_t units = 0;
  int places = 0;
};

// Reads -?(0|[1-9][0-9]*)(\.[0-9]+)? (the number grammar of RFC 8259 section 6 without its
// exponent). Empty for any other text, for more than 18 places and for units over 63 bits.
constexpr std::optional<DecimalDigits> read_decimal(std::string_view text) noexcept {
  constexpr std::uint64_t most =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  DecimalDigits out;
  if (text.starts_with('-')) {
    out.negative = true;
    text.remove_prefix(1);
  }
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  if (whole.empty() || (whole.size() > 1 && whole.front() == '0')) return std::nullopt;
  if (point == text.size() - 1 && point != std::string_view::npos) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == point) continue;
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(text[i] - '0');
    if (out.units > (most - digit) / 10) return std::nullopt;
    out.units = out.units * 10 + digit;
    if (i > point && ++out.places > 18) return std::nullopt;
  }
  return out;
}

// Writes units * 10^-places with exactly `places` digits behind the point (none, no point).
inline std::string write_decimal(bool negative, std::uint64_t units, int places) {
  std::string digits = std::to_string(units);
  const auto width = static_cast<std::size_t>(places);
  if (digits.size() <= width) digits.insert(0, width + 1 - digits.size(), '0');
  if (places > 0) digits.insert(digits.size() - width, 1, '.');
  return negative ? "-" + digits : digits;
}

}  // namespace wallock::detail
