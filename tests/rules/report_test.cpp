#include "rules_support.hpp"
#include "wallock/rules/breaker_rules.hpp"
#include "wallock/rules/lease_rules.hpp"

using namespace wallock;
using namespace wallock::test;
using rules::decide_report;
using rules::ReportCommand;
using rules::ResourceState;

namespace {

ReportCommand report(DownstreamOutcome outcome) {
  return ReportCommand{
      .resource = resource(), .token = token(500), .outcome = outcome, .actor = "ann"};
}

ResourceState held_after(std::uint32_t timeouts) {
  ResourceState state = held();
  state.breaker->timeouts = timeouts;
  return state;
}

LedgerEntry entry(RecordKind kind) {
  return LedgerEntry{.kind = kind, .resource = resource(), .token = token(500), .actor = "ann"};
}

constexpr DownstreamOutcome every_outcome[] = {
    DownstreamOutcome::success, DownstreamOutcome::timeout, DownstreamOutcome::failure,
    DownstreamOutcome::cancelled};

}  // namespace

TEST_CASE("timeouts count up to the one that trips") {
  const auto counted =
      decide_report(held_after(1), report(DownstreamOutcome::timeout), policy, at());
  REQUIRE(counted);
  CHECK(counted->effect == ReportEffect::counted);
  CHECK(counted->change.next == held_after(2));
  CHECK(counted->change.entries == std::vector{entry(RecordKind::timeout_reported)});
}

TEST_CASE("the last timeout trips the breaker, ends the lease and fences its token") {
  ResourceState before = held_after(2);
  before.breaker->generation = 4;
  const auto tripped = decide_report(before, report(DownstreamOutcome::timeout), policy, at());
  REQUIRE(tripped);
  CHECK(tripped->effect == ReportEffect::tripped);
  const ResourceState& next = tripped->change.next;
  CHECK(next.max_fence == token(500));
  CHECK(next.issued == token(500));
  CHECK_FALSE(next.tenure);
  CHECK(next.breaker == BreakerRow{.state = BreakerState::open,
                                   .timeouts = 3,
                                   .generation = 5,
                                   .interval = 10s,
                                   .since = boot(100s),
                                   .epoch = epoch});
  CHECK(tripped->change.entries == std::vector{entry(RecordKind::breaker_tripped)});
}

TEST_CASE("a trip happens at the policy's count, and above it if the policy was lowered") {
  for (const std::uint32_t trip_after : {1U, 2U, 5U}) {
    const BreakerPolicy own{.trip_after = trip_after};
    for (std::uint32_t before = 0; before < 8; ++before) {
      CAPTURE(trip_after, before);
      const auto decision =
          decide_report(held_after(before), report(DownstreamOutcome::timeout), own, at());
      REQUIRE(decision);
      CHECK((decision->effect == ReportEffect::tripped) == (before + 1 >= trip_after));
    }
  }
}

TEST_CASE("a count of timeouts does not wrap around") {
  constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  const auto decision =
      decide_report(held_after(most), report(DownstreamOutcome::timeout), policy, at());
  REQUIRE(decision);
  CHECK(decision->effect == ReportEffect::tripped);
  CHECK(decision->change.next.breaker->timeouts == most);
}

TEST_CASE("a success ends the row of timeouts, and is silent if there is none") {
  const auto cleared =
      decide_report(held_after(2), report(DownstreamOutcome::success), policy, at());
  REQUIRE(cleared);
  CHECK(cleared->effect == ReportEffect::cleared);
  CHECK(cleared->change.next == held_after(0));
  CHECK(cleared->change.entries == std::vector{entry(RecordKind::timeouts_cleared)});

  const auto none = decide_report(held_after(0), report(DownstreamOutcome::success), policy, at());
  REQUIRE(none);
  CHECK(none->effect == ReportEffect::none);
  CHECK(none->change.next == held_after(0));
  CHECK(none->change.entries.empty());
}

TEST_CASE("case B23: a failure or a cancellation is neutral") {
  for (const auto outcome : {DownstreamOutcome::failure, DownstreamOutcome::cancelled}) {
    for (const std::uint32_t timeouts : {0U, 2U}) {
      const auto decision = decide_report(held_after(timeouts), report(outcome), policy, at());
      REQUIRE(decision);
      CHECK(decision->effect == ReportEffect::none);
      CHECK(decision->change.next == held_after(timeouts));
      CHECK(decision->change.entries.empty());
    }
  }
}

TEST_CASE("a report counts after the end of a lease that nobody took") {
  const auto decision = decide_report(held(), report(DownstreamOutcome::timeout), policy, at(1h));
  REQUIRE(decision);
  CHECK(decision->effect == ReportEffect::counted);
}

TEST_CASE("case B5: a late report is recorded and changes nothing") {
  ResourceState spent = held_after(2);
  spent.max_fence = token(500);
  ResourceState superseded = held_after(2);
  superseded.issued = token(700);
  superseded.max_fence = token(699);
  struct Case {
    ResourceState state;
    rules::Moment now;
  };
  const Case cases[] = {
      {spent, at()},
      {superseded, at()},
      {held_after(2), at(1s, 1000, epoch + 1)},
      {tripped_with(open_row()), at()},
      {tripped_with(forced_row()), at()},
      {tripped_with(probing_row()), at(107s)},
      // Even under rows that failed to fence the lease.
      {with_breaker(held(), open_row()), at()},
      {with_breaker(held(), probing_row()), at(107s)},
  };
  for (const Case& c : cases) {
    for (const DownstreamOutcome outcome : every_outcome) {
      const auto decision = decide_report(c.state, report(outcome), policy, c.now);
      REQUIRE(decision);
      CHECK(decision->effect == ReportEffect::late);
      CHECK(decision->change.next == c.state);
      CHECK(decision->change.entries == std::vector{entry(RecordKind::outcome_late)});
    }
  }
}

TEST_CASE("case B5: a lease from before a trip says nothing about the time after recovery") {
  // Granted, tripped by others, recovered: the fence of the trip outlives the trip.
  ResourceState state = tripped_with(probing_row());
  state.breaker = BreakerRow{.generation = 1, .since = boot(110s), .epoch = epoch};
  for (const DownstreamOutcome outcome : every_outcome) {
    const auto decision = decide_report(state, report(outcome), policy, at(111s));
    REQUIRE(decision);
    CHECK(decision->effect == ReportEffect::late);
    CHECK(decision->change.next == state);
  }
}

TEST_CASE("a report under a token that was never issued is refused") {
  ReportCommand forged = report(DownstreamOutcome::timeout);
  forged.token = token(501);
  CHECK(refusal(decide_report(held(), forged, policy, at())) == Errc::unknown_token);
  CHECK(refusal(decide_report(rules::fresh_resource(), forged, policy, at())) ==
        Errc::unknown_token);
  forged.token = {};
  CHECK(refusal(decide_report(held(), forged, policy, at())) == Errc::invalid_token);
}

TEST_CASE("INV-05 a report on a missing or illegal breaker row is refused") {
  for (const auto& row : illegal_rows()) {
    for (const DownstreamOutcome outcome : every_outcome) {
      CHECK(refusal(decide_report(with_breaker(held(), row), report(outcome), policy, at())) ==
            Errc::breaker_illegal);
    }
  }
}
