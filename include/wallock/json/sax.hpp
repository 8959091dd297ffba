// JsonObjectReader: takes one flat JSON object apart, strictly, through nlohmann's SAX interface.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wallock/json/limits.hpp"
#include "wallock/result.hpp"

namespace wallock::detail {

// A declared member of a contract. An optional one may be absent; null is never a value.
struct JsonField {
  std::string_view name;
  bool required = true;
};

// A member as read. A number is kept as its own text: no floating-point value is ever looked at.
struct JsonValue {
  enum class Kind : std::uint8_t { absent, text, number };
  Kind kind = Kind::absent;
  std::string text = {};
};

// The name of an undeclared field as an error may show it: it comes from outside, so only a short
// one of harmless characters is repeated.
[[nodiscard]] inline std::string shown_field(std::string_view name) {
  constexpr std::size_t most = 64;
  constexpr std::string_view harmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  const bool plain = !name.empty() && name.size() <= most &&
                     name.find_first_not_of(harmless) == std::string_view::npos;
  return plain ? std::string(name) : "(not shown)";
}

// Receives the parser's events. A document that is too deep ends the reading at once; what breaks
// the contract is remembered, the first of it, and the reading goes on: a text that is no JSON
// document at all is reported as that, whatever fields stand in front of the fault.
class JsonObjectReader {
 public:
  using Json = nlohmann::json;

  JsonObjectReader(std::span<const JsonField> fields, const JsonLimits& limits)
      : fields_(fields), values_(fields.size()), limits_(limits) {}

  bool null() { return refuse_value(); }
  bool boolean(bool) { return refuse_value(); }  // no contract has one
  bool number_integer(Json::number_integer_t value) {
    return take(JsonValue::Kind::number, std::to_string(value));
  }
  bool number_unsigned(Json::number_unsigned_t value) {
    return take(JsonValue::Kind::number, std::to_string(value));
  }
  // Also called for integers of more than 64 bits. Some versions of the parser write the point as
  // the process's locale does; the grammar is checked already, so any other byte is the point.
  bool number_float(Json::number_float_t, const std::string& digits) {
    std::string text = digits;
    for (char& c : text) {
      if (std::string_view("0123456789+-eE").find(c) == std::string_view::npos) c = '.';
    }
    if (text.find_first_of("eE") != std::string::npos) return refuse(Errc::json_float);
    return take(JsonValue::Kind::number, std::move(text));
  }
  bool string(std::string& value) {
    if (value.find('\0') != std::string::npos) return refuse(Errc::json_nul);
    return take(JsonValue::Kind::text, std::move(value));
  }
  bool binary(Json::binary_t&) { return refuse_value(); }

  bool start_object(std::size_t) {
    if (depth_ == 0) is_object_ = true;
    return enter();
  }
  bool start_array(std::size_t) { return enter(); }
  bool end_object() { return leave(); }
  bool end_array() { return leave(); }

  bool key(std::string& name) {
    if (depth_ != 1) return true;
    current_ = index_of(name);
    if (current_ == none) return refuse(Errc::json_unknown_field, shown_field(name));
    if (seen(current_)) {
      refuse(Errc::json_duplicate_field);
      current_ = none;
      return true;
    }
    keys_.push_back(current_);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const Json::exception& error) {
    constexpr int number_overflow = 406;  // a number such as 1e999
    if (error.id == number_overflow) {
      refuse(Errc::json_float);
      stopped_ = broken_;
    }
    return false;
  }

  // What ended the reading other than a syntax error.
  [[nodiscard]] const std::optional<Error>& stopped() const noexcept { return stopped_; }
  // The first offence against the contract, missing fields last.
  [[nodiscard]] std::optional<Error> broken() const {
    if (broken_) return broken_;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (fields_[i].required && !seen(i)) {
        return invalid(Errc::json_missing_field, fields_[i].name);
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::vector<JsonValue> take_values() && { return std::move(values_); }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  [[nodiscard]] std::size_t index_of(std::string_view name) const {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (fields_[i].name == name) return i;
    }
    return none;
  }
  [[nodiscard]] bool seen(std::size_t index) const {
    return std::find(keys_.begin(), keys_.end(), index) != keys_.end();
  }

  bool refuse(Errc code, std::string field) {
    if (!broken_) broken_ = invalid(code, field);
    return true;
  }
  bool refuse(Errc code) {
    if (depth_ == 0 || !is_object_) return refuse(Errc::json_wrong_type, "document");
    // Below the members, or behind an undeclared one, something else is refused already.
    if (current_ == none) return true;
    return refuse(code, std::string(fields_[current_].name));
  }
  bool refuse_value() { return refuse(Errc::json_wrong_type); }

  bool take(JsonValue::Kind kind, std::string text) {
    if (depth_ != 1 || !is_object_) return refuse_value();
    if (current_ != none) values_[current_] = {kind, std::move(text)};
    return true;
  }
  bool enter() {
    if (depth_ > 0 || !is_object_) refuse_value();
    if (++depth_ > limits_.max_depth) {
      stopped_ = invalid(Errc::json_too_deep, "document",
                         static_cast<std::int64_t>(limits_.max_depth), Bound::at_most);
      return false;
    }
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }

  std::span<const JsonField> fields_;
  std::vector<JsonValue> values_;
  const JsonLimits& limits_;
  std::vector<std::size_t> keys_;
  std::size_t current_ = none;
  std::size_t depth_ = 0;
  bool is_object_ = false;
  std::optional<Error> broken_;
  std::optional<Error> stopped_;
};

}  // namespace wallock::detail
