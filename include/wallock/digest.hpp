// Digest: a SHA-256 value; 32 bytes inside, 64 lower-case hex characters at every surface.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "wallock/hex.hpp"
#include "wallock/print.hpp"
#include "wallock/result.hpp"

namespace wallock {

// Immutable value; compared byte by byte. The arithmetic that makes one is in wallock/ledger.
class Digest {
 public:
  static constexpr std::size_t size = 32;
  using Bytes = std::array<std::uint8_t, size>;

  // All zero; the digest of nothing in particular.
  constexpr Digest() noexcept = default;
  constexpr explicit Digest(const Bytes& bytes) noexcept : bytes_(bytes) {}

  // invalid_digest (deterministic), naming `field`, unless `hex` is exactly 64 characters of
  // [a-f0-9].
  [[nodiscard]] static Result<Digest> parse(std::string_view hex,
                                            std::string_view field = "digest") {
    Bytes bytes{};
    if (!decode_hex(hex, bytes)) {
      return fail(invalid(Errc::invalid_digest, field, 2 * size));
    }
    return Digest(bytes);
  }

  [[nodiscard]] constexpr const Bytes& bytes() const noexcept { return bytes_; }

  friend bool operator==(const Digest&, const Digest&) noexcept = default;
  friend std::strong_ordering operator<=>(const Digest& a, const Digest& b) noexcept {
    if (a == b) return std::strong_ordering::equal;
    return a.bytes_ < b.bytes_ ? std::strong_ordering::less : std::strong_ordering::greater;
  }

 private:
  Bytes bytes_{};
};

[[nodiscard]] inline std::string to_string(const Digest& digest) {
  return encode_hex(digest.bytes());
}

}  // namespace wallock
