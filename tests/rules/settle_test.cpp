#include <random>

#include "delivery_support.hpp"

using namespace wallock;
using namespace wallock::test;
using rules::decide_settle;
using rules::DeliveryRow;
using rules::SettleCommand;

namespace {

Result<rules::DeliveryDecision> settle(const std::optional<DeliveryRow>& row,
                                       DeliveryOutcome outcome, const rules::Moment& now = at(),
                                       FencingToken claim_token = token(900)) {
  return decide_settle(row, SettleCommand{claim_token, outcome}, delivery_policy, 0, now);
}

LedgerEntry entry(RecordKind kind, ActionState state, std::string detail = {}) {
  return LedgerEntry{.kind = kind,
                     .resource = resource(),
                     .token = token(900),
                     .state = state,
                     .subject = 40,
                     .detail = std::move(detail)};
}

const DeliveryOutcome every_outcome[] = {DeliveryOutcome::delivered(), DeliveryOutcome::retry(),
                                         DeliveryOutcome::reject()};

}  // namespace

TEST_CASE("a delivered action is sealed and leaves the outbox") {
  const auto decision = settle(claimed_row(), DeliveryOutcome::delivered());
  REQUIRE(decision);
  CHECK(decision->way == Way::sealed);
  CHECK(decision->entry == entry(RecordKind::delivery_sealed, ActionState::sealed));
}

TEST_CASE("a delivered action is sealed whatever its attempts and its age") {
  const auto decision = settle(tried(claimed_row(), 3), DeliveryOutcome::delivered(), at(1000h));
  REQUIRE(decision);
  CHECK(decision->way == Way::sealed);
}

TEST_CASE("a rejected action is quarantined at once") {
  const auto decision = settle(claimed_row(), DeliveryOutcome::reject());
  REQUIRE(decision);
  CHECK(decision->way == Way::dead);
  CHECK(decision->entry == entry(RecordKind::delivery_dead, ActionState::quarantined, "rejected"));
}

TEST_CASE("a retried delivery waits for its next attempt and gives its claim back") {
  const auto decision = settle(claimed_row(), DeliveryOutcome::retry(7s));
  REQUIRE(decision);
  CHECK(decision->way == Way::keep);
  CHECK(decision->next == DeliveryRow{.position = 40,
                                      .resource = resource(),
                                      .born = boot(50s),
                                      .due = boot(107s),
                                      .attempt = 1});
  CHECK(decision->entry == entry(RecordKind::delivery_retried, ActionState::executing));
}

