// What the JSON perimeter refuses: one rule after the other, with the field that is named.
#include <string>
#include <vector>

#include "catch.hpp"
#include "perimeter/json_support.hpp"

using namespace wallock;
using wallock::test::bytes;
using wallock::test::code_of;
using wallock::test::field_of;
using wallock::test::frozen_limits;

namespace {

struct Case {
  std::string document;
  Errc code;
  std::string field;
};

template <class T>
void check_refusals(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    CAPTURE(c.document);
    const auto value = decode_json<T>(c.document, frozen_limits());
    CHECK(code_of(value) == c.code);
    CHECK(field_of(value) == c.field);
  }
}

const std::string request = R"({"action_id":"a","payload":"p","security_score":"0.5"})";
const std::string digest_a(64, 'a');
const std::string result = R"({"action_id":"a","position":"7","token":"9","digest":")" + digest_a +
                           R"(","state":"SEALED"})";
const std::string lease =
    R"({"resource":"r","token":"9","holder":"h","instance":"3","requested_at_ns":"1",)"
    R"("granted_at_ns":"2","expires_at_ns":"30"})";
const std::string record =
    R"({"position":"7","recorded_at_us":"-5","kind":"lease_granted","token":"0","actor":"h",)"
    R"("detail":"","leaf_hash":")" +
    digest_a + R"("})";

std::string changed(std::string document, const std::string& from, const std::string& to) {
  const std::size_t at = document.find(from);
  REQUIRE(at != std::string::npos);
  return document.replace(at, from.size(), to);
}

// A request whose member security_score, amount or payload is the text given.
std::string scored(const std::string& value) { return changed(request, R"("0.5")", value); }
std::string with_amount(const std::string& value) {
  return changed(request, R"("payload")", R"("amount":)" + value + R"(,"payload")");
}
std::string with_payload(const std::string& member) {
  return changed(request, R"("payload":"p")", member);
}

}  // namespace

TEST_CASE("the documents that the refusals are made from are accepted") {
  CHECK(code_of(decode_json<ActionRequest>(request, frozen_limits())) == test::no_error);
  CHECK(code_of(decode_json<ActionResult>(result, frozen_limits())) == test::no_error);
  CHECK(code_of(decode_json<Lease>(lease, frozen_limits())) == test::no_error);
  CHECK(code_of(decode_json<AuditRecord>(record, frozen_limits())) == test::no_error);
}

TEST_CASE(
    "INV-02 a JSON document with an undeclared, duplicate, missing or mistyped field is refused") {
  const Errc unknown = Errc::json_unknown_field;
  const Errc duplicate = Errc::json_duplicate_field;
  const Errc missing = Errc::json_missing_field;
  const Errc mistyped = Errc::json_wrong_type;
  check_refusals<ActionRequest>({
      {changed(request, "{", R"({"extra":1,)"), unknown, "extra"},
      {changed(request, "{", R"({"Action_id":"a",)"), unknown, "Action_id"},
      {changed(request, "{", R"({"action_id ":"a",)"), unknown, "(not shown)"},
      {changed(request, "{", R"({"":"a",)"), unknown, "(not shown)"},
      {changed(request, "{", R"({"a\u0000":"a",)"), unknown, "(not shown)"},
      {changed(request, "{", R"({"e\nvil":{"deep":[1]},)"), unknown, "(not shown)"},
      {changed(request, "{", R"({")" + std::string(65, 'x') + R"(":1,)"), unknown, "(not shown)"},
      {changed(request, "{", R"({"action_id":"a",)"), duplicate, "action_id"},
      {changed(request, "{", R"({"\u0061ction_id":"b",)"), duplicate, "action_id"},
      {changed(request, "{", R"({"action_\u0069\u0064":"b",)"), duplicate, "action_id"},
      {with_payload(R"("payload":"p","payload_hex":"70")"), duplicate, "payload_hex"},
      {with_payload(R"("payload":"p","payload":null)"), duplicate, "payload"},
      {"{}", missing, "action_id"},
      {R"({"action_id":"a","payload":"p"})", missing, "security_score"},
      {R"({"action_id":"a","security_score":"0"})", missing, "payload"},
      {changed(request, R"("a")", "null"), mistyped, "action_id"},
      {changed(request, R"("a")", "7"), mistyped, "action_id"},
      {changed(request, R"("a")", "true"), mistyped, "action_id"},
      {changed(request, R"("a")", R"(["a"])"), mistyped, "action_id"},
      {changed(request, R"("a")", R"({"a":1})"), mistyped, "action_id"},
      {scored("null"), mistyped, "security_score"},
      {scored("false"), mistyped, "security_score"},
      {scored("[0.5]"), mistyped, "security_score"},
      {with_amount("null"), mistyped, "amount"},
      {with_payload(R"("payload":null)"), mistyped, "payload"},
      {with_payload(R"("payload":{})"), mistyped, "payload"},
      {with_payload(R"("payload_hex":"7")"), mistyped, "payload_hex"},
      {with_payload(R"("payload_hex":"FF")"), mistyped, "payload_hex"},
      {with_payload(R"("payload_hex":"0x00")"), mistyped, "payload_hex"},
      {"[" + request + "]", mistyped, "document"},
      {"[]", mistyped, "document"},
      {"null", mistyped, "document"},
      {"7", mistyped, "document"},
      {"0.5", mistyped, "document"},
      {"true", mistyped, "document"},
      {R"("text")", mistyped, "document"},
  });
}

