// Several resources in one transaction of the file: all of them or none.
#include "repository_support.hpp"

namespace wallock::test {
namespace {

std::vector<FencingToken> tokens(const std::vector<Lease>& leases) {
  std::vector<FencingToken> found;
  for (const Lease& lease : leases)
    found.push_back(lease.token());
  return found;
}

}  // namespace

TEST_CASE("the store grants several resources under tokens in a row, each with its record") {
  TempStore at;
  auto store = at.open();
  News news(store);
  AcquireOptions options = by("ann");
  options.metadata = "batch";
  const auto leases = store.acquire_all({"b", "a", "c"}, options).value();
  CHECK(news() == "lease_granted lease_granted lease_granted");
  REQUIRE(leases.size() == 3);
  const auto granted = tokens(leases);
  CHECK(granted[1].position() == granted[0].position() + 1);
  CHECK(granted[2].position() == granted[1].position() + 1);
  const auto infos = store.leases().value();
  REQUIRE(infos.size() == 3);
  for (const LeaseInfo& info : infos)
    CHECK(info.metadata == "batch");

  for (const Lease& lease : leases) {
    CHECK(lease.expires_at() == at.clock->now() + 30s);
    CHECK(answer(store.commit(lease, {recorded("to-" + lease.resource().str())})) == "ok");
  }
  CHECK(verdict(store) == "UNANCHORED");
}

TEST_CASE("the store grants none of several resources if one is refused, and records nothing") {
  TempStore at;
  auto store = at.open(quick_to_trip(at.options()));
  auto other = at.open();

  SECTION("one is held") {
    REQUIRE(answer(other.acquire("b", by("bob"))) == "ok");
    News news(store);
    const auto refused = store.acquire_all({"a", "b", "c"}, by("ann"));
    CHECK(answer(refused) == "lease_held");
    CHECK(refused.error().facts().resource == "b");
    CHECK(news() == "-");
    CHECK(answer(other.acquire("a", by("bob"))) == "ok");
  }
  SECTION("one's breaker is open") {
    const auto lease = store.acquire("c", by("ann")).value();
    REQUIRE(effect(store.report(lease, DownstreamOutcome::timeout)) == "tripped");
    News news(store);
    CHECK(answer(store.acquire_all({"a", "b", "c"}, by("ann"))) == "breaker_open");
    CHECK(news() == "-");
  }
  SECTION("all are free again once they have expired") {
    const auto before = tokens(store.acquire_all({"a", "b"}, by("ann")).value());
    at.clock->advance(30s);
    const auto after = tokens(other.acquire_all({"a", "b"}, by("bob")).value());
    REQUIRE(after.size() == 2);
    CHECK(after[0] > before[1]);
  }
}

}  // namespace wallock::test