TEST_CASE("a retry waits as long as the receiver asked, else for the backoff") {
  const auto due = [](std::optional<Duration> retry_after, std::uint64_t random) {
    const SettleCommand command{token(900), DeliveryOutcome::retry(retry_after)};
    return decide_settle(tried(claimed_row(), 2), command, delivery_policy, random, at())
        .value()
        .next.due;
  };
  CHECK(due(0s, 12345) == boot(100s));
  CHECK(due(5min, 12345) == boot(400s));
  CHECK(due(24h, 0) == boot(100s) + 24h);
  CHECK(due(25h, 0) == boot(100s) + 24h);
  CHECK(due(-1s, 0) == boot(100s));
  CHECK(due(std::nullopt, 0) == boot(100s));
  CHECK(due(std::nullopt, 2'000'000'000) == boot(102s));
}

TEST_CASE("a retry without attempts or age left takes the delivery out of the outbox") {
  struct Case {
    std::uint32_t attempt;
    Duration now;
    const char* reason;
  };
  const Case cases[] = {
      {2, 100s, nullptr},     {3, 100s, "max_attempts"},      {4, 100s, "max_attempts"},
      {1, 50s + 1h, nullptr}, {1, 50s + 1h + 1ns, "max_age"},
  };
  for (const Case& c : cases) {
    const auto decision =
        settle(tried(claimed_row(), c.attempt), DeliveryOutcome::retry(0s), at(c.now));
    REQUIRE(decision);
    CHECK(decision->way == (c.reason ? Way::dead : Way::keep));
    if (c.reason) {
      CHECK(decision->entry ==
            entry(RecordKind::delivery_dead, ActionState::quarantined, c.reason));
    }
  }
}

TEST_CASE("case O13: a settlement counts as long as its claim is the row's own") {
  // Past the end of the claim, but nobody else claimed.
  for (const auto& outcome : every_outcome)
    CHECK(settle(claimed_row(), outcome, at(120s)));
  for (const auto& outcome : every_outcome) {
    const auto refused = [&](const std::optional<DeliveryRow>& row, FencingToken claim_token) {
      return refusal(settle(row, outcome, at(), claim_token));
    };
    CHECK(refused(std::nullopt, token(900)) == Errc::claim_lost);
    CHECK(refused(claimed_row(), token(899)) == Errc::claim_lost);
    CHECK(refused(claimed_row(), token(901)) == Errc::claim_lost);
    CHECK(refused(ready_row(), token(900)) == Errc::claim_lost);
    CHECK(refused(ready_row(), {}) == Errc::claim_lost);
    CHECK(refused(blocked_row(), {}) == Errc::claim_lost);
    const auto again = settle(claimed_row(), DeliveryOutcome::retry(0s));
    REQUIRE(again);
    CHECK(refused(again->next, token(900)) == Errc::claim_lost);
  }
  CHECK(settle(std::nullopt, DeliveryOutcome::delivered()).error().facts().token == token(900));
}

TEST_CASE("case O16: a late settlement is fenced by the claim that came after") {
  const auto taken = rules::decide_claim(claimed_row(), {holder("relay"), 30s}, delivery_policy,
                                         token(1000), at(110s));
  REQUIRE(taken);
  for (const auto& outcome : every_outcome) {
    CHECK(refusal(settle(taken->next, outcome, at(111s))) == Errc::claim_lost);
    CHECK(settle(taken->next, outcome, at(111s), token(1000)));
  }
}

TEST_CASE("the backoff is full jitter over a doubling time, held at its cap") {
  struct Case {
    std::uint32_t attempt;
    Duration most;
  };
  const Case cases[] = {{0, 1s},  {1, 1s},     {2, 2s},
                        {3, 4s},  {4, 8s},     {5, 10s},
                        {6, 10s}, {1000, 10s}, {std::numeric_limits<std::uint32_t>::max(), 10s}};
  for (const Case& c : cases) {
    CAPTURE(c.attempt);
    const auto most = static_cast<std::uint64_t>(c.most.count());
    CHECK(rules::backoff(delivery_policy, c.attempt, 0) == 0s);
    CHECK(rules::backoff(delivery_policy, c.attempt, most) == c.most);
    CHECK(rules::backoff(delivery_policy, c.attempt, most + 1) == 0s);
    std::mt19937_64 random(c.attempt);
    Duration least_seen = Duration::max();
    Duration most_seen = Duration::zero();
    for (int i = 0; i < 1000; ++i) {
      const Duration wait = rules::backoff(delivery_policy, c.attempt, random());
      least_seen = std::min(least_seen, wait);
      most_seen = std::max(most_seen, wait);
    }
    CHECK(least_seen >= 0s);
    CHECK(least_seen < c.most / 50);
    CHECK(most_seen <= c.most);
    CHECK(most_seen > c.most - c.most / 50);
  }
}

TEST_CASE("INV-06 the outbox moves an action only along the transitions of its machine") {
  const auto legal = [](ActionState from, ActionState to) {
    for (const ActionTransition& transition : action_transitions) {
      if (transition.from == from && transition.to == to) return true;
    }
    return from == to && !is_terminal(from);
  };
  for (const std::uint32_t attempt : {0U, 1U, 2U, 3U, 4U}) {
    const ActionState from = attempt == 0 ? ActionState::validated : ActionState::executing;
    for (const DeliveryRow& row : {ready_row(), blocked_row(), claimed_row()}) {
      for (const auto now : {at(), at(110s), at(1000h)}) {
        CAPTURE(attempt, now.now.time_since_epoch().count());
        const auto claimed = rules::decide_claim(tried(row, attempt), {holder("relay"), 30s},
                                                 delivery_policy, token(1000), now);
        if (claimed) CHECK(legal(from, claimed->entry.state.value()));
        for (const auto& outcome : every_outcome) {
          const auto settled = settle(tried(row, attempt), outcome, now);
          if (settled) CHECK(legal(from, settled->entry.state.value()));
        }
      }
    }
  }
}

TEST_CASE("INV-06 a delivery that was never claimed is neither sealed nor tried again") {
  const DeliveryRow impossible = tried(claimed_row(), 0);
  CHECK(refusal(settle(impossible, DeliveryOutcome::delivered())) == Errc::invariant_violated);
  CHECK(refusal(settle(impossible, DeliveryOutcome::retry())) == Errc::invariant_violated);
  CHECK(settle(impossible, DeliveryOutcome::reject()));
}

TEST_CASE("INV-10 every delivery leaves the outbox within its attempts, whatever happens to it") {
  const std::uint64_t seed = 20260401;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int run = 0; run < 2000; ++run) {
    DeliveryRow row = ready_row();
    rules::Moment now = at();
    Way way = Way::keep;
    std::uint32_t claims = 0;
    for (int step = 0; way == Way::keep; ++step) {
      REQUIRE(step < 8);
      now.now = std::max(now.now, row.due);
      now.position += 10;
      const auto claimed = rules::decide_claim(row, {holder("relay"), 30s}, delivery_policy,
                                               token(now.position), now);
      REQUIRE(claimed);
      way = claimed->way;
      row = claimed->next;
      if (way != Way::keep) break;
      ++claims;
      if (random() % 3 == 0) continue;  // the relay died; its claim runs out
      const auto& outcome = every_outcome[random() % 3];
      const auto settled =
          decide_settle(row, {row.claim_token, outcome}, delivery_policy, random(), now);
      REQUIRE(settled);
      way = settled->way;
      row = settled->next;
    }
    CHECK(claims <= delivery_policy.max_attempts);
    CHECK(row.attempt == claims);
  }
}
