// The JSON contracts of the documents, told a second time: what a document must be to be accepted.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fuzz/reference_json.hpp"

namespace wallock::fuzz {

// What a member may hold.
enum class MemberKind {
  name,     // 1 to 255 bytes of text without control bytes
  payload,  // a text of any kind, up to the limit; or, as <name>_hex, bytes in lower-case hex
  actor,    // as payload, at most 255 bytes
  detail,   // as payload, at most 1024 bytes
  score,    // a decimal from 0 to 1 with at most 6 places
  amount,   // a decimal with at most 18 places and 63 bits of digits
  unsigned_64,
  unsigned_32,
  signed_64,
  token,   // 63 bits
  digest,  // 64 characters of lower-case hex
  state,   // a word
  record_kind,
};

struct Member {
  std::string_view name;
  MemberKind kind;
  bool required = true;
};

// The members of each document, and what they must be together.
struct Contract {
  std::span<const Member> members;
  bool is_lease = false;  // a token above 0, requested <= granted < expires
};

extern const Contract action_request_contract;
extern const Contract action_result_contract;
extern const Contract audit_record_contract;
extern const Contract lease_contract;
extern const Contract delivery_contract;
extern const Contract tree_head_contract;

// True if a document that is JSON keeps the contract, apart from the limits on size and depth.
[[nodiscard]] bool keeps(const Json& document, const Contract& contract);

// The member's value in one form for all the ways to write it: decimals without zeros that say
// nothing, bytes out of hex. The member keeps the contract.
[[nodiscard]] std::string canonical(const Json& document, const Member& member);

}  // namespace wallock::fuzz
