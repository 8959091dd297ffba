// FencingToken: one point on the store's single number line of grants.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "wallock/print.hpp"

namespace wallock {

// A fencing token is a 63-bit number: 20 bits of epoch above 43 bits of ledger position. Tokens of
// one store strictly increase and never repeat, over crashes, restored backups and pruned
// resources (docs/leases.md, "The number line"). Two tokens compare as their numbers do.
//
// Send value() along with every write to a downstream system and let that system refuse a number
// lower than the highest it has seen.
//
// Immutable, trivially copyable; every member may be called from any thread.
class FencingToken {
 public:
  static constexpr int epoch_bits = 20;
  static constexpr int position_bits = 43;
  static constexpr std::uint64_t max_epoch = (std::uint64_t{1} << epoch_bits) - 1;
  static constexpr std::uint64_t max_position = (std::uint64_t{1} << position_bits) - 1;

  // The token below all tokens; no grant ever carries it.
  constexpr FencingToken() noexcept = default;

  // Empty if either part is out of its bits.
  [[nodiscard]] static constexpr std::optional<FencingToken> of(std::uint64_t epoch,
                                                                std::uint64_t position) noexcept {
    if (epoch > max_epoch || position > max_position) return std::nullopt;
    return FencingToken((epoch << position_bits) | position);
  }

  // Reads a number written by value(). Empty if it does not fit 63 bits.
  [[nodiscard]] static constexpr std::optional<FencingToken> from_value(
      std::uint64_t value) noexcept {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return std::nullopt;
    }
    return FencingToken(value);
  }

  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }
  [[nodiscard]] constexpr std::uint64_t epoch() const noexcept { return value_ >> position_bits; }
  [[nodiscard]] constexpr std::uint64_t position() const noexcept { return value_ & max_position; }

  // False for the token below all tokens.
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return value_ != 0; }

  // The number just below this one: what a grant of this token raises the fence to.
  // The token below all tokens is its own predecessor.
  [[nodiscard]] constexpr FencingToken predecessor() const noexcept {
    return FencingToken(value_ == 0 ? 0 : value_ - 1);
  }

  friend constexpr auto operator<=>(FencingToken, FencingToken) noexcept = default;

 private:
  constexpr explicit FencingToken(std::uint64_t value) noexcept : value_(value) {}

  std::uint64_t value_ = 0;
};

// "epoch.position", for people; send value() to machines.
[[nodiscard]] inline std::string to_string(FencingToken token) {
  return std::to_string(token.epoch()) + "." + std::to_string(token.position());
}

}  // namespace wallock
