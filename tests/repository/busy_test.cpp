// A store that is locked: every wait ends at its deadline, and nothing is forgotten meanwhile.
#include "repository_support.hpp"

namespace wallock::test {

TEST_CASE("INV-10 every wait for the write lock ends at its deadline (O4)") {
  TempStore at;
  auto options = quick_to_trip(at.options());
  options.operation_timeout = 700ms;
  auto store = at.open(options);
  const auto lease = store.acquire("r", by("ann", 1h)).value();
  const auto tripped = store.acquire("open", by("ann", 1h)).value();
  REQUIRE(effect(store.report(tripped, DownstreamOutcome::timeout)) == "tripped");
  at.clock->advance(10s);
  REQUIRE(answer(store.execute("s", sent("a"))) == "ok");
  const auto delivery = store.claim({.destination = "bank"}).value().at(0);
  const auto probe = store.begin_recovery("open", {.ttl = 1h}).value();
  auto raw = at.raw();
  raw.must("BEGIN IMMEDIATE");
  News news(store);
  const auto waits = [&](auto operation) {
    const Instant before = at.clock->now();
    const auto result = operation();
    const Duration waited = at.clock->now() - before;
    CHECK(answer(result) == "busy");
    CHECK(waited >= 700ms);
    CHECK(waited <= 701ms);
  };
  waits([&] { return store.acquire("t"); });
  waits([&] { return store.renew(lease, 1h); });
  waits([&] { return store.commit(lease, recorded("b")); });
  waits([&] { return store.release(lease); });
  waits([&] { return store.execute("t", recorded("b")); });
  waits([&] { return store.report(lease, DownstreamOutcome::timeout); });
  waits([&] { return store.begin_recovery("open"); });
  waits([&] { return store.complete_recovery(probe, {true, "ok"}); });
  waits([&] { return store.force_open("r", "x"); });
  waits([&] { return store.clear_forced("r"); });
  waits([&] { return store.claim({.destination = "bank"}); });
  waits([&] { return store.settle(delivery, DeliveryOutcome::delivered()); });
  waits([&] { return store.revoke("r", lease.token(), "x"); });
  waits([&] { return Coordinator::open(at.path(), options); });
  CHECK(news() == "-");  // and readers are not kept waiting
  raw.must("ROLLBACK");
  CHECK(answer(store.commit(lease, recorded("b"))) == "ok");
  CHECK(effect(store.settle(delivery, DeliveryOutcome::delivered())) == "sealed");
  CHECK(answer(store.complete_recovery(probe, {true, "ok"})) == "ok");
}

TEST_CASE("a handle that was kept out does not miss what others wrote meanwhile") {
  TempStore at;
  auto options = at.options();
  options.operation_timeout = 1ms;
  auto store = at.open(options);
  auto other = at.open(options);
  auto raw = at.raw();
  REQUIRE(answer(store.acquire("held", by("ann"))) == "ok");
  CHECK(answer(store.acquire("held", by("bob"))) == "lease_held");  // writes nothing
  const auto theirs = other.acquire("theirs", by("bob")).value();
  raw.must("BEGIN IMMEDIATE");
  CHECK(answer(store.acquire("mine", by("ann"))) == "busy");
  raw.must("ROLLBACK");
  const auto mine = store.acquire("mine", by("ann"));
  REQUIRE(answer(mine) == "ok");
  CHECK(mine->token() > theirs.token());
  CHECK(verdict(store) == "UNANCHORED");
}

TEST_CASE("a handle that was kept out notices an epoch that was raised meanwhile") {
  TempStore at;
  auto options = at.options();
  options.operation_timeout = 1ms;
  auto store = at.open(options);
  REQUIRE(answer(store.acquire("held", by("ann"))) == "ok");
  CHECK(answer(store.acquire("held", by("bob"))) == "lease_held");
  auto adopting = at.options();
  adopting.adopt_restored = true;
  {
    auto adopted = at.open(adopting);
  }
  auto raw = at.raw();
  raw.must("BEGIN IMMEDIATE");
  CHECK(answer(store.acquire("mine")) == "busy");
  raw.must("ROLLBACK");
  const auto lease = store.acquire("held", by("bob"));
  REQUIRE(answer(lease) == "ok");
  CHECK(lease->token().epoch() == 2);
}

TEST_CASE("a renewal gives up while its caller can still be told in time (L10)") {
  TempStore at;
  auto store = at.open();
  const auto lease = store.acquire("r", by("ann", 1s)).value();
  auto raw = at.raw();
  raw.must("BEGIN IMMEDIATE");
  CHECK(answer(store.renew(lease, 1s)) == "busy");
  CHECK(at.clock->now() < lease.expires_at());
  raw.must("ROLLBACK");
  CHECK(answer(store.renew(lease, 1s)) == "ok");
}

}  // namespace wallock::test
