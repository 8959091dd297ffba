#include "rules_support.hpp"
#include "wallock/rules/breaker_rules.hpp"

using namespace wallock;
using namespace wallock::test;
using rules::decide_clear_forced;
using rules::decide_force_open;
using rules::ResourceState;

namespace {

rules::Change force(const ResourceState& state, const rules::Moment& now = at()) {
  return decide_force_open(state, resource(), "maintenance", policy, now);
}

}  // namespace

TEST_CASE("force_open opens a closed breaker, ends the lease and fences its token") {
  ResourceState before = held();
  before.breaker->generation = 4;
  before.breaker->timeouts = 2;
  const auto change = force(before);
  CHECK(change.next.max_fence == token(500));
  CHECK(change.next.issued == token(500));
  CHECK_FALSE(change.next.tenure);
  CHECK(change.next.breaker == BreakerRow{.state = BreakerState::open,
                                          .forced = true,
                                          .timeouts = 2,
                                          .generation = 5,
                                          .interval = 10s,
                                          .since = boot(100s),
                                          .epoch = epoch});
  REQUIRE(change.entries.size() == 1);
  CHECK(change.entries[0] == LedgerEntry{.kind = RecordKind::forced_open,
                                         .resource = resource(),
                                         .token = token(500),
                                         .detail = "maintenance"});
}

TEST_CASE("force_open keeps the interval of a breaker that is open already") {
  const auto change = force(tripped_with(open_row()));
  CHECK(change.next == tripped_with(forced_row()));
  CHECK(kinds(change) == Kinds{RecordKind::forced_open});
}

TEST_CASE("force_open cuts a living probe off without counting it as failed") {
  const auto change = force(tripped_with(probing_row()), at(107s));
  BreakerRow expected = forced_row();
  expected.since = boot(107s);
  CHECK(change.next.breaker == expected);
  CHECK(change.next.max_fence == token(600));
  CHECK(kinds(change) == Kinds{RecordKind::forced_open});
  CHECK(refusal(rules::decide_complete_recovery(
            change.next, {resource(), token(600), {true, "ping answered"}, "ann"}, policy,
            at(108s))) == Errc::probe_lost);
}

TEST_CASE("force_open makes the fall-back of a lost probe permanent, and records it") {
  const auto change = force(tripped_with(probing_row()), at(120s));
  BreakerRow expected = forced_row();
  expected.since = boot(116s);
  expected.failed_probes = 1;
  expected.interval = 20s;
  CHECK(change.next.breaker == expected);
  CHECK(kinds(change) == Kinds{RecordKind::probe_failed, RecordKind::forced_open});
}

TEST_CASE("force_open of a forced breaker changes nothing") {
  for (const auto now : {at(), at(1h), at(1s, 1000, epoch + 1)}) {
    const auto change = force(tripped_with(forced_row()), now);
    CHECK(change.next == tripped_with(forced_row()));
    CHECK(change.entries.empty());
  }
}

TEST_CASE("INV-05 force_open leads from a missing or illegal row to a legal forced one") {
  for (const auto& row : illegal_rows()) {
    const auto change = force(with_breaker(held(), row));
    REQUIRE(change.next.breaker);
    CHECK(is_legal(*change.next.breaker));
    CHECK(change.next.breaker->forced);
    CHECK(change.next.breaker->state == BreakerState::open);
    CHECK(change.next.breaker->generation == (row ? row->generation : 0) + 1);
    CHECK(change.next.max_fence == token(500));
    CHECK_FALSE(change.next.tenure);
    CHECK(kinds(change) == Kinds{RecordKind::forced_open});
  }
}

TEST_CASE("case B16: a forced breaker stays open until it is cleared, and then wants recovery") {
  const auto state = tripped_with(forced_row());
  const rules::BeginRecoveryCommand begin{resource(), holder(), first_instance, 5s};
  for (const auto now : {at(), at(1'000'000s), at(1h, 1000, epoch + 1)}) {
    CHECK(refusal(rules::decide_begin_recovery(state, begin, policy, now)) == Errc::breaker_open);
    CHECK(rules::effective(*state.breaker, policy, now) == *state.breaker);
  }
  const auto cleared = decide_clear_forced(state, resource(), at());
  REQUIRE(cleared);
  CHECK(cleared->next == tripped_with(open_row()));
  REQUIRE(cleared->entries.size() == 1);
  CHECK(cleared->entries[0] == LedgerEntry{.kind = RecordKind::forced_cleared,
                                           .resource = resource(),
                                           .token = token(500)});
  CHECK(rules::decide_begin_recovery(cleared->next, begin, policy, at(105s)));
}

TEST_CASE("clear_forced of a breaker that is not forced changes nothing") {
  for (const BreakerRow& row : {BreakerRow{}, open_row(), probing_row()}) {
    for (const auto now : {at(107s), at(1h), at(1s, 1000, epoch + 1)}) {
      const auto change = decide_clear_forced(with_breaker(held(), row), resource(), now);
      REQUIRE(change);
      CHECK(change->next == with_breaker(held(), row));
      CHECK(change->entries.empty());
    }
  }
}

TEST_CASE("INV-05 clear_forced of a missing or illegal breaker row is refused") {
  for (const auto& row : illegal_rows()) {
    CHECK(refusal(decide_clear_forced(with_breaker(held(), row), resource(), at())) ==
          Errc::breaker_illegal);
  }
}

TEST_CASE("a generation never wraps around to zero") {
  ResourceState before = held();
  before.breaker->generation = std::numeric_limits<std::uint64_t>::max();
  const auto change = force(before);
  CHECK(change.next.breaker->generation == std::numeric_limits<std::uint64_t>::max());
  CHECK(is_legal(*change.next.breaker));
}
