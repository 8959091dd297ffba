// Fuzzes the JSON perimeter: any bytes as one of the documents that decode_json reads.
//
// The first byte chooses the document, the rest is its text. Held against a second reader and a
// second telling of the contracts (reference_json.hpp, reference_contract.hpp), which share nothing
// with the library: nlohmann's own strict reading would be no second opinion, since the library
// reads through its lexer.
#include <memory>
#include <string>
#include <string_view>

#include "fuzz/reference_contract.hpp"
#include "fuzz/reference_json.hpp"
#include "fuzz/target.hpp"
#include "wallock/json.hpp"
#include "wallock/manual_clock.hpp"

namespace wallock::fuzz {
namespace {

// On a clock that stands still, so that no verdict depends on the machine.
const JsonLimits& limits() {
  static const JsonLimits value = [] {
    JsonLimits made;
    made.clock = std::make_shared<ManualClock>();
    return made;
  }();
  return value;
}

template <class T>
Result<T> decode(std::string_view document) {
#ifdef WALLOCK_FUZZ_PLANTED
  // The planted bug: a NUL is taken for the end of the text.
  document = document.substr(0, document.find('\0'));
#endif
  return decode_json<T>(document, limits());
}

// What an error may show of the document: a declared name, or a harmless one.
void check_refusal(const Error& error, const std::optional<ParsedJson>& parsed) {
  const std::string& field = error.facts().field;
  require(!field.empty() && field.size() <= 64, "a refusal names no member, or a long one");
  const bool harmless =
      field == "(not shown)" ||
      field.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == std::string::npos;
  require(harmless, "a refusal repeats bytes of the document");
  const bool no_json = error.code() == Errc::json_syntax || error.code() == Errc::json_invalid_utf8;
  require(!no_json || !parsed, "what is JSON was refused as no JSON");
}

// The value says what the document said, and nothing else.
void check_same(const Json& document, const std::string& written, const Contract& contract) {
  const auto again = parse_reference(written);
  require(again.has_value() && keeps(again->value, contract), "what was written is no document");
  for (const Member& member : contract.members) {
    require(canonical(document, member) == canonical(again->value, member),
            "a member was read as another value");
  }
}

template <class T>
void run(std::string_view document, const Contract& contract) {
  const auto parsed = parse_reference(document);
  const bool fits = document.size() <= limits().max_document && parsed &&
                    parsed->depth <= static_cast<int>(limits().max_depth);
  const auto value = decode<T>(document);
  if (!value) {
    require(!fits || !keeps(parsed->value, contract),
            "a document that keeps its contract is refused");
    return check_refusal(value.error(), parsed);
  }
  require(fits && keeps(parsed->value, contract), "a document outside its contract is accepted");
  const std::string written = encode_json(*value);
  const auto again = decode_json<T>(written, limits());
  require(again && *again == *value, "a value does not survive its own JSON");
  require(encode_json(*again) == written, "a value is written in two ways");
  check_same(parsed->value, written, contract);
}

}  // namespace
}  // namespace wallock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wallock;
  using namespace wallock::fuzz;
  if (size == 0) return 0;
  const std::string_view document = as_text({data + 1, size - 1});
  switch (data[0] % 6) {
    case 0:
      run<ActionRequest>(document, action_request_contract);
      break;
    case 1:
      run<ActionResult>(document, action_result_contract);
      break;
    case 2:
      run<AuditRecord>(document, audit_record_contract);
      break;
    case 3:
      run<Lease>(document, lease_contract);
      break;
    case 4:
      run<Delivery>(document, delivery_contract);
      break;
    default:
      run<TreeHead>(document, tree_head_contract);
      break;
  }
  return 0;
}