TEST_CASE("INV-02 each required field of each contract is missed when it is not there") {
  const auto check = [](auto type, const std::string& document, const std::string& member) {
    CAPTURE(member);
    const std::size_t begin = document.find("\"" + member + "\"");
    REQUIRE(begin != std::string::npos);
    std::size_t end = document.find(",\"", begin);
    std::string without = document;
    if (end == std::string::npos) {
      without.erase(begin - 1, document.size() - begin);  // the last one, with the comma before it
    } else {
      without.erase(begin, end + 1 - begin);
    }
    const auto value = decode_json<typename decltype(type)::type>(without, frozen_limits());
    CHECK(code_of(value) == Errc::json_missing_field);
    CHECK(field_of(value) == member);
  };
  for (const char* field : {"action_id", "payload", "security_score"})
    check(std::type_identity<ActionRequest>(), request, field);
  for (const char* field : {"action_id", "position", "token", "digest", "state"})
    check(std::type_identity<ActionResult>(), result, field);
  for (const char* field : {"resource", "token", "holder", "instance", "requested_at_ns",
                            "granted_at_ns", "expires_at_ns"})
    check(std::type_identity<Lease>(), lease, field);
  for (const char* field :
       {"position", "recorded_at_us", "kind", "token", "actor", "detail", "leaf_hash"})
    check(std::type_identity<AuditRecord>(), record, field);
}

TEST_CASE("INV-03 a JSON document with a score outside zero to one is refused") {
  std::vector<Case> cases;
  for (const char* value :
       {"1.000001", "-0.000001", "2", "-1", "0.0000001", "18446744073709551617", R"("1.1")",
        R"("-0.1")", R"("")", R"(".5")", R"("1.")", R"("5e-1")", R"(" 0.5")", R"("NaN")"})
    cases.push_back({scored(value), Errc::invalid_score, "security_score"});
  check_refusals<ActionRequest>(cases);
}

