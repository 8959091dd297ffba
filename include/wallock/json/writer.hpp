// JsonWriter: writes one flat JSON object; numbers that need more than 32 bits become strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "wallock/hex.hpp"
#include "wallock/time.hpp"
#include "wallock/utf8.hpp"

namespace wallock::detail {

// True if the text is written as it is: UTF-8 whose only control bytes have a two-character escape,
// so that it never takes more room than hex. Everything else is written in hex.
[[nodiscard]] inline bool is_plain_text(std::string_view bytes) noexcept {
  for (const char c : bytes) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') return false;
  }
  return is_valid_utf8(bytes);
}

// Members are written in the order of the calls. Texts must be UTF-8, as names are. Takes no
// limits: what it writes of a legal value passes the default ones.
class JsonWriter {
 public:
  void text(std::string_view field, std::string_view value) {
    key(field);
    quote(value);
  }

  // As `field` if the bytes are plain text, else as `field`_hex.
  void bytes(std::string_view field, std::string_view value) {
    if (is_plain_text(value)) return text(field, value);
    std::string hex;
    hex.reserve(value.size() * 2);
    for (const char c : value) {
      const auto byte = static_cast<std::uint8_t>(c);
      hex += encode_hex({&byte, 1});
    }
    text(std::string(field) + "_hex", hex);
  }

  void wide(std::string_view field, std::uint64_t value) { text(field, std::to_string(value)); }
  void instant(std::string_view field, Instant value) {
    text(field, std::to_string(value.time_since_epoch().count()));
  }
  void narrow(std::string_view field, std::uint32_t value) {
    key(field);
    out_ += std::to_string(value);
  }
  void boolean(std::string_view field, bool value) {
    key(field);
    out_ += value ? "true" : "false";
  }
  void object(std::string_view field, const std::string& value) {
    key(field);
    out_ += value;
  }

  [[nodiscard]] std::string finish() && {
    out_ += out_.empty() ? "{}" : "}";
    return std::move(out_);
  }

 private:
  void key(std::string_view field) {
    out_ += out_.empty() ? '{' : ',';
    quote(field);
    out_ += ':';
  }

  // RFC 8259 section 7: quotation mark, backslash and control characters are escaped.
  void quote(std::string_view value) {
    out_ += '"';
    for (const char c : value)
      escape(c);
    out_ += '"';
  }

  void escape(char c) {
    switch (c) {
      case '"':
        out_ += "\\\"";
        return;
      case '\\':
        out_ += "\\\\";
        return;
      case '\n':
        out_ += "\\n";
        return;
      case '\r':
        out_ += "\\r";
        return;
      case '\t':
        out_ += "\\t";
        return;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          const auto byte = static_cast<std::uint8_t>(c);
          out_ += "\\u00" + encode_hex({&byte, 1});
        } else {
          out_ += c;
        }
    }
  }

  std::string out_;
};

}  // namespace wallock::detail
