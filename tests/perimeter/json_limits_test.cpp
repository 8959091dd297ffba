// The limits of the JSON perimeter: size, depth, payload and time.
#include <chrono>
#include <memory>
#include <string>

#include "catch.hpp"
#include "perimeter/json_support.hpp"

using namespace wallock;
using namespace std::chrono_literals;
using wallock::test::code_of;
using wallock::test::field_of;
using wallock::test::frozen_limits;

namespace {

// A clock of which every reading costs the same.
class CostlyClock final : public Clock {
 public:
  explicit CostlyClock(Duration step) : step_(step) {}
  [[nodiscard]] Instant now() const noexcept override { return Instant(step_ * readings_++); }
  [[nodiscard]] WallTime wall_now() const noexcept override { return {}; }
  [[nodiscard]] std::optional<std::string> boot_id() const override { return {}; }
  void sleep_for(Duration) const noexcept override {}
  [[nodiscard]] int readings() const { return readings_; }

 private:
  Duration step_;
  mutable int readings_ = 0;
};

std::string request_of(const std::string& payload_member) {
  return R"({"action_id":"a",)" + payload_member + R"(,"security_score":"0.5"})";
}
std::string request_with_text(std::size_t size) {
  return request_of(R"("payload":")" + std::string(size, 'p') + '"');
}

JsonLimits limits_with(std::shared_ptr<const Clock> clock, Duration budget) {
  JsonLimits limits;
  limits.clock = std::move(clock);
  limits.budget = budget;
  return limits;
}

}  // namespace

TEST_CASE("the limits of JSON have bounds of their own") {
  const auto refusal = [](auto change) {
    JsonLimits limits = frozen_limits();
    change(limits);
    const auto value = decode_json<ActionRequest>("{}", limits);
    CHECK(check(limits).has_value() == (code_of(value) == Errc::json_missing_field));
    return std::pair(code_of(value), field_of(value));
  };
  using Refusal = std::pair<Errc, std::string>;
  const Refusal none{Errc::json_missing_field, "action_id"};
  const Errc option = Errc::invalid_option;
  const Errc duration = Errc::invalid_duration;
  CHECK(refusal([](JsonLimits& l) { l.max_document = 0; }) == Refusal(option, "json.max_document"));
  CHECK(refusal([](JsonLimits& l) { l.max_document = 64 * 1024 * 1024; }) == none);
  CHECK(refusal([](JsonLimits& l) { l.max_document = 64 * 1024 * 1024 + 1; }) ==
        Refusal(option, "json.max_document"));
  CHECK(refusal([](JsonLimits& l) { l.max_depth = 0; }) == Refusal(option, "json.max_depth"));
  CHECK(refusal([](JsonLimits& l) { l.max_depth = 1; }) == none);
  CHECK(refusal([](JsonLimits& l) { l.max_depth = 1001; }) == Refusal(option, "json.max_depth"));
  CHECK(refusal([](JsonLimits& l) { l.max_payload = 0; }) == Refusal(option, "json.max_payload"));
  CHECK(refusal([](JsonLimits& l) { l.max_payload = max_payload_bytes + 1; }) ==
        Refusal(option, "json.max_payload"));
  CHECK(refusal([](JsonLimits& l) { l.budget = 100us; }) == none);
  CHECK(refusal([](JsonLimits& l) { l.budget = 100us - 1ns; }) == Refusal(duration, "json.budget"));
  CHECK(refusal([](JsonLimits& l) { l.budget = 15ms; }) == none);
  CHECK(refusal([](JsonLimits& l) { l.budget = 15ms + 1ns; }) == Refusal(duration, "json.budget"));
}

TEST_CASE("a document over its size is refused before it is read") {
  JsonLimits limits = frozen_limits();
  const std::string document = request_with_text(100);
  limits.max_document = document.size();
  CHECK(decode_json<ActionRequest>(document, limits));
  limits.max_document = document.size() - 1;
  const auto value = decode_json<ActionRequest>(document, limits);
  CHECK(code_of(value) == Errc::json_too_large);
  CHECK(value.error().facts().limit == static_cast<std::int64_t>(document.size() - 1));
  CHECK(code_of(decode_json<ActionRequest>(std::string(2 << 20, '['), frozen_limits())) ==
        Errc::json_too_large);
}

TEST_CASE("a payload over its size is refused, as text and in hex") {
  JsonLimits limits = frozen_limits();
  limits.max_payload = 100;
  const auto hex = [](std::size_t size) {
    return request_of(R"("payload_hex":")" + std::string(2 * size, 'f') + '"');
  };
  CHECK(decode_json<ActionRequest>(request_with_text(100), limits)->payload().size() == 100);
  CHECK(decode_json<ActionRequest>(hex(100), limits)->payload() == std::string(100, '\xFF'));
  for (const std::string& document : {request_with_text(101), hex(101)}) {
    const auto value = decode_json<ActionRequest>(document, limits);
    CHECK(code_of(value) == Errc::too_large);
    CHECK(field_of(value) == "payload");
    CHECK(value.error().facts().limit == 100);
  }
}

