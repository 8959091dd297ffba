#include "rules_support.hpp"
#include "wallock/rules/breaker_rules.hpp"

using namespace wallock;
using namespace wallock::test;
using rules::BeginRecoveryCommand;
using rules::CompleteRecoveryCommand;
using rules::decide_begin_recovery;
using rules::decide_complete_recovery;
using rules::ResourceState;

namespace {

BeginRecoveryCommand begin() {
  return BeginRecoveryCommand{
      .resource = resource(), .holder = holder("ben"), .instance = second_instance, .ttl = 5s};
}

CompleteRecoveryCommand complete(bool recovered, std::string evidence = "ping answered") {
  return CompleteRecoveryCommand{.resource = resource(),
                                 .token = token(600),
                                 .verdict = {recovered, std::move(evidence)},
                                 .actor = "ann"};
}

}  // namespace

TEST_CASE("begin_recovery grants the one probe once the interval is over") {
  CHECK(refusal(decide_begin_recovery(tripped_with(open_row()), begin(), policy, at(105s - 1ns))) ==
        Errc::recovery_not_due);
  const auto probe = decide_begin_recovery(tripped_with(open_row()), begin(), policy, at(105s));
  REQUIRE(probe);
  const ProbeGrant grant{token(1000), holder("ben"), second_instance, boot(110s)};
  CHECK(probe->grant == grant);
  ResourceState expected = tripped_with(open_row());
  expected.issued = token(1000);
  expected.max_fence = token(1000);
  expected.breaker->state = BreakerState::probing;
  expected.breaker->since = boot(105s);
  expected.breaker->probe = grant;
  CHECK(probe->change.next == expected);
  REQUIRE(probe->change.entries.size() == 1);
  CHECK(probe->change.entries[0] == LedgerEntry{.kind = RecordKind::probe_granted,
                                                .resource = resource(),
                                                .token = token(1000),
                                                .until = boot(110s),
                                                .actor = "ben"});
}

TEST_CASE("begin_recovery refuses with what the caller needs to know") {
  struct Case {
    BreakerRow row;
    rules::Moment now;
    Error expected;
  };
  const Case cases[] = {
      {BreakerRow{}, at(), Error(Errc::breaker_not_open, {.resource = "account-1"})},
      {open_row(), at(),
       Error(Errc::recovery_not_due, {.resource = "account-1", .retry_at = boot(105s)})},
      {open_row(), at(9s, 1000, epoch + 1),
       Error(Errc::recovery_not_due, {.resource = "account-1", .retry_at = boot(10s)})},
      {forced_row(), at(1h),
       Error(Errc::breaker_open, {.field = "forced", .resource = "account-1"})},
      {probing_row(), at(107s),
       Error(Errc::lease_held, {.resource = "account-1", .holder = "ann", .retry_at = boot(116s)})},
      // The probe's time is over, the longer interval after it is not.
      {probing_row(), at(116s),
       Error(Errc::recovery_not_due, {.resource = "account-1", .retry_at = boot(136s)})},
      {probing_row(), at(19s, 1000, epoch + 1),
       Error(Errc::recovery_not_due, {.resource = "account-1", .retry_at = boot(20s)})},
  };
  for (const Case& c : cases) {
    const auto refused = decide_begin_recovery(tripped_with(c.row), begin(), policy, c.now);
    REQUIRE_FALSE(refused);
    CHECK(refused.error() == c.expected);
  }
}

TEST_CASE("case B4: while one probe lives nobody is granted another, its own holder included") {
  BeginRecoveryCommand again = begin();
  again.holder = holder();
  again.instance = first_instance;
  const auto state = tripped_with(probing_row());
  CHECK(refusal(decide_begin_recovery(state, again, policy, at(107s))) == Errc::lease_held);
  CHECK(refusal(decide_begin_recovery(state, begin(), policy, at(116s - 1ns))) == Errc::lease_held);
}

