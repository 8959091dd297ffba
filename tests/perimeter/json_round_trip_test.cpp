// What is written is read back as the same value, byte for byte.
#include <fstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "perimeter/json_support.hpp"

using namespace wallock;
using wallock::test::bytes;
using wallock::test::code_of;
using wallock::test::frozen_limits;

namespace {

template <class T>
void check_round_trip(const T& value, const JsonLimits& limits) {
  const std::string document = encode_json(value);
  INFO(document);
  const auto back = decode_json<T>(document, limits);
  REQUIRE(code_of(back) == test::no_error);
  REQUIRE(*back == value);
  REQUIRE(encode_json(*back) == document);
}

ActionRequest request(std::string payload) {
  return ActionRequest::create({.id = "pay-17", .payload = std::move(payload)}).value();
}

std::vector<std::string> webhook_bodies() {
  std::ifstream file(WALLOCK_TEST_DATA_DIR "/github-webhooks.jsonl");
  std::vector<std::string> bodies;
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find("\"body\":") + 7;
    bodies.push_back(line.substr(begin, line.size() - 1 - begin));
  }
  return bodies;
}

}  // namespace

TEST_CASE("INV-07 random values of every type survive JSON exactly") {
  constexpr std::uint64_t seed = 53;
  test::RandomValues values(seed);
  const JsonLimits limits = frozen_limits();
  for (int round = 0; round < 2'000; ++round) {
    INFO("seed " << seed << ", round " << round);
    check_round_trip(values.action_request(), limits);
    check_round_trip(values.action_result(), limits);
    check_round_trip(values.lease(), limits);
    check_round_trip(values.delivery(), limits);
    check_round_trip(values.audit_record(), limits);
    check_round_trip(values.tree_head(), limits);
  }
}

// Case O38: payloads are bytes; none of these may be changed, refused or shortened on the way.
TEST_CASE("payloads of every sort come back byte for byte") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte)
    all += static_cast<char>(byte);
  struct Case {
    std::string payload;
    bool as_text;
  };
  const std::vector<Case> cases{
      {"", true},
      {"text", true},
      {"{\"n\":9007199254740993,\"m\":-9223372036854775808}", true},
      {"\xF0\x9F\x94\x92 \xF4\x8F\xBF\xBF", true},
      {"line\r\n\ttab \"quoted\" back\\slash /", true},
      {"\xEF\xBB\xBFmarked", true},
      {"\x7f", true},
      {bytes("\0"), false},
      {bytes("a\0b"), false},
      {"\xFF\xFE", false},
      {"cut \xE2\x82", false},
      {"\xED\xA0\x80", false},
      {"bell \a", false},
      {"\x1b[31m", false},
      {all, false},
  };
  for (const Case& c : cases) {
    check_round_trip(request(c.payload), frozen_limits());
    const std::string document = encode_json(request(c.payload));
    INFO(document);
    CHECK((document.find("\"payload\":") != std::string::npos) == c.as_text);
    CHECK((document.find("\"payload_hex\":") != std::string::npos) != c.as_text);
  }
}

TEST_CASE("texts may be escaped in any way that JSON allows") {
  const auto action = decode_json<ActionRequest>(
      R"( {
        "payload" : "\u0041\/\b\f\ud83d\udd12\u00e4" ,
        "\u0061ction_id" : "p\u0061y-17", "security_score" : 1.0 } )",
      frozen_limits());
  REQUIRE(action);
  CHECK(action->id().str() == "pay-17");
  CHECK(action->payload() == "A/\b\f\xF0\x9F\x94\x92\xC3\xA4");
  CHECK(action->security_score().millionths() == Score::one);
}

TEST_CASE("all webhook bodies of the corpus survive as payloads") {
  const std::vector<std::string> bodies = webhook_bodies();
  REQUIRE(bodies.size() == 329);
  const JsonLimits limits = frozen_limits();
  for (const std::string& body : bodies) {
    REQUIRE(body.front() == '{');
    REQUIRE(body.back() == '}');
    const ActionRequest action = request(body);
    const auto back = decode_json<ActionRequest>(encode_json(action), limits);
    REQUIRE(back);
    REQUIRE(back->payload() == body);
  }
}

TEST_CASE("the JSON forms are written as documented") {
  const auto action = ActionRequest::create({.id = "pay-17",
                                             .destination = "bank",
                                             .payload = "{\"a\":1}",
                                             .security_score = Score::parse("0.75").value(),
                                             .amount = Decimal::parse("-12.50").value()});
  CHECK(encode_json(*action) ==
        R"({"action_id":"pay-17","destination":"bank","payload":"{\"a\":1}",)"
        R"("security_score":"0.750000","amount":"-12.5"})");
  const Lease lease = Lease::create({.resource = test::resource("account/17"),
                                     .token = test::token(9007199254740993),
                                     .holder = test::holder("worker-1"),
                                     .instance = InstanceId{18446744073709551615U},
                                     .requested_at = Instant(Duration(-1)),
                                     .granted_at = Instant(Duration(2)),
                                     .expires_at = Instant::max()})
                          .value();
  CHECK(encode_json(lease) ==
        R"({"resource":"account/17","token":"9007199254740993","holder":"worker-1",)"
        R"("instance":"18446744073709551615","requested_at_ns":"-1","granted_at_ns":"2",)"
        R"("expires_at_ns":"9223372036854775807"})");
  const std::string zeros(64, '0');
  CHECK(encode_json(TreeHead{.size = 3}) == R"({"size":"3","root":")" + zeros + R"("})");
  CHECK(encode_json(AuditRecord(0, WallTime{}, {.actor = "a\n", .detail = bytes("\0")}, {})) ==
        R"({"position":"0","recorded_at_us":"0","kind":"genesis","token":"0","actor":"a\n",)"
        R"("detail_hex":"00","leaf_hash":")" +
            zeros + R"("})");
}

TEST_CASE("a breaker's status is written with its probe, and never read") {
  BreakerRow row{.state = BreakerState::probing,
                 .timeouts = 3,
                 .generation = 2,
                 .failed_probes = 1,
                 .interval = std::chrono::seconds(1),
                 .since = Instant(Duration(5)),
                 .probe = ProbeGrant{.token = test::token(8),
                                     .holder = test::holder("w"),
                                     .instance = InstanceId{4},
                                     .expires_at = Instant(Duration(9))}};
  const BreakerStatus status(test::resource("r"), row, Instant(Duration(6)));
  CHECK(encode_json(status) ==
        R"({"resource":"r","state":"PROBING","forced":false,"timeouts":3,"generation":"2",)"
        R"("failed_probes":1,"interval_ns":"1000000000","since_ns":"5","probe_due_ns":"6",)"
        R"("probe":{"token":"8","holder":"w","instance":"4","expires_at_ns":"9"}})");
  STATIC_REQUIRE(JsonEncodable<BreakerStatus>);
  STATIC_REQUIRE_FALSE(JsonDecodable<BreakerStatus>);
  STATIC_REQUIRE_FALSE(JsonEncodable<std::string>);
}