TEST_CASE("INV-07 exponents are refused, and plain decimals are read digit by digit") {
  check_refusals<ActionRequest>({
      {scored("1e0"), Errc::json_float, "security_score"},
      {scored("5E-1"), Errc::json_float, "security_score"},
      {scored("0.5e0"), Errc::json_float, "security_score"},
      {scored("1e999"), Errc::json_float, "security_score"},
      {scored("-1e999"), Errc::json_float, "security_score"},
      {scored("1e-999"), Errc::json_float, "security_score"},
      {with_amount("1e3"), Errc::json_float, "amount"},
      {with_amount("9223372036854775808"), Errc::invalid_decimal, "amount"},
      {with_amount("-9223372036854775808"), Errc::invalid_decimal, "amount"},
      {with_amount("99999999999999999999999999"), Errc::invalid_decimal, "amount"},
      {with_amount("0.0000000000000000001"), Errc::invalid_decimal, "amount"},
      {with_amount(R"("1e3")"), Errc::invalid_decimal, "amount"},
      {with_amount(R"("")"), Errc::invalid_decimal, "amount"},
  });
  struct Exact {
    const char *text, *amount;
  };
  // 2^53 + 1 and 0.1 are not doubles: whoever goes through one gets another number.
  for (const Exact& c :
       {Exact{"9007199254740993", "9007199254740993"},
        Exact{"9223372036854775807", "9223372036854775807"},
        Exact{"-9223372036854775807", "-9223372036854775807"}, Exact{"0.1", "0.1"},
        Exact{"-0", "0"}, Exact{"-0.0", "0"}, Exact{"922337203685477.5807", "922337203685477.5807"},
        Exact{"0.300000000000000004", "0.300000000000000004"}}) {
    CAPTURE(c.text);
    for (const std::string& value : {std::string(c.text), '"' + std::string(c.text) + '"'}) {
      const auto action = decode_json<ActionRequest>(with_amount(value), frozen_limits());
      REQUIRE(action);
      CHECK(to_string(*action->amount()) == c.amount);
    }
  }
  CHECK(decode_json<ActionRequest>(scored("0.1"), frozen_limits())->security_score().millionths() ==
        100'000);
  CHECK(decode_json<ActionRequest>(scored("1"), frozen_limits())->security_score().millionths() ==
        Score::one);
}

TEST_CASE("whole numbers are digits in a text or a number, within their type's bounds") {
  const Errc mistyped = Errc::json_wrong_type;
  const auto position = [](const std::string& value) { return changed(result, R"("7")", value); };
  check_refusals<ActionResult>({
      {position("-1"), mistyped, "position"},
      {position("7.0"), Errc::json_float, "position"},
      {position(R"("7.0")"), Errc::json_float, "position"},
      {position("7e0"), Errc::json_float, "position"},
      {position(R"("7e0")"), mistyped, "position"},
      {position(R"("07")"), mistyped, "position"},
      {position(R"("+7")"), mistyped, "position"},
      {position(R"(" 7")"), mistyped, "position"},
      {position(R"("7 ")"), mistyped, "position"},
      {position(R"("")"), mistyped, "position"},
      {position(R"("-")"), mistyped, "position"},
      {position(R"("0x7")"), mistyped, "position"},
      {position("18446744073709551616"), mistyped, "position"},
      {position(R"("18446744073709551616")"), mistyped, "position"},
      {changed(result, R"("9")", "9223372036854775808"), Errc::invalid_token, "token"},
      {changed(result, R"("9")", R"("9223372036854775808")"), Errc::invalid_token, "token"},
      {changed(result, R"("9")", R"("-1")"), Errc::invalid_token, "token"},
      {changed(result, R"("9")", R"("1.17")"), Errc::invalid_token, "token"},
      {changed(result, R"("9")", "true"), mistyped, "token"},
  });
  for (const char* value : {"18446744073709551615", R"("18446744073709551615")"})
    CHECK(decode_json<ActionResult>(position(value), frozen_limits())->position() ==
          18446744073709551615U);
  for (const char* value : {"9007199254740993", R"("9007199254740993")"})
    CHECK(decode_json<ActionResult>(changed(result, R"("9")", value), frozen_limits())
              ->token()
              .value() == 9007199254740993U);
}

TEST_CASE("names, digests and states keep their own rules in JSON") {
  check_refusals<ActionRequest>({
      {changed(request, R"("a")", R"("")"), Errc::invalid_name, "action_id"},
      {changed(request, R"("a")", R"("a\n")"), Errc::invalid_name, "action_id"},
      {changed(request, R"("a")", R"("a\u007f")"), Errc::invalid_name, "action_id"},
      {changed(request, R"("a")", '"' + std::string(256, 'a') + '"'), Errc::invalid_name,
       "action_id"},
      {changed(request, "{", R"({"destination":"",)"), Errc::invalid_name, "destination"},
  });
  check_refusals<ActionResult>({
      {changed(result, digest_a, std::string(64, 'A')), Errc::invalid_digest, "digest"},
      {changed(result, digest_a, std::string(63, 'a')), Errc::invalid_digest, "digest"},
      {changed(result, "SEALED", "sealed"), Errc::json_wrong_type, "state"},
      {changed(result, R"("SEALED")", "3"), Errc::json_wrong_type, "state"},
  });
  check_refusals<AuditRecord>({
      {changed(record, "lease_granted", "lease_stolen"), Errc::json_wrong_type, "kind"},
      {changed(record, "lease_granted", "unknown"), Errc::json_wrong_type, "kind"},
      {changed(record, digest_a, ""), Errc::invalid_digest, "leaf_hash"},
      {changed(record, R"("detail":"")", R"("detail":")" + std::string(1025, 'x') + '"'),
       Errc::too_large, "detail"},
      {changed(record, R"("actor":"h")", R"("actor":")" + std::string(256, 'x') + '"'),
       Errc::too_large, "actor"},
  });
  check_refusals<Lease>({
      {changed(lease, R"("9")", R"("0")"), Errc::invalid_token, "token"},
      {changed(lease, R"("30")", R"("2")"), Errc::invalid_duration, "expires_at"},
      {changed(lease, R"("1")", R"("3")"), Errc::invalid_duration, "expires_at"},
      {changed(lease, R"("30")", R"("9223372036854775808")"), Errc::json_wrong_type,
       "expires_at_ns"},
      {changed(lease, R"("3")", R"("-3")"), Errc::json_wrong_type, "instance"},
  });
}

TEST_CASE("a NUL in a text is refused, escaped or not") {
  check_refusals<ActionRequest>({
      {with_payload(R"("payload":"a\u0000b")"), Errc::json_nul, "payload"},
      {with_payload(R"("payload_hex":"00\u0000")"), Errc::json_nul, "payload_hex"},
      {changed(request, R"("a")", R"("\u0000")"), Errc::json_nul, "action_id"},
      {scored(R"("0.5\u0000")"), Errc::json_nul, "security_score"},
      {with_payload("\"payload\":\"" + bytes("a\0b") + "\""), Errc::json_nul, "document"},
      {request + bytes("\0"), Errc::json_nul, "document"},
      {request + bytes("\0garbage"), Errc::json_nul, "document"},
      {bytes("\0"), Errc::json_nul, "document"},
  });
  // A backslash, a u and four zeros are a text like any other.
  const auto action =
      decode_json<ActionRequest>(with_payload(R"("payload":"\\u0000")"), frozen_limits());
  REQUIRE(action);
  CHECK(action->payload() == "\\u0000");
}

TEST_CASE("what is no single JSON document is refused as that") {
  const Errc syntax = Errc::json_syntax;
  std::vector<Case> cases;
  for (const std::string& document : {std::string(),
                                      std::string(" "),
                                      std::string("{"),
                                      request.substr(0, request.size() - 1),
                                      request + "x",
                                      request + request,
                                      request + " {}",
                                      request + ",",
                                      "," + request,
                                      "\xEF\xBB\xBF" + request,
                                      std::string(R"({"action_id":"a",})"),
                                      std::string("{'a':1}"),
                                      std::string("{a:1}"),
                                      std::string(R"({"action_id" "a"})"),
                                      std::string("// c\n") + request,
                                      "/* c */" + request,
                                      scored("00.5"),
                                      scored(".5"),
                                      scored("5."),
                                      scored("+1"),
                                      scored("NaN"),
                                      scored("Infinity"),
                                      scored("0x1"),
                                      scored("True"),
                                      with_payload("\"payload\":\"a\nb\""),
                                      with_payload(R"("payload":"\x41")"),
                                      with_payload(R"("payload":"\u12")"),
                                      with_payload(R"("payload":"\ud800")"),
                                      with_payload(R"("payload":"\udc00\ud800")")})
    cases.push_back({document, syntax, "document"});
  check_refusals<ActionRequest>(cases);
}

TEST_CASE("invalid UTF-8 is refused wherever it stands") {
  std::vector<Case> cases;
  for (const std::string bad :
       {"\xFF", "\xC0\x80", "\xC3", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80", "\xE2\x82"}) {
    cases.push_back(
        {with_payload("\"payload\":\"" + bad + "\""), Errc::json_invalid_utf8, "document"});
    cases.push_back(
        {changed(request, "{", "{\"" + bad + "\":1,"), Errc::json_invalid_utf8, "document"});
    cases.push_back({request + bad, Errc::json_invalid_utf8, "document"});
    cases.push_back({bad + request, Errc::json_invalid_utf8, "document"});
  }
  check_refusals<ActionRequest>(cases);
}

TEST_CASE("a text that is no JSON document is said to be that, whatever fields it has") {
  const std::string unknown_first = R"({"extra":1,"action_id":)";
  check_refusals<ActionRequest>({
      {unknown_first + "}", Errc::json_syntax, "document"},
      {unknown_first + std::string(20, '['), Errc::json_too_deep, "document"},
      {unknown_first + "\"\xFF\"}", Errc::json_invalid_utf8, "document"},
      {unknown_first + R"("a"})", Errc::json_unknown_field, "extra"},
  });
}

TEST_CASE("the first offence against the contract is the one that is named") {
  check_refusals<ActionRequest>({
      {R"({"extra":1,"other":2,"action_id":null})", Errc::json_unknown_field, "extra"},
      {R"({"action_id":null,"extra":1})", Errc::json_wrong_type, "action_id"},
      {R"({"payload":"\u0000","payload":1e5})", Errc::json_nul, "payload"},
      {R"({"action_id":"","payload":7,"security_score":"2"})", Errc::invalid_name, "action_id"},
  });
}

TEST_CASE("INV-09 a refusal repeats nothing of the document but declared and harmless names") {
  const std::string secret = "card-4111111111111111";
  for (const std::string& document :
       {with_payload("\"payload\":\"" + secret + "\",\"extra\":1"),
        with_payload("\"payload\":{\"" + secret + "\":1}"),
        with_payload("\"payload\":[\"" + secret), scored("\"" + secret + "\""),
        changed(request, R"("a")", "\"" + secret + "\\n\"")}) {
    CAPTURE(document);
    const auto value = decode_json<ActionRequest>(document, frozen_limits());
    REQUIRE_FALSE(value);
    CHECK(to_string(value.error()).find(secret) == std::string::npos);
  }
}
