// Delivery and its outcomes.
#include "wallock/delivery.hpp"

#include <chrono>

#include "catch.hpp"
#include "unit/values_support.hpp"

using namespace wallock;
using namespace std::chrono_literals;

namespace {

DeliveryFields fields() {
  return {.action_id = test::action_id("pay-17"),
          .position = 4,
          .resource = test::resource("account/17"),
          .destination = test::destination("bank"),
          .payload = "card 4111 1111 1111 1111",
          .attempt = 2,
          .claim_token = test::token(11),
          .claim_expires_at = Instant(5s)};
}

}  // namespace

TEST_CASE("INV-09 a delivery shows its id and attempt, never its payload") {
  CHECK(to_string(Delivery(fields())) == "pay-17 to bank attempt 2");
}

TEST_CASE("deliveries are equal if and only if every member is") {
  const auto changed = [](auto change) {
    DeliveryFields f = fields();
    change(f);
    return Delivery(f);
  };
  const Delivery same(fields());
  CHECK(same == changed([](DeliveryFields&) {}));
  CHECK(same != changed([](DeliveryFields& f) { f.action_id = test::action_id("x"); }));
  CHECK(same != changed([](DeliveryFields& f) { f.position = 5; }));
  CHECK(same != changed([](DeliveryFields& f) { f.resource = test::resource("x"); }));
  CHECK(same != changed([](DeliveryFields& f) { f.destination = test::destination("x"); }));
  CHECK(same != changed([](DeliveryFields& f) { f.payload = "x"; }));
  CHECK(same != changed([](DeliveryFields& f) { f.attempt = 3; }));
  CHECK(same != changed([](DeliveryFields& f) { f.claim_token = test::token(12); }));
  CHECK(same != changed([](DeliveryFields& f) { f.claim_expires_at += 1ns; }));
}

TEST_CASE("a receiver's retry-after is held within 0 to 24 hours") {
  CHECK(DeliveryOutcome::retry(5s).retry_after() == Duration(5s));
  CHECK(DeliveryOutcome::retry(0s).retry_after() == Duration::zero());
  CHECK(DeliveryOutcome::retry(-1ns).retry_after() == Duration::zero());
  CHECK(DeliveryOutcome::retry(Duration::min()).retry_after() == Duration::zero());
  CHECK(DeliveryOutcome::retry(24h + 1ns).retry_after() == Duration(24h));
  CHECK(DeliveryOutcome::retry(Duration::max()).retry_after() == Duration(24h));
  CHECK_FALSE(DeliveryOutcome::retry().retry_after());
  CHECK_FALSE(DeliveryOutcome::delivered().retry_after());
}

TEST_CASE("outcomes and ways out have names") {
  CHECK(to_string(DeliveryOutcome::delivered().kind()) == "delivered");
  CHECK(to_string(DeliveryOutcome::retry().kind()) == "retry");
  CHECK(to_string(DeliveryOutcome::reject().kind()) == "reject");
  CHECK(to_string(Settled::sealed) == "sealed");
  CHECK(to_string(Settled::queued) == "queued");
  CHECK(to_string(Settled::dead) == "dead");
  CHECK(DeliveryOutcome::retry(5s) != DeliveryOutcome::retry(6s));
  CHECK(DeliveryOutcome::reject() != DeliveryOutcome::delivered());
}
