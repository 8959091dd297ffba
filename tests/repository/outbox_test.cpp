// The outbox on the file: order, claims and their fences, retries, dead letters, the breaker.
#include "repository_support.hpp"

namespace wallock::test {
namespace {

ClaimOptions from_bank(std::uint32_t limit = 100, Duration ttl = 30s) {
  ClaimOptions options{.destination = "bank"};
  options.limit = limit;
  options.ttl = ttl;
  options.holder = Given<HolderId>("relay");
  return options;
}

// The ids of the deliveries, in order.
std::string ids(const Result<std::vector<Delivery>>& claimed) {
  if (!claimed) return answer(claimed);
  std::string found;
  for (const Delivery& delivery : *claimed)
    found += (found.empty() ? "" : " ") + delivery.action_id().str();
  return found;
}

struct Box {
  TempStore at;
  Coordinator store = at.open(quick_to_trip(at.options()));
  void put(const std::string& resource, const std::string& id) {
    REQUIRE(answer(store.execute(resource, sent(id))) == "ok");
  }
  Delivery take() {
    auto claimed = store.claim(from_bank(1)).value();
    REQUIRE(claimed.size() == 1);
    return claimed.front();
  }
};

}  // namespace

TEST_CASE("deliveries go out in commit order per resource, and one at a time") {
  Box box;
  REQUIRE(answer(box.store.execute("r", {sent("r1"), sent("r2", "p", "other"), sent("r3")})) ==
          "ok");
  box.put("s", "s1");
  News news(box.store);
  const auto first = box.store.claim(from_bank()).value();
  REQUIRE(ids(first) == "r1 s1");
  CHECK(news() == "delivery_claimed delivery_claimed");
  CHECK(ids(box.store.claim({.destination = "other"})) == "");  // r2 waits for r1
  CHECK(effect(box.store.settle(first[0], DeliveryOutcome::delivered())) == "sealed");
  CHECK(news() == "delivery_sealed");
  CHECK(ids(box.store.claim(from_bank())) == "");  // r3 waits for r2
  const auto second = box.store.claim({.destination = "other"}).value();
  REQUIRE(ids(second) == "r2");
  CHECK(effect(box.store.settle(second[0], DeliveryOutcome::reject())) == "dead");
  CHECK(news() == "delivery_claimed delivery_dead");
  CHECK(ids(box.store.claim(from_bank())) == "r3");  // the dead do not block
  const auto health = box.store.health().value();
  CHECK(health.deliveries == 2);
  CHECK(health.dead_letters == 1);
  CHECK(answer(box.store.claim(from_bank(0))) == "invalid_option");
  CHECK(answer(box.store.claim(from_bank(1001))) == "invalid_option");
}

TEST_CASE("deliveries settled together have an answer each, in their order") {
  Box box;
  REQUIRE(answer(box.store.execute("r", {sent("r1"), sent("r2")})) == "ok");
  for (const auto* id : {"s", "t", "u"})
    box.put(id, id);
  const auto claimed = box.store.claim(from_bank()).value();
  REQUIRE(ids(claimed) == "r1 s t u");
  REQUIRE(effect(box.store.settle(claimed[1], DeliveryOutcome::delivered())) == "sealed");
  News news(box.store);
  std::vector<Settlement> settlements{{claimed[0], DeliveryOutcome::delivered()},
                                      {claimed[1], DeliveryOutcome::delivered()},  // not again
                                      {claimed[2], DeliveryOutcome::reject()},
                                      {claimed[3], DeliveryOutcome::retry(1s)},
                                      {claimed[0], DeliveryOutcome::retry()}};  // sealed above
  const auto settled = box.store.settle_all(settlements).value();
  REQUIRE(settled.size() == 5);
  CHECK(effect(settled[0]) == "sealed");
  CHECK(answer(settled[1]) == "claim_lost");
  CHECK(effect(settled[2]) == "dead");
  CHECK(effect(settled[3]) == "queued");
  CHECK(answer(settled[4]) == "claim_lost");
  CHECK(news() == "delivery_sealed delivery_dead delivery_retried");
  CHECK(ids(box.store.claim(from_bank())) == "r2");
}

TEST_CASE("settling none, or too many together, is refused and settles nothing") {
  Box box;
  box.put("r", "r1");
  const Settlement one{box.take(), DeliveryOutcome::delivered()};
  CHECK(answer(box.store.settle_all({})) == "invalid_option");
  const std::vector<Settlement> many(max_settlements + 1, one);
  CHECK(answer(box.store.settle_all(many)) == "invalid_option");
  CHECK(effect(box.store.settle(one.delivery, one.outcome)) == "sealed");
}

TEST_CASE("a claim takes at most its limit, the ones due longest first") {
  Box box;
  for (int i = 0; i < 5; ++i) {
    box.put("r" + std::to_string(i), "a" + std::to_string(i));
    box.at.clock->advance(1s);
  }
  CHECK(ids(box.store.claim(from_bank(2))) == "a0 a1");
  CHECK(ids(box.store.claim(from_bank(2))) == "a2 a3");
  box.at.clock->advance(30s);
  // A claim that ended is due from its end on.
  CHECK(ids(box.store.claim(from_bank(5))) == "a4 a0 a1 a2 a3");
}

// Nothing of a claim outlives its time, its owner least of all (case O35). Who sent and died before
// he settled has sent for nothing or once too often: the next one sees the same action id and an
// attempt more (case O37).
TEST_CASE(
    "a claim whose time is over is taken over, and its late settlement is fenced (O11, O14)") {
  Box box;
  box.put("r", "a");
  const auto dead = box.take();
  CHECK(dead.attempt() == 1);
  CHECK(dead.claim_expires_at() == box.at.clock->now() + 30s);
  box.at.clock->advance(30s - 1ns);
  CHECK(ids(box.store.claim(from_bank())) == "");
  box.at.clock->advance(1ns);
  const auto next = box.take();
  CHECK(next.action_id() == dead.action_id());
  CHECK(next.attempt() == 2);
  CHECK(next.claim_token() > dead.claim_token());
  News news(box.store);
  CHECK(answer(box.store.settle(dead, DeliveryOutcome::delivered())) == "claim_lost");
  CHECK(answer(box.store.settle(dead, DeliveryOutcome::reject())) == "claim_lost");
  CHECK(answer(box.store.settle(dead, DeliveryOutcome::retry())) == "claim_lost");
  CHECK(news() == "-");
  box.at.clock->advance(1h);  // late, but nobody else has it
  CHECK(effect(box.store.settle(next, DeliveryOutcome::delivered())) == "sealed");
  CHECK(answer(box.store.settle(next, DeliveryOutcome::delivered())) == "claim_lost");
  CHECK(news() == "delivery_sealed");
  CHECK(ids(box.store.claim(from_bank())) == "");
}

TEST_CASE("a delivery to be retried waits for its time and holds back those behind it") {
  Box box;
  box.put("r", "a");
  box.put("r", "b");
  News news(box.store);
  const auto first = box.take();
  CHECK(effect(box.store.settle(first, DeliveryOutcome::retry(10s))) == "queued");
  CHECK(news() == "delivery_claimed delivery_retried");
  CHECK(answer(box.store.settle(first, DeliveryOutcome::delivered())) == "claim_lost");
  box.at.clock->advance(10s - 1ns);
  CHECK(ids(box.store.claim(from_bank())) == "");
  box.at.clock->advance(1ns);
  const auto second = box.take();
  CHECK(second.action_id().str() == "a");
  CHECK(second.attempt() == 2);
  CHECK(second.claim_token() > first.claim_token());
  CHECK(effect(box.store.settle(second, DeliveryOutcome::retry())) == "queued");
  box.at.clock->advance(2s);  // twice the first backoff, with full jitter
  CHECK(ids(box.store.claim(from_bank())) == "a");
}

TEST_CASE("a delivery out of attempts or too old ends among the dead letters") {
  TempStore at;
  auto options = at.options();
  options.delivery = {.max_attempts = 2, .max_age = 1h};
  auto store = at.open(options);
  auto raw = at.raw();
  REQUIRE(answer(store.execute("r", sent("a"))) == "ok");
  REQUIRE(answer(store.execute("r", sent("b"))) == "ok");
  auto claimed = store.claim(from_bank()).value();
  REQUIRE(ids(claimed) == "a");
  News news(store);
  SECTION("the last attempt is to be retried") {
    REQUIRE(effect(store.settle(claimed[0], DeliveryOutcome::retry(0s))) == "queued");
    claimed = store.claim(from_bank()).value();
    REQUIRE(ids(claimed) == "a");
    CHECK(effect(store.settle(claimed[0], DeliveryOutcome::retry())) == "dead");
    CHECK(news() == "delivery_retried delivery_claimed delivery_dead");
  }
  SECTION("the last attempt died") {
    at.clock->advance(30s);
    REQUIRE(ids(store.claim(from_bank())) == "a");
    at.clock->advance(30s);
    CHECK(ids(store.claim(from_bank())) == "");
    CHECK(news() == "delivery_claimed delivery_dead");
  }
  SECTION("its time is over") {
    at.clock->advance(1h);
    REQUIRE(effect(store.settle(claimed[0], DeliveryOutcome::retry(1ns))) == "queued");
    at.clock->advance(1ns);
    CHECK(ids(store.claim(from_bank())) == "");
    CHECK(news() == "delivery_retried delivery_dead");
    CHECK(store.health().value().deliveries == 1);
    CHECK(ids(store.claim(from_bank())) == "");  // b is as old
    CHECK(store.health().value().dead_letters == 2);
    return;
  }
  CHECK(raw.text("SELECT resource || destination || attempts FROM wallock_dead_letters") ==
        "rbank2");
  CHECK(store.audit().value().back().entry().state == ActionState::quarantined);
  CHECK(ids(store.claim(from_bank())) == "b");
  CHECK(verdict(store) == "UNANCHORED");
}

TEST_CASE("an open breaker holds deliveries back without using up their attempts") {
  Box box;
  box.put("r", "a");
  box.put("s", "b");
  const auto held = box.store.acquire("r", by("ann")).value();
  REQUIRE(effect(box.store.report(held, DownstreamOutcome::timeout)) == "tripped");
  News news(box.store);
  CHECK(ids(box.store.claim(from_bank())) == "b");
  for (int i = 0; i < 20; ++i) {
    box.at.clock->advance(1s);
    CHECK(ids(box.store.claim(from_bank())) == "");
  }
  CHECK(news() == "delivery_claimed");
  const auto probe = box.store.begin_recovery("r").value();
  CHECK(ids(box.store.claim(from_bank())) == "");
  REQUIRE(answer(box.store.complete_recovery(probe, {true, "ok"})) == "ok");
  const auto claimed = box.store.claim(from_bank()).value();
  REQUIRE(ids(claimed) == "a");
  CHECK(claimed[0].attempt() == 1);

  REQUIRE(answer(box.store.force_open("r", "again")) == "ok");  // while it is on its way
  CHECK(effect(box.store.settle(claimed[0], DeliveryOutcome::retry(0s))) == "queued");
  CHECK(ids(box.store.claim(from_bank())) == "");
}

TEST_CASE("an action id stays taken after its delivery left the outbox (O20)") {
  Box box;
  box.put("r", "a");
  const auto first = box.store.execute("r", sent("a")).value();
  CHECK(first.replayed());
  CHECK(effect(box.store.settle(box.take(), DeliveryOutcome::delivered())) == "sealed");
  CHECK(box.store.execute("r", sent("a")).value() == first);
  CHECK(answer(box.store.execute("r", sent("a", "other"))) == "action_conflict");
  CHECK(ids(box.store.claim(from_bank())) == "");
}

TEST_CASE("INV-06 an action makes only the transitions of the table, as the ledger tells them") {
  Box box;
  box.put("r", "a");
  REQUIRE(effect(box.store.settle(box.take(), DeliveryOutcome::retry(0s))) == "queued");
  REQUIRE(effect(box.store.settle(box.take(), DeliveryOutcome::delivered())) == "sealed");
  std::string states;
  const auto records = box.store.audit().value();
  for (const AuditRecord& record : records) {
    if (record.entry().state) states += std::string(to_string(*record.entry().state)) + " ";
  }
  CHECK(states == "VALIDATED EXECUTING EXECUTING EXECUTING SEALED ");
}

}  // namespace wallock::test
