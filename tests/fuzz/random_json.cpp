#include "fuzz/random_json.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace wallock::fuzz {
namespace {

using enum MemberKind;
using Words = std::span<const std::string_view>;

// As they stand between quotes.
constexpr std::string_view names[] = {"a",       "pay-17",   "account/1",
                                      "\\u0061", "\xc3\xa9", "\\ud83d\\udd12",
                                      " ",       "\\/",      "\xf0\x9f\x94\x92"};
constexpr std::string_view texts[] = {"",        "x",        "{\\\"sum\\\":1}", "\\r\\n\\t",
                                      "\\u001f", "\xc2\x80", "\\ud83d\\udd12",  "\xef\xbb\xbf"};
constexpr std::string_view hex_texts[] = {"", "00", "00ff", "0123456789abcdef"};
constexpr std::string_view digests[] = {
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"};
constexpr std::string_view states[] = {"INIT", "SEALED", "QUARANTINED"};
constexpr std::string_view kinds[] = {"genesis", "lease_granted", "action_recorded",
                                      "delivery_dead"};
// As a number or between quotes.
constexpr std::string_view scores[] = {"0", "1", "0.5", "0.750000", "1.000000", "0.000001"};
constexpr std::string_view amounts[] = {
    "0", "12", "-12.5", "0.000000000000000001", "9223372036854775807", "-9.223372036854775807"};
constexpr std::string_view small_numbers[] = {"0", "1", "42", "4294967295"};
constexpr std::string_view tokens[] = {"0", "1", "8796093022209", "9223372036854775807"};
constexpr std::string_view large_numbers[] = {"0", "7", "9007199254740993", "18446744073709551615"};
// From the least to the greatest.
constexpr std::string_view times[] = {"-9223372036854775808", "-1", "0", "1", "1700000000000000000",
                                      "9223372036854775807"};

class Writer {
 public:
  Writer(const Contract& contract, std::mt19937_64& engine)
      : engine_(engine), is_lease_(contract.is_lease) {
    for (const Member& member : contract.members)
      if (member.required || engine_() % 2 == 0) add(member);
  }

  [[nodiscard]] std::string document() {
    const auto first = static_cast<std::ptrdiff_t>(below(members_.size()));
    std::rotate(members_.begin(), members_.begin() + first, members_.end());
    std::string document = "{";
    for (const std::string& member : members_) {
      if (document.size() > 1) document += ',';
      document += member;
    }
    return document + "}";
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
  std::string_view one_of(Words words) { return words[below(words.size())]; }

  static std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }
  std::string number(Words words) {
    const std::string_view digits = one_of(words);
    return below(2) == 0 ? quoted(digits) : std::string(digits);
  }
  // Those of a lease follow each other.
  std::string time() {
    if (!is_lease_) return number(times);
    const std::size_t at = next_time_ + below(2);
    next_time_ = at + 1;
    return quoted(times[at]);
  }

  void add(const Member& member) {
    const bool is_hex =
        (member.kind == payload || member.kind == actor || member.kind == detail) && below(2) == 0;
    const std::string own_name = std::string(member.name) + (is_hex ? "_hex" : "");
    members_.push_back(quoted(own_name) + ":" +
                       (is_hex ? quoted(one_of(hex_texts)) : value(member.kind)));
  }

  std::string value(MemberKind kind) {
    switch (kind) {
      case name:
        return quoted(one_of(names));
      case payload:
      case actor:
      case detail:
        return quoted(one_of(texts));
      case score:
        return number(scores);
      case amount:
        return number(amounts);
      case unsigned_64:
        return number(large_numbers);
      case unsigned_32:
        return number(small_numbers);
      case signed_64:
        return time();
      case token:
        return number(tokens);
      case digest:
        return quoted(one_of(digests));
      case state:
        return quoted(one_of(states));
      case record_kind:
        return quoted(one_of(kinds));
    }
    return "null";
  }

  std::mt19937_64& engine_;
  const bool is_lease_;
  std::size_t next_time_ = 0;
  std::vector<std::string> members_;
};

}  // namespace

std::string random_json(const Contract& contract, std::mt19937_64& engine) {
  return Writer(contract, engine).document();
}

}  // namespace wallock::fuzz