TEST_CASE("case B1: after a lost probe the next one follows, and the loss is recorded") {
  struct Case {
    rules::Moment now;
    FencingToken expected;
  };
  const Case cases[] = {{at(136s), token(1001)},
                        {at(20s, 1000, epoch + 1), token(1001, epoch + 1)}};
  for (const Case& c : cases) {
    const auto probe = decide_begin_recovery(tripped_with(probing_row()), begin(), policy, c.now);
    REQUIRE(probe);
    // The grant is the second record of its transaction, and its token says so.
    CHECK(probe->grant.token == c.expected);
    REQUIRE(kinds(probe->change) == Kinds{RecordKind::probe_failed, RecordKind::probe_granted});
    CHECK(probe->change.entries[0].token == token(600));
    CHECK(probe->change.entries[0].actor.empty());
    CHECK(probe->change.entries[1].token == c.expected);
    CHECK(probe->change.next.breaker->failed_probes == 1);
    CHECK(probe->change.next.breaker->interval == 20s);
    CHECK(probe->change.next.breaker->epoch == c.now.epoch);
    CHECK(probe->change.next.breaker->since == c.now.now);
    CHECK(is_legal(*probe->change.next.breaker));
  }
}

TEST_CASE("case B13: a restart does not make a probe due before its interval") {
  const auto state = tripped_with(open_row());
  CHECK(refusal(decide_begin_recovery(state, begin(), policy, at(95s + 1ms))) ==
        Errc::recovery_not_due);
  CHECK(refusal(decide_begin_recovery(state, begin(), policy, at(1ms, 1000, epoch + 1))) ==
        Errc::recovery_not_due);
  CHECK(decide_begin_recovery(state, begin(), policy, at(10s, 1000, epoch + 1)));
}

TEST_CASE("begin_recovery ends a lease that a tripped row should not have had") {
  const auto probe =
      decide_begin_recovery(with_breaker(held(), open_row()), begin(), policy, at(105s));
  REQUIRE(probe);
  CHECK_FALSE(probe->change.next.tenure);
  CHECK(probe->change.next.max_fence == token(1000));
}

TEST_CASE("begin_recovery refuses to go beyond the number line or back on it") {
  const auto state = tripped_with(open_row());
  CHECK(refusal(decide_begin_recovery(state, begin(), policy,
                                      at(105s, FencingToken::max_position + 1))) ==
        Errc::invalid_token);
  CHECK(refusal(decide_begin_recovery(state, begin(), policy, at(105s, 500))) ==
        Errc::invariant_violated);
}

TEST_CASE("a probe may last for ever") {
  BeginRecoveryCommand endless = begin();
  endless.ttl = Duration::max();
  const auto probe = decide_begin_recovery(tripped_with(open_row()), endless, policy, at(105s));
  REQUIRE(probe);
  CHECK(probe->grant.expires_at == Instant::max());
}

TEST_CASE("INV-05 no commit ever passes under a probe's token") {
  const auto state = tripped_with(probing_row());
  const rules::CommitCommand commit{
      .resource = resource(), .token = token(600), .holder = holder()};
  CHECK(refusal(rules::decide_commit(state, commit, at(107s))) == Errc::breaker_open);
  const auto closed = decide_complete_recovery(state, complete(true), policy, at(107s));
  REQUIRE(closed);
  CHECK(refusal(rules::decide_commit(closed->next, commit, at(108s))) == Errc::stale_token);
}

TEST_CASE("complete_recovery closes the breaker and starts its counts anew") {
  ResourceState before = tripped_with(probing_row());
  before.breaker->failed_probes = 2;
  before.breaker->generation = 4;
  const auto change = decide_complete_recovery(before, complete(true), policy, at(116s - 1ns));
  REQUIRE(change);
  ResourceState expected = before;
  expected.breaker = BreakerRow{.generation = 4, .since = boot(116s - 1ns), .epoch = epoch};
  CHECK(change->next == expected);
  REQUIRE(change->entries.size() == 1);
  CHECK(change->entries[0] == LedgerEntry{.kind = RecordKind::breaker_recovered,
                                          .resource = resource(),
                                          .token = token(600),
                                          .actor = "ann",
                                          .detail = "ping answered"});
}

