#include "fuzz/reference_contract.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

namespace wallock::fuzz {
namespace {

using enum MemberKind;

constexpr Member request_members[] = {{"action_id", name},
                                      {"destination", name, false},
                                      {"payload", payload},
                                      {"security_score", score},
                                      {"amount", amount, false}};
constexpr Member result_members[] = {{"action_id", name},
                                     {"position", unsigned_64},
                                     {"token", token},
                                     {"digest", digest},
                                     {"state", state}};
constexpr Member record_members[] = {{"position", unsigned_64},
                                     {"recorded_at_us", signed_64},
                                     {"kind", record_kind},
                                     {"resource", name, false},
                                     {"action_id", name, false},
                                     {"token", token},
                                     {"state", state, false},
                                     {"subject", unsigned_64, false},
                                     {"until_ns", signed_64, false},
                                     {"security_score", score, false},
                                     {"digest", digest, false},
                                     {"actor", actor},
                                     {"detail", detail},
                                     {"leaf_hash", digest}};
constexpr Member lease_members[] = {{"resource", name},
                                    {"token", token},
                                    {"holder", name},
                                    {"instance", unsigned_64},
                                    {"requested_at_ns", signed_64},
                                    {"granted_at_ns", signed_64},
                                    {"expires_at_ns", signed_64}};
constexpr Member delivery_members[] = {{"action_id", name},    {"position", unsigned_64},
                                       {"resource", name},     {"destination", name},
                                       {"payload", payload},   {"attempt", unsigned_32},
                                       {"claim_token", token}, {"claim_expires_at_ns", signed_64}};
constexpr Member head_members[] = {{"size", unsigned_64}, {"root", digest}};

constexpr std::string_view states[] = {"INIT", "VALIDATED", "EXECUTING", "SEALED", "QUARANTINED"};
constexpr std::string_view record_kinds[] = {
    "genesis",          "epoch_raised",      "lease_granted",    "lease_renewed",
    "lease_released",   "lease_revoked",     "action_recorded",  "outcome_late",
    "timeout_reported", "timeouts_cleared",  "breaker_tripped",  "probe_granted",
    "probe_failed",     "breaker_recovered", "forced_open",      "forced_cleared",
    "delivery_claimed", "delivery_sealed",   "delivery_retried", "delivery_dead"};

bool is_bytes(MemberKind kind) { return kind == payload || kind == actor || kind == detail; }

std::size_t limit_of(MemberKind kind) {
  return kind == actor ? 255 : kind == detail ? 1024 : std::size_t{256} * 1024;
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 255 &&
         std::ranges::none_of(text, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
}

// Digits with at most one point between them; no leading zero, no exponent.
struct Digits {
  bool negative = false;
  std::string whole;
  std::string fraction;
};

std::optional<Digits> digits_of(std::string_view text) {
  Digits out;
  if (text.starts_with('-')) {
    out.negative = true;
    text.remove_prefix(1);
  }
  const auto point = text.find('.');
  out.whole = text.substr(0, point);
  if (point != std::string_view::npos) out.fraction = text.substr(point + 1);
  const auto all_digits = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!all_digits(out.whole) || (out.whole.size() > 1 && out.whole[0] == '0')) return std::nullopt;
  if (point != std::string_view::npos && !all_digits(out.fraction)) return std::nullopt;
  return out;
}

// True if the digits, as a number, are at most `most`: compared as texts.
bool is_at_most(std::string digits, std::string_view most) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  return digits.size() < most.size() || (digits.size() == most.size() && digits <= most);
}

constexpr std::string_view most_63 = "9223372036854775807";

bool is_decimal(std::string_view text, bool is_score) {
  const auto digits = digits_of(text);
  if (!digits || !is_at_most(digits->whole + digits->fraction, most_63)) return false;
  if (!is_score) return digits->fraction.size() <= 18;
  const bool zero = (digits->whole + digits->fraction).find_first_not_of('0') == std::string::npos;
  std::string millionths = digits->whole + digits->fraction;
  if (digits->fraction.size() > 6) return false;
  millionths.append(6 - digits->fraction.size(), '0');
  return (!digits->negative || zero) && is_at_most(millionths, "1000000");
}

// A JSON number -0 is 0; as a text it is no number without a sign.
bool is_whole(const Json& value, MemberKind kind) {
  const auto digits = digits_of(value.text);
  if (!digits || value.text.find('.') != std::string::npos) return false;
  const bool zero = digits->whole == "0";
  if (kind == signed_64) {
    return is_at_most(digits->whole, digits->negative ? "9223372036854775808" : most_63);
  }
  if (digits->negative && (!zero || value.kind == Json::Kind::text)) return false;
  return is_at_most(digits->whole, kind == token         ? most_63
                                   : kind == unsigned_32 ? "4294967295"
                                                         : "18446744073709551615");
}

bool is_legal(const Json& value, MemberKind kind) {
  const bool is_text = value.kind == Json::Kind::text;
  if (!is_text && value.kind != Json::Kind::number) return false;
  if (value.text.find('\0') != std::string::npos) return false;
  switch (kind) {
    case name:
      return is_text && is_name(value.text);
    case payload:
    case actor:
    case detail:
      return is_text && value.text.size() <= limit_of(kind);
    case score:
    case amount:
      return is_decimal(value.text, kind == score);
    case unsigned_64:
    case unsigned_32:
    case signed_64:
    case token:
      return is_whole(value, kind);
    case digest:
      return is_text && value.text.size() == 64 && is_hex(value.text);
    case state:
      return is_text && is_one_of(value.text, states);
    case record_kind:
      return is_text && is_one_of(value.text, record_kinds);
  }
  return false;
}

bool is_legal_hex(const Json& value, MemberKind kind) {
  return value.kind == Json::Kind::text && value.text.size() % 2 == 0 && is_hex(value.text) &&
         value.text.size() / 2 <= limit_of(kind);
}

const Json* find(const Json& document, std::string_view wanted) {
  for (const auto& [own_name, value] : document.members)
    if (own_name == wanted) return &value;
  return nullptr;
}

std::string hex_name(const Member& member) { return std::string(member.name) + "_hex"; }

bool keeps(const Json& document, const Member& member) {
  const Json* const plain = find(document, member.name);
  const Json* const hex = is_bytes(member.kind) ? find(document, hex_name(member)) : nullptr;
  if (plain == nullptr && hex == nullptr) return !member.required;
  if (plain != nullptr && hex != nullptr) return false;
  return hex != nullptr ? is_legal_hex(*hex, member.kind) : is_legal(*plain, member.kind);
}

bool is_declared(std::string_view wanted, const Contract& contract) {
  return std::ranges::any_of(contract.members, [&](const Member& member) {
    return wanted == member.name || (is_bytes(member.kind) && wanted == hex_name(member));
  });
}

// Both fit 64 bits and have no leading zeros.
bool is_less(const Json& a, const Json& b) {
  const auto x = digits_of(a.text).value_or(Digits{});
  const auto y = digits_of(b.text).value_or(Digits{});
  const bool x_negative = x.negative && x.whole != "0";
  const bool y_negative = y.negative && y.whole != "0";
  if (x_negative != y_negative) return x_negative;
  const auto shorter = [](const std::string& s, const std::string& t) {
    return s.size() != t.size() ? s.size() < t.size() : s < t;
  };
  return x_negative ? shorter(y.whole, x.whole) : shorter(x.whole, y.whole);
}

bool is_lease_in_order(const Json& document) {
  const Json& requested = *find(document, "requested_at_ns");
  const Json& granted = *find(document, "granted_at_ns");
  const Json& expires = *find(document, "expires_at_ns");
  const std::string& digits = find(document, "token")->text;
  return digits != "0" && digits != "-0" && !is_less(granted, requested) &&
         is_less(granted, expires);
}

std::string without_empty_zeros(std::string_view text) {
  const auto digits = digits_of(text).value_or(Digits{});
  std::string fraction = digits.fraction;
  while (fraction.ends_with('0'))
    fraction.pop_back();
  const bool zero = digits.whole == "0" && fraction.empty();
  return (digits.negative && !zero ? "-" : "") + digits.whole +
         (fraction.empty() ? "" : "." + fraction);
}

std::string unhex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    out += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return out;
}

}  // namespace

