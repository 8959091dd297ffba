// The epoch: raised once by whatever may have taken moments back, and what it ends.
#include "repository_support.hpp"

namespace wallock::test {

TEST_CASE("another boot id raises the epoch once and ends all leases and claims (L16)") {
  TempStore at;
  auto options = quick_to_trip(at.options());
  Lease lease = [&] {
    auto store = at.open(options);
    REQUIRE(answer(store.execute("sent", {sent("a"), sent("b")})) == "ok");
    REQUIRE(store.claim({.destination = "bank", .ttl = 24h}).value().size() == 1);
    return store.acquire("r", by("ann", 24h)).value();
  }();
  at.clock->reboot("boot-2");
  auto store = at.open(options);
  auto other = at.open(options);
  const auto health = store.health().value();
  CHECK(health.epoch == 2);
  const auto last = store.audit({.from = health.ledger_size - 1}).value().front();
  CHECK(last.entry().kind == RecordKind::epoch_raised);
  CHECK(last.entry().detail == "reboot");
  CHECK(other.health().value().ledger_size == health.ledger_size);

  CHECK(store.leases().value().empty());
  CHECK(answer(store.commit(lease, recorded("c"))) == "stale_token");
  CHECK(answer(store.renew(lease, 30s)) == "lease_expired");
  const auto next = store.acquire("r", by("bob")).value();
  CHECK(next.token() > lease.token());
  CHECK(next.token().epoch() == 2);
  const auto claimed = store.claim({.destination = "bank", .limit = 10}).value();
  REQUIRE(claimed.size() == 1);
  CHECK(claimed[0].attempt() == 2);
  CHECK(claimed[0].claim_token().epoch() == 2);
  CHECK(verdict(store) == "UNANCHORED");
}

TEST_CASE("a reboot keeps an open breaker open, and starts its interval anew (B13, B20)") {
  TempStore at;
  const auto options = quick_to_trip(at.options());
  std::optional<Probe> probe;
  {
    auto store = at.open(options);
    const auto lease = store.acquire("r", by("ann")).value();
    REQUIRE(effect(store.report(lease, DownstreamOutcome::timeout)) == "tripped");
    at.clock->advance(10s);
    probe = store.begin_recovery("r", {.ttl = 24h}).value();
  }
  at.clock->reboot("boot-2", Instant(1s));
  auto store = at.open(options);
  CHECK(answer(store.acquire("r")) == "breaker_open");
  CHECK(answer(store.complete_recovery(*probe, {true, "late"})) == "probe_lost");
  CHECK(answer(store.begin_recovery("r")) == "recovery_not_due");
  at.clock->advance(18s);
  CHECK(answer(store.begin_recovery("r")) == "recovery_not_due");
  at.clock->advance(1s);  // twice the first interval since the boot
  CHECK(answer(store.begin_recovery("r")) == "ok");
}

TEST_CASE("a restored copy that is adopted fences the time that was lost") {
  TempStore at;
  const auto copy = at.folder.file("copy.db");
  {
    auto store = at.open();
    REQUIRE(answer(store.execute("r", recorded("kept"))) == "ok");
    at.raw().must("VACUUM INTO '" + copy + "'");
  }
  Lease lost = [&] {
    auto store = at.open();
    REQUIRE(answer(store.execute("r", recorded("lost"))) == "ok");
    return store.acquire("r", by("ann", 24h)).value();
  }();
  write_file(at.path(), read_file(copy));
  {
    auto options = at.options();
    options.adopt_restored = true;
    auto store = at.open(options);
    CHECK(store.health().value().epoch == 2);
    CHECK(store.audit().value().back().entry().detail == "restored");
  }
  auto store = at.open();
  CHECK(store.health().value().epoch == 2);
  CHECK(answer(store.commit(lost, recorded("x"))) == "unknown_token");
  const auto lease = store.acquire("r", by("bob")).value();
  CHECK(lease.token() > lost.token());
  CHECK(answer(store.commit(lost, recorded("x"))) == "stale_token");
  CHECK(verdict(store) == "UNANCHORED");
}

TEST_CASE("a running process goes on in the epoch that another one raised") {
  TempStore at;
  auto store = at.open();
  const auto lease = store.acquire("r", by("ann")).value();
  auto options = at.options();
  options.adopt_restored = true;
  {
    auto adopting = at.open(options);
  }
  CHECK(answer(store.commit(lease, recorded("a"))) == "stale_token");
  CHECK(store.acquire("r", by("ann")).value().token().epoch() == 2);
  CHECK(verdict(store) == "UNANCHORED");
}

TEST_CASE("without a boot id nothing is left to ride with a later flush") {
  TempStore at;
  at.clock = std::make_shared<ManualClock>(Instant(1h), WallTime{}, std::nullopt);
  auto options = at.options();
  options.durability = Durability::commits;
  {
    auto store = at.open(options);
    CHECK(store.health().value().durability == Durability::every_answer);
    CHECK_FALSE(store.health().value().has_boot_id);
  }
  CHECK(at.open(options).health().value().epoch == 1);
  options.durability = Durability::relaxed;
  CHECK(at.open(options).health().value().durability == Durability::relaxed);
  at.clock = std::make_shared<ManualClock>();
  CHECK(at.open().health().value().epoch == 2);
}

TEST_CASE("INV-01 an epoch that is none, or that fell, lets no old token write") {
  TempStore at;
  auto store = at.open();
  const auto lease = store.acquire("r", by("ann")).value();
  const auto epoch = GENERATE(as<std::string>(), "1048576", "9223372036854775807", "-1", "0");
  CAPTURE(epoch);
  at.raw().must(
      "PRAGMA ignore_check_constraints = 1; DROP TRIGGER wallock_meta_epoch_never_falls; "
      "UPDATE wallock_meta SET epoch = " +
      epoch);
  const bool fell = epoch == "0";
  CHECK(answer(store.commit(lease, sent("a"))) == (fell ? "stale_token" : "store_corrupt"));
  if (fell) return;
  CHECK(answer(store.health()) == "store_corrupt");
  CHECK(answer(store.leases()) == "store_corrupt");
  CHECK(answer(Coordinator::open(at.path(), at.options())) == "store_corrupt");
}

TEST_CASE("an epoch that is used up is an error, and nothing wraps") {
  TempStore at;
  {
    auto store = at.open();
  }
  at.raw().must("UPDATE wallock_meta SET epoch = 1048575");
  {
    auto store = at.open();
    CHECK(store.acquire("r", by("ann")).value().token().epoch() == FencingToken::max_epoch);
  }
  at.clock->reboot("boot-2");
  CHECK(answer(Coordinator::open(at.path(), at.options())) == "invalid_token");
  CHECK(at.raw().text("SELECT epoch || boot_id FROM wallock_meta") == "1048575boot-1");
}

}  // namespace wallock::test
