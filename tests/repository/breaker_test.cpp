// The breaker on the file: it trips, stays, and closes only through a verified probe.
#include "repository_support.hpp"

namespace wallock::test {
namespace {

// The breaker's row as the file has it, every column.
std::string row_of(RawDatabase& raw, const std::string& resource = "r") {
  return raw.text(
      "SELECT concat FROM (SELECT state || ' ' || forced || ' ' || timeouts || ' ' || generation "
      "|| ' ' || failed_probes || ' ' || interval_ns || ' ' || since_at || ' ' || epoch || ' ' || "
      "ifnull(probe_token, '-') AS concat FROM wallock_breakers WHERE resource = '" +
      resource + "')");
}

// A tripped resource; its lease was ann's.
struct Tripped {
  TempStore at;
  Coordinator store = at.open(quick_to_trip(at.options()));
  Lease lease = store.acquire("r", by("ann")).value();
  Tripped() { REQUIRE(effect(store.report(lease, DownstreamOutcome::timeout)) == "tripped"); }
};

}  // namespace

TEST_CASE("timeouts in a row trip the breaker, and a success ends the row") {
  TempStore at;
  auto options = at.options();
  options.breaker.trip_after = 3;
  auto store = at.open(options);
  const auto lease = store.acquire("r", by("ann")).value();
  News news(store);
  using enum DownstreamOutcome;
  CHECK(effect(store.report(lease, success)) == "none");
  CHECK(effect(store.report(lease, failure)) == "none");
  CHECK(effect(store.report(lease, cancelled)) == "none");
  CHECK(news() == "-");
  CHECK(effect(store.report(lease, timeout)) == "counted");
  CHECK(effect(store.report(lease, timeout)) == "counted");
  CHECK(news() == "timeout_reported timeout_reported");
  CHECK(store.breaker("r").value().timeouts() == 2);
  CHECK(effect(store.report(lease, success)) == "cleared");
  CHECK(news() == "timeouts_cleared");
  CHECK(effect(store.report(lease, timeout)) == "counted");
  auto other = at.open(options);  // the count is the file's, not the process's (B8)
  CHECK(effect(other.report(lease, timeout)) == "counted");
  CHECK(effect(store.report(lease, timeout)) == "tripped");
  CHECK(news() == "timeout_reported timeout_reported breaker_tripped");
  CHECK(store.breaker("r").value().state() == BreakerState::open);
}

TEST_CASE(
    "INV-05 an open breaker grants nothing, lets nothing through and closes only by a probe") {
  Tripped t;
  News news(t.store);
  CHECK(answer(t.store.commit(t.lease, recorded("a"))) == "breaker_open");
  CHECK(answer(t.store.renew(t.lease, 30s)) == "lease_lost");
  CHECK(effect(t.store.release(t.lease)) == "already_ended");
  CHECK(answer(t.store.acquire("r", by("bob"))) == "breaker_open");
  CHECK(answer(t.store.execute("r", recorded("a"))) == "breaker_open");
  CHECK(news() == "-");
  CHECK(effect(t.store.report(t.lease, DownstreamOutcome::success)) == "late");
  CHECK(news() == "outcome_late");
  CHECK(answer(t.store.begin_recovery("r")) == "recovery_not_due");
  t.at.clock->advance(365 * 24h);  // no time closes it
  CHECK(answer(t.store.acquire("r", by("bob"))) == "breaker_open");
  CHECK(news() == "-");

  const auto probe = t.store.begin_recovery("r").value();
  CHECK(news() == "probe_granted");
  CHECK(t.store.breaker("r").value().state() == BreakerState::probing);
  CHECK(answer(t.store.begin_recovery("r")) == "lease_held");
  CHECK(answer(t.store.acquire("r", by("bob"))) == "breaker_open");
  const auto with_probe = Lease::create({.resource = t.lease.resource(),
                                         .token = probe.token(),
                                         .holder = probe.holder(),
                                         .instance = t.lease.instance(),
                                         .requested_at = t.at.clock->now(),
                                         .granted_at = t.at.clock->now(),
                                         .expires_at = probe.expires_at()})
                              .value();
  CHECK(answer(t.store.commit(with_probe, recorded("a"))) == "breaker_open");
  CHECK(answer(t.store.complete_recovery(probe, {.recovered = true})) == "invalid_evidence");
  CHECK(news() == "-");
  CHECK(answer(t.store.complete_recovery(probe, {true, "ping answered in 3 ms"})) == "ok");
  CHECK(news() == "breaker_recovered");
  CHECK(answer(t.store.complete_recovery(probe, {true, "again"})) == "probe_lost");
  CHECK(answer(t.store.begin_recovery("r")) == "breaker_not_open");
  CHECK(answer(t.store.commit(with_probe, recorded("a"))) == "stale_token");
  CHECK(answer(t.store.commit(t.lease, recorded("a"))) == "stale_token");
  CHECK(answer(t.store.execute("r", recorded("a"))) == "ok");
}

TEST_CASE("a probe that fails or dies opens the breaker again for longer (B1)") {
  Tripped t;
  News news(t.store);
  t.at.clock->advance(10s);
  const auto probe = t.store.begin_recovery("r", {.ttl = 5s}).value();
  CHECK(news() == "probe_granted");
  SECTION("failed") {
    CHECK(answer(t.store.complete_recovery(probe, {.recovered = false, .evidence = "no answer"})) ==
          "ok");
    CHECK(news() == "probe_failed");
    CHECK(t.store.breaker("r").value().interval() == 20s);
    t.at.clock->advance(20s - 1ns);
    CHECK(answer(t.store.begin_recovery("r")) == "recovery_not_due");
    t.at.clock->advance(1ns);
    CHECK(answer(t.store.begin_recovery("r")) == "ok");
    CHECK(news() == "probe_granted");
  }
  SECTION("died") {
    t.at.clock->advance(5s);
    CHECK(t.store.breaker("r").value().state() == BreakerState::open);
    CHECK(t.store.breaker("r").value().failed_probes() == 1);
    CHECK(answer(t.store.complete_recovery(probe, {true, "too late"})) == "probe_lost");
    CHECK(answer(t.store.begin_recovery("r")) == "recovery_not_due");
    CHECK(news() == "-");
    t.at.clock->advance(20s);
    CHECK(answer(t.store.begin_recovery("r")) == "ok");
    CHECK(news() == "probe_failed probe_granted");
  }
}

TEST_CASE("reports of work begun before a trip change nothing (B5)") {
  Tripped t;
  auto raw = t.at.raw();
  t.at.clock->advance(10s);
  const auto probe = t.store.begin_recovery("r").value();
  REQUIRE(answer(t.store.complete_recovery(probe, {true, "ok"})) == "ok");
  const auto second = t.store.acquire("r", by("bob")).value();
  REQUIRE(effect(t.store.report(second, DownstreamOutcome::timeout)) == "tripped");
  const auto before = row_of(raw);
  CHECK(before.starts_with("1 0 1 2 0 "));
  News news(t.store);
  using enum DownstreamOutcome;
  for (const auto outcome : {success, failure, timeout, cancelled})
    CHECK(effect(t.store.report(t.lease, outcome)) == "late");
  CHECK(row_of(raw) == before);
  CHECK(news() == "outcome_late outcome_late outcome_late outcome_late");
}

TEST_CASE("an open breaker is the same after a restart of the process (B8, B13, B16)") {
  Tripped t;
  auto raw = t.at.raw();
  const bool forced = GENERATE(false, true);
  if (forced) REQUIRE(answer(t.store.force_open("r", "maintenance")) == "ok");
  const auto before = row_of(raw);
  t.at.clock->advance(1ms);
  for (int i = 0; i < 10; ++i) {
    auto restarted = t.at.open(quick_to_trip(t.at.options()));
    CHECK(answer(restarted.acquire("r", by("ann"))) == "breaker_open");
    CHECK(answer(restarted.begin_recovery("r")) == (forced ? "breaker_open" : "recovery_not_due"));
    CHECK(verdict(restarted) == "UNANCHORED");
  }
  CHECK(row_of(raw) == before);
  t.at.clock->advance(10s);
  CHECK(answer(t.store.begin_recovery("r")) == (forced ? "breaker_open" : "ok"));
}

TEST_CASE("a forced breaker stays open until the force is cleared and a probe succeeds (B16)") {
  TempStore at;
  auto store = at.open(quick_to_trip(at.options()));
  const auto lease = store.acquire("r", by("ann")).value();
  News news(store);
  CHECK(answer(store.force_open("r", "maintenance")) == "ok");
  CHECK(answer(store.force_open("r", "again")) == "ok");
  CHECK(news() == "forced_open");
  CHECK(answer(store.commit(lease, recorded("a"))) == "breaker_open");
  CHECK(effect(store.report(lease, DownstreamOutcome::success)) == "late");
  at.clock->advance(24h);
  CHECK(answer(store.begin_recovery("r")) == "breaker_open");
  CHECK(store.breaker("r").value().forced());
  CHECK(news() == "outcome_late");
  CHECK(answer(store.clear_forced("r")) == "ok");
  CHECK(answer(store.clear_forced("r")) == "ok");
  CHECK(news() == "forced_cleared");
  CHECK(answer(store.acquire("r", by("bob"))) == "breaker_open");
  const auto probe = store.begin_recovery("r").value();
  CHECK(answer(store.force_open("r", "once more")) == "ok");
  CHECK(answer(store.complete_recovery(probe, {true, "fine"})) == "probe_lost");
  CHECK(answer(store.force_open("fresh", "never used")) == "ok");
  CHECK(answer(store.acquire("fresh")) == "breaker_open");
}

TEST_CASE("a resource that nothing was reported of shows CLOSED, known or not") {
  TempStore at;
  auto store = at.open();
  CHECK(store.breaker("r").value().state() == BreakerState::closed);
  REQUIRE(answer(store.acquire("r", by("ann"))) == "ok");
  CHECK(store.breaker("r").value().state() == BreakerState::closed);
}

TEST_CASE("INV-05 a missing or illegal breaker row never reads as closed (B10, B11)") {
  TempStore at;
  auto store = at.open(quick_to_trip(at.options()));
  const auto lease = store.acquire("r", by("ann")).value();
  REQUIRE(answer(store.execute("s", sent("s1"))) == "ok");
  REQUIRE(answer(store.commit(lease, sent("a"), {}, {.after = AfterCommit::nothing})) == "ok");
  auto raw = at.raw();
  raw.must(told_of_breakers);
  raw.must("UPDATE wallock_breakers SET generation = 5");  // it has tripped before
  raw.must("PRAGMA ignore_check_constraints = 1");
  const std::string spoiled = GENERATE(
      as<std::string>(), "DELETE FROM wallock_breakers", "UPDATE wallock_breakers SET state = 3",
      "DROP TRIGGER wallock_resources_breaker_stays; UPDATE wallock_resources SET has_breaker = 0",
      "UPDATE wallock_breakers SET state = -1", "UPDATE wallock_breakers SET forced = 1",
      "UPDATE wallock_breakers SET interval_ns = 1",
      "UPDATE wallock_breakers SET failed_probes = 1", "UPDATE wallock_breakers SET timeouts = -1",
      "UPDATE wallock_breakers SET timeouts = 4294967296",
      "UPDATE wallock_breakers SET failed_probes = 4294967296",
      "UPDATE wallock_breakers SET probe_token = 1, probe_holder = 'x', probe_instance = 1, "
      "probe_expires_at = 1",
      "UPDATE wallock_breakers SET probe_token = 1");
  CAPTURE(spoiled);
  raw.must(spoiled);
  const auto kept = store.breaker("r");
  CHECK(answer(kept) == "breaker_illegal");
  CHECK(answer(store.acquire("r", by("bob"))) == "breaker_illegal");
  CHECK(answer(store.commit(lease, recorded("b"))) == "breaker_illegal");
  CHECK(answer(store.renew(lease, 30s)) == "breaker_illegal");
  CHECK(answer(store.execute("s", recorded("c"))) == "breaker_illegal");
  CHECK(answer(store.begin_recovery("r")) == "breaker_illegal");
  CHECK(answer(store.report(lease, DownstreamOutcome::timeout)) == "breaker_illegal");
  CHECK(answer(store.clear_forced("r")) == "breaker_illegal");
  CHECK(store.claim({.destination = "bank", .limit = 10}).value().empty());
  CHECK(effect(store.release(lease)) == "released");

  CHECK(answer(store.force_open("r", "row was lost")) == "ok");  // the way out
  CHECK(answer(store.acquire("r", by("bob"))) == "breaker_open");
  REQUIRE(answer(store.clear_forced("r")) == "ok");
  at.clock->advance(10s);
  const auto probe = store.begin_recovery("r").value();
  CHECK(answer(store.complete_recovery(probe, {true, "looked at it"})) == "ok");
  CHECK(answer(store.acquire("r", by("bob"))) == "ok");
}

TEST_CASE("INV-05 a breaker that lost its resource's row does not read as closed") {
  Tripped t;
  auto raw = t.at.raw();
  CHECK(raw.run("DELETE FROM wallock_resources") == "wallock: the row of an open breaker stays");
  raw.must("DROP TRIGGER wallock_resources_removed_with_breaker; DELETE FROM wallock_resources");
  CHECK(answer(t.store.breaker("r")) == "breaker_illegal");
  CHECK(answer(t.store.acquire("r", by("bob"))) == "breaker_illegal");
  CHECK(answer(t.store.execute("r", recorded("a"))) == "breaker_illegal");
  CHECK(answer(t.store.force_open("r", "row was lost")) == "ok");
  CHECK(answer(t.store.acquire("r", by("bob"))) == "breaker_open");
}

TEST_CASE("jumps of the wall clock change nothing (B14, L11, L13, O40)") {
  TempStore at;
  auto store = at.open(quick_to_trip(at.options()));
  const auto lease = store.acquire("held", by("ann")).value();
  const auto other = store.acquire("open", by("ann")).value();
  REQUIRE(effect(store.report(other, DownstreamOutcome::timeout)) == "tripped");
  REQUIRE(answer(store.execute("sent", sent("a"))) == "ok");
  const auto claimed = store.claim({.destination = "bank", .ttl = 30s}).value();
  REQUIRE(claimed.size() == 1);
  auto last = lease.token();
  for (const Duration jump : {Duration(-365 * 24h), Duration(-1h), Duration(-60s), Duration(60s),
                              Duration(1h), Duration(365 * 24h), Duration(50 * 365 * 24h)}) {
    at.clock->jump_wall(jump);
    CAPTURE(jump.count());
    CHECK(answer(store.acquire("held", by("bob"))) == "lease_held");
    CHECK(answer(store.begin_recovery("open")) == "recovery_not_due");
    CHECK(store.claim({.destination = "bank"}).value().empty());
    const auto next = store.acquire("r" + std::to_string(jump.count()), by("ann")).value();
    CHECK(next.token() > last);
    last = next.token();
  }
  CHECK(answer(store.commit(lease, recorded("b"))) == "ok");
  CHECK(effect(store.settle(claimed[0], DeliveryOutcome::delivered())) == "sealed");
}

}  // namespace wallock::test