const Contract action_request_contract{request_members};
const Contract action_result_contract{result_members};
const Contract audit_record_contract{record_members};
const Contract lease_contract{lease_members, true};
const Contract delivery_contract{delivery_members};
const Contract tree_head_contract{head_members};

bool keeps(const Json& document, const Contract& contract) {
  if (document.kind != Json::Kind::object) return false;
  std::map<std::string, int> seen;
  for (const auto& [own_name, value] : document.members)
    if (++seen[own_name] > 1 || !is_declared(own_name, contract)) return false;
  for (const Member& member : contract.members)
    if (!keeps(document, member)) return false;
  return !contract.is_lease || is_lease_in_order(document);
}

std::string canonical(const Json& document, const Member& member) {
  const Json* const plain = find(document, member.name);
  if (is_bytes(member.kind) && plain == nullptr) {
    const Json* const hex = find(document, hex_name(member));
    return hex == nullptr ? "(absent)" : "=" + unhex(hex->text);
  }
  if (plain == nullptr) return "(absent)";
  switch (member.kind) {
    case score:
    case amount:
    case unsigned_64:
    case unsigned_32:
    case signed_64:
    case token:
      return "=" + without_empty_zeros(plain->text);
    default:
      return "=" + plain->text;
  }
}

}  // namespace wallock::fuzz
