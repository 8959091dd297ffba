// A store without its sidecar: processes poll instead of being called, each flushes for itself, and
// all else is the same.
#include "repository_support.hpp"

namespace wallock::test {
namespace {

// Where a later version's sidecar lies, which this one must leave alone.
struct Alone {
  TempStore at;
  std::string sidecar = at.path() + "-wallock";
  Alone() { write_file(sidecar, "of a later version"); }
};

}  // namespace

TEST_CASE("a store without a sidecar grants, refuses, records and delivers as one with it does") {
  const Alone alone;
  auto store = alone.at.open(quick_to_trip(alone.at.options()));
  auto other = alone.at.open(quick_to_trip(alone.at.options()));
  const auto lease = store.acquire("r", by("ann")).value();
  CHECK(answer(other.try_acquire("r", by("bob"))) == "lease_held");
  CHECK(answer(store.commit(lease, sent("a"), {}, {.after = AfterCommit::nothing})) == "ok");
  CHECK(effect(store.release(lease)) == "released");
  const auto taken = other.acquire("r", by("bob")).value();
  CHECK(taken.token() > lease.token());
  CHECK(answer(store.commit(lease, recorded("late"))) == "stale_token");
  const auto deliveries = other.claim({.destination = "bank"}).value();
  REQUIRE(deliveries.size() == 1);
  CHECK(effect(other.settle(deliveries.front(), DeliveryOutcome::retry(1s))) == "queued");
  CHECK(effect(other.report(taken, DownstreamOutcome::timeout)) == "tripped");
  CHECK(answer(store.acquire("r", by("ann"))) == "breaker_open");
  const auto health = store.health().value();
  CHECK_FALSE(health.has_sidecar);
  CHECK_FALSE(health.shares_flushes);
  CHECK(health.waiting_in_line == 0);
  CHECK(verdict(store) == "UNANCHORED");
  CHECK(read_file(alone.sidecar) == "of a later version");
}

TEST_CASE("without a sidecar nobody knows who is dead: a lease is held until its time is over") {
  const Alone alone;
  auto store = alone.at.open();
  {
    auto gone = alone.at.open();
    REQUIRE(answer(gone.acquire("r", by("ann", 30s))) == "ok");
  }
  CHECK(answer(store.try_acquire("r", by("bob"))) == "lease_held");
  alone.at.clock->advance(30s);
  CHECK(answer(store.try_acquire("r", by("bob"))) == "ok");
}

}  // namespace wallock::test