TEST_CASE("the largest payload of the default limits fits the document, however it is written") {
  for (const char byte : {'p', '"', '\\', '\n', '\x01', '\xFF', '\0'}) {
    const auto action =
        ActionRequest::create({.id = "a", .payload = std::string(default_max_payload_bytes, byte)})
            .value();
    const std::string document = encode_json(action);
    CAPTURE(static_cast<int>(byte), document.size());
    CHECK(decode_json<ActionRequest>(document, frozen_limits()) == action);
  }
}

TEST_CASE("nesting is refused at its limit, not by the stack") {
  JsonLimits limits = frozen_limits();
  const auto nested = [](std::size_t depth) {
    return R"({"payload":)" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  CHECK(code_of(decode_json<ActionRequest>(nested(16), limits)) == Errc::json_wrong_type);
  CHECK(code_of(decode_json<ActionRequest>(nested(17), limits)) == Errc::json_too_deep);
  limits.max_depth = 1000;
  CHECK(code_of(decode_json<ActionRequest>(nested(1000), limits)) == Errc::json_wrong_type);
  CHECK(code_of(decode_json<ActionRequest>(nested(1001), limits)) == Errc::json_too_deep);
}

TEST_CASE("a bomb of a million brackets is refused at its first ones") {
  JsonLimits limits = frozen_limits();
  limits.max_document = max_json_document_bytes;
  constexpr std::size_t million = 1'000'000;
  std::string objects;
  for (std::size_t i = 0; i < million; ++i)
    objects += R"({"a":)";
  for (const std::size_t depth : {std::size_t{16}, max_json_depth}) {
    limits.max_depth = depth;
    for (const std::string& bomb :
         {std::string(million, '['), R"({"payload":)" + std::string(million, '['), objects,
          std::string(million, '[') + std::string(million, ']')}) {
      const auto value = decode_json<ActionRequest>(bomb, limits);
      CHECK(code_of(value) == Errc::json_too_deep);
      CHECK(value.error().facts().limit == static_cast<std::int64_t>(depth));
    }
  }
}

TEST_CASE("a document that is not validated within its budget is refused") {
  const std::string small = request_with_text(10);
  // The clock is read at the start, after the reading and at the end.
  const auto at_budget = std::make_shared<CostlyClock>(50us);
  CHECK(decode_json<ActionRequest>(small, limits_with(at_budget, 100us)));
  CHECK(at_budget->readings() == 3);
  for (const Duration step : {Duration(50us) + 1ns, Duration(101us), Duration(1h)}) {
    CAPTURE(step.count());
    const auto value =
        decode_json<ActionRequest>(small, limits_with(std::make_shared<CostlyClock>(step), 100us));
    CHECK(code_of(value) == Errc::validation_budget_exceeded);
    CHECK(value.error().error_class() == ErrorClass::transient);
  }
}

TEST_CASE("the reading of a document stops when its budget is spent") {
  // A hundred KiB would be a hundred readings; the eleventh is the first over the budget.
  const auto clock = std::make_shared<CostlyClock>(10us);
  const auto value =
      decode_json<ActionRequest>(request_with_text(100 * 1024), limits_with(clock, 100us));
  CHECK(code_of(value) == Errc::validation_budget_exceeded);
  CHECK(clock->readings() <= 14);

  const auto patient = std::make_shared<CostlyClock>(10us);
  CHECK(decode_json<ActionRequest>(request_with_text(100 * 1024), limits_with(patient, 15ms)));
  CHECK(patient->readings() > 100);
}

TEST_CASE("a spent budget is said rather than the syntax error that stopping looks like") {
  const auto clock = std::make_shared<CostlyClock>(1ms);
  const std::string broken = request_with_text(50 * 1024) + "\xFF";
  CHECK(code_of(decode_json<ActionRequest>(broken, limits_with(clock, 100us))) ==
        Errc::validation_budget_exceeded);
}

TEST_CASE("without a clock of the caller's the steady clock serves") {
  JsonLimits limits;
  CHECK(decode_json<ActionRequest>(request_with_text(1), limits).has_value());
}

TEST_CASE("a number's text survives a parser that writes the point as the locale does") {
  constexpr detail::JsonField fields[] = {{"amount"}};
  const JsonLimits limits = frozen_limits();
  detail::JsonObjectReader reader(fields, limits);
  std::string name = "amount";
  REQUIRE(reader.start_object(1));
  REQUIRE(reader.key(name));
  REQUIRE(reader.number_float(0, "12,5"));
  REQUIRE(reader.end_object());
  REQUIRE_FALSE(reader.broken());
  detail::JsonObject object(fields, std::move(reader).take_values());
  CHECK(object.decimal<Decimal>("amount") == Decimal::parse("12.5").value());
}
