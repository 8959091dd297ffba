#include "delivery_support.hpp"

using namespace wallock;
using namespace wallock::test;
using rules::decide_claim;
using rules::DeliveryRow;

namespace {

const rules::ClaimCommand command{.holder = holder("relay"), .ttl = 30s};

Result<rules::DeliveryDecision> claim(const DeliveryRow& row, const rules::Moment& now = at()) {
  return decide_claim(row, command, delivery_policy, token(1000, now.epoch), now);
}

}  // namespace

TEST_CASE("a claim hands a due delivery out under a token of its own") {
  const auto decision = claim(ready_row());
  REQUIRE(decision);
  CHECK(decision->way == Way::keep);
  DeliveryRow expected = ready_row();
  expected.state = rules::QueueState::claimed;
  expected.attempt = 1;
  expected.claim_token = token(1000);
  expected.due = boot(130s);
  CHECK(decision->next == expected);
  CHECK(decision->entry == LedgerEntry{.kind = RecordKind::delivery_claimed,
                                       .resource = resource(),
                                       .token = token(1000),
                                       .state = ActionState::executing,
                                       .subject = 40,
                                       .until = boot(130s),
                                       .actor = "relay"});
}

TEST_CASE("case O11: a delivery is claimable when due, or when its claim is over") {
  struct Case {
    DeliveryRow row;
    rules::Moment now;
    bool claimable;
  };
  const Case cases[] = {
      {ready_row(), at(60s - 1ns), false},
      {ready_row(), at(60s), true},
      {blocked_row(), at(), false},
      {blocked_row(), at(1000s), false},
      {claimed_row(), at(110s - 1ns), false},
      {claimed_row(), at(110s), true},
      // The claim's end was read on the clock of another boot.
      {claimed_row(), at(1s, 1000, epoch + 1), true},
  };
  for (const Case& c : cases) {
    const auto decision = claim(c.row, c.now);
    CHECK(decision.has_value() == c.claimable);
    if (decision) {
      CHECK(decision->way == Way::keep);
      CHECK(decision->next.attempt == c.row.attempt + 1);
    } else {
      CHECK(decision.error().code() == Errc::claim_lost);
    }
  }
}

TEST_CASE("a claim whose attempts or age ran out takes the delivery out of the outbox") {
  struct Case {
    DeliveryRow row;
    rules::Moment now;
    const char* reason;
  };
  const Duration born = 50s;
  const Case cases[] = {
      {tried(ready_row(), 2), at(), nullptr},
      {tried(ready_row(), 3), at(), "max_attempts"},
      {tried(ready_row(), 4), at(), "max_attempts"},
      {tried(claimed_row(), 3), at(110s), "max_attempts"},
      {ready_row(), at(born + 1h), nullptr},
      {ready_row(), at(born + 1h + 1ns), "max_age"},
      {claimed_row(), at(born + 1h + 1ns), "max_age"},
      {ready_row(), at(born + 1000h), "max_age"},
  };
  for (const Case& c : cases) {
    const auto decision = claim(c.row, c.now);
    REQUIRE(decision);
    CHECK(decision->way == (c.reason ? Way::dead : Way::keep));
    if (!c.reason) continue;
    CHECK(decision->next == c.row);
    CHECK(decision->entry == LedgerEntry{.kind = RecordKind::delivery_dead,
                                         .resource = resource(),
                                         .token = c.row.claim_token,
                                         .state = ActionState::quarantined,
                                         .subject = 40,
                                         .actor = "relay",
                                         .detail = c.reason});
  }
}

TEST_CASE("a damaged delivery is taken out under its own claim, or none if that cannot be right") {
  struct Case {
    DeliveryRow row;
    FencingToken told;
  };
  DeliveryRow from_the_future = claimed_row();
  from_the_future.claim_token = token(1000);
  const Case cases[] = {{ready_row(), {}},
                        {claimed_row(), token(900)},
                        {tried(claimed_row(), 4), token(900)},
                        {from_the_future, {}}};
  for (const Case& c : cases) {
    const auto decision = rules::decide_damaged(c.row, command, token(1000));
    REQUIRE(decision);
    CHECK(decision->way == Way::dead);
    CHECK(decision->next == c.row);
    CHECK(decision->entry == LedgerEntry{.kind = RecordKind::delivery_dead,
                                         .resource = resource(),
                                         .token = c.told,
                                         .state = ActionState::quarantined,
                                         .subject = 40,
                                         .actor = "relay",
                                         .detail = "damaged"});
  }
}

TEST_CASE("a delivery whose age does not fit its clock is not taken for old") {
  DeliveryRow from_the_future = ready_row();
  from_the_future.born = Instant::max();
  const auto decision = claim(from_the_future);
  REQUIRE(decision);
  CHECK(decision->way == Way::keep);
  DeliveryRow ancient = ready_row();
  ancient.born = Instant::min();
  const auto dead = claim(ancient);
  REQUIRE(dead);
  CHECK(dead->way == Way::dead);
}

TEST_CASE("a claim's token is greater than that of the claim before") {
  for (const FencingToken issued : {token(899), token(900), FencingToken{}}) {
    CHECK(refusal(decide_claim(claimed_row(), command, delivery_policy, issued, at(110s))) ==
          Errc::invariant_violated);
  }
  CHECK(refusal(decide_claim(ready_row(), command, delivery_policy, {}, at())) ==
        Errc::invariant_violated);
  CHECK(decide_claim(claimed_row(), command, delivery_policy, token(901), at(110s)));
}

TEST_CASE("a claim may last for ever") {
  const auto decision = decide_claim(ready_row(), {holder("relay"), Duration::max()},
                                     delivery_policy, token(1000), at());
  REQUIRE(decision);
  CHECK(decision->next.due == Instant::max());
}