TEST_CASE("complete_recovery without success opens the breaker again for longer") {
  const auto change =
      decide_complete_recovery(tripped_with(probing_row()), complete(false), policy, at(110s));
  REQUIRE(change);
  ResourceState expected = tripped_with(probing_row());
  expected.breaker = open_row();
  expected.breaker->failed_probes = 1;
  expected.breaker->interval = 20s;
  expected.breaker->since = boot(110s);
  CHECK(change->next == expected);
  REQUIRE(kinds(*change) == Kinds{RecordKind::probe_failed});
  CHECK(change->entries[0].actor == "ann");
  CHECK(change->entries[0].detail == "ping answered");
}

TEST_CASE("INV-05 nothing but the living probe completes a recovery") {
  for (const bool recovered : {true, false}) {
    const auto refused = [&](const BreakerRow& row, FencingToken presented,
                             const rules::Moment& now) {
      CompleteRecoveryCommand command = complete(recovered);
      command.token = presented;
      return refusal(decide_complete_recovery(tripped_with(row), command, policy, now));
    };
    CHECK_FALSE(refused(probing_row(), token(600), at(107s)));
    CHECK(refused(probing_row(), token(600), at(116s)) == Errc::probe_lost);
    CHECK(refused(probing_row(), token(600), at(107s, 1000, epoch + 1)) == Errc::probe_lost);
    CHECK(refused(probing_row(), token(599), at(107s)) == Errc::probe_lost);
    CHECK(refused(probing_row(), token(601), at(107s)) == Errc::probe_lost);
    CHECK(refused(probing_row(), {}, at(107s)) == Errc::probe_lost);
    CHECK(refused(open_row(), token(600), at(1h)) == Errc::probe_lost);
    CHECK(refused(open_row(), {}, at(1h)) == Errc::probe_lost);
    CHECK(refused(forced_row(), token(600), at(107s)) == Errc::probe_lost);
    CHECK(refused(BreakerRow{}, token(600), at(107s)) == Errc::probe_lost);
  }
}

TEST_CASE("INV-05 closing wants evidence of 1 to 1024 bytes of UTF-8") {
  struct Case {
    std::string evidence;
    bool closes;
    bool fails;
  };
  const Case cases[] = {
      {"", false, true},
      {"x", true, true},
      {std::string(1024, 'x'), true, true},
      {std::string(1025, 'x'), false, false},
      {"\xff", false, false},
      {std::string("a\0b", 3), false, false},
  };
  const auto state = tripped_with(probing_row());
  for (const Case& c : cases) {
    CAPTURE(c.evidence.size());
    const auto closed =
        decide_complete_recovery(state, complete(true, c.evidence), policy, at(107s));
    const auto failed =
        decide_complete_recovery(state, complete(false, c.evidence), policy, at(107s));
    CHECK(closed.has_value() == c.closes);
    CHECK(failed.has_value() == c.fails);
    for (const auto* decision : {&closed, &failed}) {
      if (*decision) continue;
      CHECK(decision->error() ==
            Error(Errc::invalid_evidence, {.field = "evidence", .limit = 1024}));
    }
  }
}

TEST_CASE("INV-05 recovery of a missing or illegal breaker row is refused") {
  for (const auto& row : illegal_rows()) {
    const auto state = with_breaker(tripped_with(probing_row()), row);
    CHECK(refusal(decide_begin_recovery(state, begin(), policy, at(1h))) == Errc::breaker_illegal);
    CHECK(refusal(decide_complete_recovery(state, complete(true), policy, at(107s))) ==
          Errc::breaker_illegal);
  }
}
