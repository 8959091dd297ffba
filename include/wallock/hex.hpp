// Lower-case hexadecimal (RFC 4648 section 8, lower case only) for digests and binary fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace wallock {

[[nodiscard]] inline std::string encode_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text.push_back(digits[byte >> 4]);
    text.push_back(digits[byte & 0x0f]);
  }
  return text;
}

namespace detail {

// The value of one lower-case hex character, or -1.
constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace detail

// Fills `out` from `hex`; false if `hex` is not exactly twice as long or has a character outside
// [a-f0-9]. `out` is then unspecified.
[[nodiscard]] constexpr bool decode_hex(std::string_view hex,
                                        std::span<std::uint8_t> out) noexcept {
  if (hex.size() != out.size() * 2) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = detail::hex_value(hex[2 * i]);
    const int low = detail::hex_value(hex[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

}  // namespace wallock
