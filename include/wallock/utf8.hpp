// Checks on text that comes from outside: UTF-8 and control bytes.
#pragma once

#include <cstddef>
#include <string_view>

namespace wallock {

// True if a byte of `text` is a control byte: 0x00 to 0x1f, or 0x7f.
[[nodiscard]] constexpr bool has_control_byte(std::string_view text) noexcept {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return true;
  }
  return false;
}

// True if `text` holds a NUL, which SQL functions and C programs take for its end.
[[nodiscard]] constexpr bool has_nul(std::string_view text) noexcept {
  return text.find('\0') != std::string_view::npos;
}

namespace detail {

// Length of the well-formed UTF-8 sequence at the front of `text` (Unicode 15, table 3-7), or 0.
constexpr std::size_t utf8_sequence(std::string_view text) noexcept {
  const auto at = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
  };
  const auto tail = [&at](std::size_t i) { return at(i) >= 0x80 && at(i) <= 0xbf; };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return tail(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const unsigned char low = lead == 0xe0 ? 0xa0 : 0x80;
    const unsigned char high = lead == 0xed ? 0x9f : 0xbf;
    return at(1) >= low && at(1) <= high && tail(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const unsigned char low = lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xf4 ? 0x8f : 0xbf;
    return at(1) >= low && at(1) <= high && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace detail

// True if `text` is well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] constexpr bool is_valid_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = detail::utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace wallock
