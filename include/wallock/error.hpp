// Error: a typed refusal or failure that says what was wrong and what to do next.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "wallock/print.hpp"
#include "wallock/time.hpp"
#include "wallock/token.hpp"

namespace wallock {

enum class InstanceId : std::uint64_t;  // wallock/lease.hpp

// What a caller can do about an error, in one word.
enum class ErrorClass : std::uint8_t {
  transient,      // the store is busy or failing: repeat the same operation
  deterministic,  // the request is wrong: fix it, repeating it cannot help
  business,       // the request is right and the answer is no: change course
  security,       // something was tampered with or an invariant broke: stop and look
};

// Stable codes: a number never changes its meaning. The hundreds give the class. docs/errors.md
// has a row for each.
enum class Errc : std::uint16_t {
  // transient
  busy = 100,
  io_error = 101,
  disk_full = 102,
  outcome_unknown = 103,
  store_unavailable = 104,
  validation_budget_exceeded = 105,
  out_of_memory = 106,
  no_thread = 107,
  // deterministic
  invalid_name = 200,
  invalid_duration = 201,
  invalid_option = 202,
  invalid_score = 203,
  invalid_decimal = 204,
  invalid_digest = 205,
  invalid_token = 206,
  invalid_evidence = 207,
  too_large = 208,
  batch_size = 209,
  duplicate_action = 210,
  json_syntax = 220,
  json_unknown_field = 221,
  json_duplicate_field = 222,
  json_missing_field = 223,
  json_wrong_type = 224,
  json_float = 225,
  json_too_deep = 226,
  json_too_large = 227,
  json_invalid_utf8 = 228,
  json_nul = 229,
  forked_handle = 240,
  unsupported_filesystem = 241,
  schema_too_new = 242,
  not_a_store = 243,
  work_forbidden = 244,
  setting_refused = 245,
  called_inside_work = 246,
  invalid_path = 247,
  foreign_key_refused = 248,
  // business
  lease_held = 300,
  already_held = 301,
  stale_token = 302,
  lease_expired = 303,
  lease_lost = 304,
  breaker_open = 306,
  breaker_not_open = 307,
  recovery_not_due = 308,
  probe_lost = 309,
  action_conflict = 310,
  batch_partly_recorded = 311,
  request_spent = 312,
  claim_lost = 313,
  work_failed = 314,
  cancelled = 315,
  // security
  breaker_illegal = 400,
  unknown_token = 401,
  ledger_damaged = 402,
  invariant_violated = 403,
  store_corrupt = 404,
  store_replaced = 405,
};

// What the library knows about a code: its name, what happened, what the caller does next.
struct ErrcInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view advice;
};

[[nodiscard]] constexpr ErrorClass error_class(Errc code) noexcept {
  switch (static_cast<std::uint16_t>(code) / 100) {
    case 1:
      return ErrorClass::transient;
    case 2:
      return ErrorClass::deterministic;
    case 3:
      return ErrorClass::business;
    default:
      return ErrorClass::security;
  }
}

[[nodiscard]] constexpr std::string_view to_string(ErrorClass value) noexcept {
  switch (value) {
    case ErrorClass::transient:
      return "transient";
    case ErrorClass::deterministic:
      return "deterministic";
    case ErrorClass::business:
      return "business";
    case ErrorClass::security:
      return "security";
  }
  return "security";
}

// Defined for every enumerator (error_codes.hpp holds the table).
[[nodiscard]] constexpr ErrcInfo describe(Errc code) noexcept;

[[nodiscard]] constexpr std::string_view to_string(Errc code) noexcept {
  return describe(code).name;
}

// Which side of a value ErrorFacts::limit is on, and what it counts.
enum class Bound : std::uint8_t {
  plain,     // as the code says
  at_least,  // the least value allowed
  at_most,   // the greatest value allowed
};
enum class Unit : std::uint8_t { none, bytes, nanoseconds };

// The safe facts of an error. Never payload bytes, SQL text, keys or stack traces: only names that
// the caller gave, tokens, bounds and result codes.
struct ErrorFacts {
  std::string field = {};                   // which argument, option or JSON field was wrong
  std::string found = {};                   // what is there and cannot be used: "directory"
  std::string action = {};                  // the action id concerned
  std::string resource = {};                // the resource concerned
  std::string holder = {};                  // who holds it
  std::optional<InstanceId> instance = {};  // and that holder's opening of the store
  std::optional<FencingToken> token = {};   // the token that was presented
  std::optional<FencingToken> fence = {};   // the highest token that may no longer write
  std::optional<Instant> retry_at = {};     // when it is worth asking again
  std::optional<std::int64_t> limit = {};   // the bound that was overstepped
  Bound bound = Bound::plain;
  Unit unit = Unit::none;
  // SQLite's extended result code or errno. For work_failed the number that the work returned, or
  // the extended result code of SQLite's exception that it let through.
  int native = 0;

  friend bool operator==(const ErrorFacts&, const ErrorFacts&) = default;
};

// Immutable. Comparable; to_string gives one line for a log.
class Error {
 public:
  explicit Error(Errc code) : code_(code) {}
  Error(Errc code, ErrorFacts facts) : code_(code), facts_(std::move(facts)) {}

  [[nodiscard]] Errc code() const noexcept { return code_; }
  [[nodiscard]] ErrorClass error_class() const noexcept { return wallock::error_class(code_); }
  [[nodiscard]] const ErrorFacts& facts() const noexcept { return facts_; }
  // What happened, in a few words.
  [[nodiscard]] std::string_view summary() const noexcept { return describe(code_).summary; }
  // What the caller does next.
  [[nodiscard]] std::string_view advice() const noexcept { return describe(code_).advice; }

  friend bool operator==(const Error&, const Error&) = default;

 private:
  Errc code_;
  ErrorFacts facts_;
};

// "lease_held (business): another holder has the lease [resource=a holder=b]; wait or ...". Shows
// the facts above and nothing else; retry_at is in milliseconds since boot, a limit is written with
// its side and unit: "at_least=1ms", "at_most=4096 bytes", "limit=64".
[[nodiscard]] inline std::string to_string(const Error& error);

// A deterministic error about one argument, option or field.
[[nodiscard]] inline Error invalid(Errc code, std::string_view field,
                                   std::optional<std::int64_t> limit = std::nullopt,
                                   Bound bound = Bound::plain, Unit unit = Unit::none) {
  return Error(
      code, ErrorFacts{.field = std::string(field), .limit = limit, .bound = bound, .unit = unit});
}

}  // namespace wallock

#include "wallock/error_codes.hpp"
