// UTF-8 as Unicode's table 3-7 has it.
#include "wallock/utf8.hpp"

#include <array>
#include <cstdint>
#include <string>

#include "catch.hpp"
#include "unit/values_support.hpp"

using wallock::has_control_byte;
using wallock::is_valid_utf8;

namespace {

// Encodes any number below 2^21, legal or not.
std::string encode(std::uint32_t code) {
  const auto tail = [code](int shift) {
    return static_cast<char>(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | (code >> 6)), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | (code >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

}  // namespace

TEST_CASE("every code point but the surrogates is valid UTF-8, and none above U+10FFFF") {
  std::uint32_t wrong = 0;
  for (std::uint32_t code = 0; code < 0x200000; ++code) {
    const bool legal = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    if (is_valid_utf8(encode(code)) != legal) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("malformed UTF-8 is refused wherever it stands") {
  const std::array malformed{
      "\x80",              // a tail alone
      "\xC2",              // cut short
      "\xE2\x82",          //
      "\xF0\x9F\x94",      //
      "\xC0\x80",          // overlong NUL
      "\xC1\xBF",          // overlong
      "\xE0\x9F\xBF",      //
      "\xF0\x8F\xBF\xBF",  //
      "\xC2\x41",          // no tail
      "\xE2\x41\x80",      //
      "\xE2\x82\x41",      //
      "\xF0\x9F\x94\x41",  //
      "\xF5\x80\x80\x80",  // no such lead
      "\xFE",
      "\xFF",
  };
  for (const std::string text : malformed) {
    CAPTURE(text);
    CHECK_FALSE(is_valid_utf8(text));
    CHECK_FALSE(is_valid_utf8("ok" + text));
    CHECK_FALSE(is_valid_utf8(text + "ok"));
  }
  CHECK(is_valid_utf8(""));
}

TEST_CASE("control bytes are 0x00 to 0x1f and 0x7f") {
  for (int byte = 0; byte < 256; ++byte) {
    CAPTURE(byte);
    const std::string text = "ab" + std::string(1, static_cast<char>(byte));
    CHECK(has_control_byte(text) == (byte < 0x20 || byte == 0x7f));
  }
  CHECK_FALSE(has_control_byte(""));
}
