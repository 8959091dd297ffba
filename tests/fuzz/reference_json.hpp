// A second JSON reader, to hold the library's against: RFC 8259 by its grammar, written for
// clarity.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wallock::fuzz {

// Shares nothing with the library or with the parser that it uses. Members keep their order and
// their doubles; numbers keep their text.
struct Json {
  enum class Kind { null, boolean, number, text, array, object };

  Json();
  Json(Json&&) noexcept;
  ~Json();

  Kind kind;
  std::string text;  // decoded, or the digits of a number
  std::vector<std::pair<std::string, Json>> members;
  std::vector<Json> elements;
};

struct ParsedJson {
  Json value;
  int depth = 0;  // of objects and arrays within each other
};

// Empty if the text is no JSON document in UTF-8, or one more than 200 deep. A lone surrogate in an
// escape counts as no JSON: no UTF-8 text can hold it.
[[nodiscard]] std::optional<ParsedJson> parse_reference(std::string_view document);

// Well-formed UTF-8 by decoding each character and looking at its number.
[[nodiscard]] bool is_utf8_reference(std::string_view text);

}  // namespace wallock::fuzz
