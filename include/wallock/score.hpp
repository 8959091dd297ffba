// Score: a number from 0 to 1, exact, in millionths.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "wallock/decimal_text.hpp"
#include "wallock/print.hpp"
#include "wallock/result.hpp"

namespace wallock {

// A security score. No value outside the closed interval [0, 1] can be made, and none ever passes
// through a floating-point number (INV-03, INV-07).
//
// Immutable, trivially copyable; ordered as numbers are.
class Score {
 public:
  static constexpr int places = 6;
  static constexpr std::int64_t one = 1'000'000;

  // Zero.
  constexpr Score() noexcept = default;

  // invalid_score (deterministic) unless 0 <= millionths <= 1'000'000.
  [[nodiscard]] static Result<Score> from_millionths(std::int64_t millionths) {
    if (millionths < 0 || millionths > one) return fail(invalid(Errc::invalid_score, "score", one));
    return Score(millionths);
  }

  // Reads plain decimal notation: "0", "1", "0.75", at most 6 places. invalid_score otherwise.
  [[nodiscard]] static Result<Score> parse(std::string_view text) {
    const auto digits = detail::read_decimal(text);
    if (!digits || digits->places > places || (digits->negative && digits->units != 0)) {
      return fail(invalid(Errc::invalid_score, "score", one));
    }
    std::uint64_t units = digits->units;
    for (int i = digits->places; i < places && units <= one; ++i)
      units *= 10;
    if (units > one) return fail(invalid(Errc::invalid_score, "score", one));
    return Score(static_cast<std::int64_t>(units));
  }

  [[nodiscard]] constexpr std::int64_t millionths() const noexcept { return millionths_; }

  friend constexpr auto operator<=>(Score, Score) noexcept = default;

 private:
  constexpr explicit Score(std::int64_t millionths) noexcept : millionths_(millionths) {}

  std::int64_t millionths_ = 0;
};

// Always with six places: "0.750000".
[[nodiscard]] inline std::string to_string(Score score) {
  return detail::write_decimal(false, static_cast<std::uint64_t>(score.millionths()),
                               Score::places);
}

}  // namespace wallock
