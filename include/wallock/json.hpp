// Opt-in: the strict JSON forms of wallock's values. Header-only; needs nlohmann/json 3.11 or
// later.
#pragma once

#include <concepts>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "wallock/json/contracts.hpp"
#include "wallock/json/ledger_contracts.hpp"
#include "wallock/json/limits.hpp"
#include "wallock/json/meter.hpp"
#include "wallock/json/object.hpp"
#include "wallock/json/writer.hpp"
#include "wallock/result.hpp"

namespace wallock {

// The types that have a JSON form: ActionRequest, ActionResult, AuditRecord, Lease, Delivery,
// TreeHead, and BreakerStatus, which is only written.
template <class T>
concept JsonEncodable = requires(detail::JsonWriter& out, const T& value) {
  detail::JsonContract<T>::write(out, value);
};
template <class T>
concept JsonDecodable = requires(detail::JsonObject& in, const JsonLimits& limits) {
  { detail::JsonContract<T>::read(in, limits) } -> std::same_as<Result<T>>;
};

// Writes the value as one flat JSON object in UTF-8 without white space.
//
//   tokens, positions, times        digits in a string: many readers lose integers over 2^53
//   scores, amounts                 plain decimals in a string: "0.750000", "-12.5"
//   digests                         64 characters of [a-f0-9]
//   payloads, actors, details       as a text where they are one, otherwise in hex as payload_hex,
//                                   actor_hex, detail_hex
//   *_ns, *_us                      nanoseconds since boot, microseconds since 1970
//
// An empty optional is left out. Safe from any thread.
template <JsonEncodable T>
[[nodiscard]] std::string encode_json(const T& value) {
  detail::JsonWriter out;
  detail::JsonContract<T>::write(out, value);
  return std::move(out).finish();
}

// Reads what encode_json wrote, or a document of the same contract from elsewhere: whole numbers
// and decimals may also be JSON numbers, which are read from their own digits. Never looks at a
// floating-point value (INV-07), never recurses, and either gives a value that keeps every bound
// of its type or says what is wrong (INV-02), naming the member in facts().field:
//
//   json_syntax, json_invalid_utf8, json_too_deep, json_too_large   it is no JSON document (RFC
//       8259) within the limits; said before anything about members
//   json_unknown_field, json_duplicate_field, json_missing_field, json_wrong_type   members are
//       compared as decoded: "a" and "\u0061" are the same; null is no value
//   json_float       an exponent, or a fraction where a whole number is meant
//   json_nul         a NUL byte, or \u0000 in a text
//   too_large        a payload over max_payload
//   invalid_name, invalid_score, invalid_decimal, invalid_digest, invalid_token, invalid_duration
//   invalid_option, invalid_duration for limits out of bounds ("json.budget")
//   validation_budget_exceeded, out_of_memory (transient); all others are deterministic
//
// Safe from any thread.
template <JsonDecodable T>
[[nodiscard]] Result<T> decode_json(std::string_view document, const JsonLimits& limits = {}) try {
  if (auto ok = check(limits); !ok) return fail(ok.error());
  detail::JsonMeter meter(limits);
  auto object = detail::read_json_object(document, detail::JsonContract<T>::fields, limits, meter);
  if (!object) return fail(object.error());
  Result<T> value = detail::JsonContract<T>::read(*object, limits);
  if (meter.is_spent()) return fail(invalid(Errc::validation_budget_exceeded, "document"));
  return value;
} catch (const std::bad_alloc&) {
  return fail(Errc::out_of_memory);
}

}  // namespace wallock
