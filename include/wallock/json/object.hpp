// JsonObject: the members of a document that kept its contract, and the reading of each kind.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wallock/decimal.hpp"
#include "wallock/digest.hpp"
#include "wallock/hex.hpp"
#include "wallock/json/limits.hpp"
#include "wallock/json/meter.hpp"
#include "wallock/json/sax.hpp"
#include "wallock/result.hpp"
#include "wallock/score.hpp"
#include "wallock/time.hpp"
#include "wallock/token.hpp"
#include "wallock/utf8.hpp"

namespace wallock::detail {

// Each getter is empty for an absent member, and for one that is not of its kind; the first of the
// latter is kept as error(). So a contract reads all its members, asks error() once, and then
// relies on every required one.
class JsonObject {
 public:
  JsonObject(std::span<const JsonField> fields, std::vector<JsonValue> values)
      : fields_(fields), values_(std::move(values)) {}

  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }

  // The text itself, which may be moved out: a member is read once.
  std::optional<std::string> text(std::string_view field) {
    JsonValue& value = at(field);
    if (value.kind == JsonValue::Kind::text) return std::move(value.text);
    if (value.kind != JsonValue::Kind::absent) refuse(invalid(Errc::json_wrong_type, field));
    return std::nullopt;
  }

  // A text that T::parse takes.
  template <class T>
  std::optional<T> parsed(std::string_view field) {
    const auto value = text(field);
    return value ? accept(T::parse(*value), field) : std::nullopt;
  }

  // Exact decimals, as a text or as the digits of a JSON number.
  template <class T>
  std::optional<T> decimal(std::string_view field) {
    const auto digits = number_text(field);
    return digits ? accept(T::parse(*digits), field) : std::nullopt;
  }

  // A whole number of at most 64 bits, as digits in a text or as a JSON number.
  template <class Integer>
  std::optional<Integer> integer(std::string_view field) {
    const auto digits = number_text(field);
    if (!digits) return std::nullopt;
    const auto value = whole_number<Integer>(*digits);
    if (!value) refuse(invalid(not_whole(*digits), field));
    return value;
  }

  std::optional<FencingToken> token(std::string_view field) {
    const auto digits = number_text(field);
    if (!digits) return std::nullopt;
    const auto value = whole_number<std::uint64_t>(*digits);
    const auto token = value ? FencingToken::from_value(*value) : std::nullopt;
    if (!token) refuse(invalid(Errc::invalid_token, field));
    return token;
  }

  std::optional<Instant> instant(std::string_view field) {
    const auto count = integer<Duration::rep>(field);
    return count ? std::optional(Instant(Duration(*count))) : std::nullopt;
  }

  // One of the values whose to_string the text is.
  template <class Values>
  std::optional<typename Values::value_type> one_of(std::string_view field, const Values& values) {
    const auto name = text(field);
    if (!name) return std::nullopt;
    for (const auto& value : values) {
      if (to_string(value) == *name) return value;
    }
    refuse(invalid(Errc::json_wrong_type, field));
    return std::nullopt;
  }

  // Bytes given as `field`, a text, or as `field`_hex; both at once are refused.
  std::optional<std::string> bytes(std::string_view field, std::size_t most) {
    const std::string hex_field = std::string(field) + "_hex";
    auto plain = text(field);
    const auto hex = text(hex_field);
    if (plain && hex) refuse(invalid(Errc::json_duplicate_field, hex_field));
    if ((plain && plain->size() > most) || (hex && hex->size() / 2 > most)) {
      refuse(invalid(Errc::too_large, field, static_cast<std::int64_t>(most), Bound::at_most,
                     Unit::bytes));
      return std::nullopt;
    }
    return hex ? from_hex(*hex, hex_field) : plain;
  }

  // As above, for a contract in which one of the two must be there.
  std::optional<std::string> required_bytes(std::string_view field, std::size_t most) {
    auto value = bytes(field, most);
    if (!value) refuse(invalid(Errc::json_missing_field, field));
    return value;
  }

 private:
  [[nodiscard]] JsonValue& at(std::string_view field) {
    std::size_t i = 0;
    while (fields_[i].name != field)
      ++i;  // contracts ask only for what they declare
    return values_[i];
  }

  void refuse(Error error) {
    if (!error_) error_ = std::move(error);
  }

  // The value, or its error under the name that the field has in the document.
  template <class T>
  std::optional<T> accept(Result<T> value, std::string_view field) {
    if (value) return *std::move(value);
    const ErrorFacts& facts = value.error().facts();
    refuse(invalid(value.error().code(), field, facts.limit, facts.bound, facts.unit));
    return std::nullopt;
  }

  std::optional<std::string> number_text(std::string_view field) {
    JsonValue& value = at(field);
    if (value.kind == JsonValue::Kind::number) return std::move(value.text);
    return text(field);
  }

  // Digits as JSON writes them: no plus, no leading zero, no other base.
  template <class Integer>
  static std::optional<Integer> whole_number(std::string_view digits) {
    const std::string_view bare = digits.substr(digits.starts_with('-') ? 1 : 0);
    if (bare.empty() || (bare.size() > 1 && bare.front() == '0')) return std::nullopt;
    Integer value{};
    const char* const end = digits.data() + digits.size();
    const auto [last, code] = std::from_chars(digits.data(), end, value);
    if (code != std::errc() || last != end) return std::nullopt;
    return value;
  }

  static Errc not_whole(std::string_view digits) {
    return read_decimal(digits) && digits.find('.') != std::string_view::npos
               ? Errc::json_float
               : Errc::json_wrong_type;
  }

  std::optional<std::string> from_hex(std::string_view hex, std::string_view field) {
    std::vector<std::uint8_t> bytes(hex.size() / 2);
    if (!decode_hex(hex, bytes)) {
      refuse(invalid(Errc::json_wrong_type, field));
      return std::nullopt;
    }
    return std::string(bytes.begin(), bytes.end());
  }

  std::span<const JsonField> fields_;
  std::vector<JsonValue> values_;
  std::optional<Error> error_;
};

// The members of the document, or why it is none: json_too_large; validation_budget_exceeded;
// json_nul, json_syntax, json_invalid_utf8, json_too_deep for what is no such text; then the first
// offence against the contract.
[[nodiscard]] inline Result<JsonObject> read_json_object(std::string_view document,
                                                         std::span<const JsonField> fields,
                                                         const JsonLimits& limits,
                                                         JsonMeter& meter) {
  if (document.size() > limits.max_document) {
    return fail(invalid(Errc::json_too_large, "document",
                        static_cast<std::int64_t>(limits.max_document), Bound::at_most,
                        Unit::bytes));
  }
  // The parser takes a NUL for the end of the text, and passes over a byte order mark.
  if (document.find('\0') != std::string_view::npos) {
    return fail(invalid(Errc::json_nul, "document"));
  }
  if (document.starts_with("\xEF\xBB\xBF")) return fail(invalid(Errc::json_syntax, "document"));

  JsonObjectReader reader(fields, limits);
  const auto [first, last] = MeteredIterator::range(document, meter);
  const bool parsed = nlohmann::json::sax_parse(first, last, &reader);
  if (meter.is_spent()) return fail(invalid(Errc::validation_budget_exceeded, "document"));
  if (reader.stopped()) return fail(*reader.stopped());
  if (!parsed) {
    const Errc code = is_valid_utf8(document) ? Errc::json_syntax : Errc::json_invalid_utf8;
    return fail(invalid(code, "document"));
  }
  if (auto broken = reader.broken()) return fail(*std::move(broken));
  return JsonObject(fields, std::move(reader).take_values());
}

}  // namespace wallock::detail
