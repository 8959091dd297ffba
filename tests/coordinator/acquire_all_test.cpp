// Several resources at once: all or none, and nobody waits for ever.
#include <thread>

#include "coordinator_support.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

std::vector<std::string> names(const std::vector<Lease>& leases) {
  std::vector<std::string> result;
  for (const Lease& lease : leases)
    result.push_back(lease.resource().str());
  return result;
}

}  // namespace

TEST_CASE("acquire_all grants each resource once, in the order of the names") {
  const World world;
  Coordinator coordinator = world.open();
  const auto leases = coordinator.acquire_all({"c", "a", "b", "a"}, {.ttl = 5s, .metadata = "m"});
  REQUIRE(leases);
  CHECK(names(*leases) == std::vector<std::string>{"a", "b", "c"});
  CHECK((*leases)[0].token() < (*leases)[1].token());
  CHECK((*leases)[1].token() < (*leases)[2].token());
  const auto listed = coordinator.leases().value();
  for (const LeaseInfo& info : listed)
    CHECK(info.metadata == "m");
  for (const Lease& lease : *leases)
    CHECK(coordinator.release(lease).value() == ReleaseEffect::released);
}

TEST_CASE("acquire_all grants nothing if one resource is held, and names that one") {
  const World world;
  Coordinator coordinator = world.open();
  Coordinator other = world.other().open();
  REQUIRE(other.acquire("b", {.holder = "ann"}));
  const auto size = other.root().value().size;
  const auto refused = coordinator.acquire_all({"a", "b", "c"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Errc::lease_held);
  CHECK(refused.error().facts().resource == "b");
  CHECK(refused.error().facts().holder == "ann");
  CHECK(other.root().value().size == size);
  CHECK(coordinator.leases().value().size() == 1);
}

TEST_CASE("acquire_all waits within one deadline, and holds nothing meanwhile") {
  const World world;
  Coordinator coordinator = world.open();
  World other_world = world.other();
  Coordinator other = other_world.open();
  const Lease b = other.acquire("b", {.ttl = 1min}).value();
  const Lease c = other.acquire("c", {.ttl = 3min}).value();
  const Instant start = world.clock->now();
  CHECK(coordinator.acquire_all({"a", "b", "c"}, {.wait = 2min}).error().code() ==
        Errc::lease_held);
  CHECK(world.clock->now() - start == 2min);
  CHECK(other.try_acquire("a"));
  CHECK(other.try_acquire("b").error().code() != Errc::lease_held);
  REQUIRE(coordinator.acquire_all({"b", "c"}, {.wait = 2min}));
}

TEST_CASE("acquire_all refuses what cannot be asked for, and changes nothing") {
  const World world;
  Coordinator coordinator = world.open();
  CHECK(coordinator.acquire_all({}).error().code() == Errc::invalid_option);
  CHECK(coordinator.acquire_all({}).error().facts().field == "resources");
  CHECK(coordinator.acquire_all(std::vector<Given<ResourceName>>(101, "r")).error().facts().field ==
        "resources");
  CHECK(coordinator.acquire_all({"a"}, {.action_id = "once"}).error().facts().field == "action_id");
  const auto bad = coordinator.acquire_all({"b", "a", "", "c", ""});
  CHECK(bad.error().code() == Errc::invalid_name);
  CHECK(bad.error().facts().field == "resources[2]");  // the first bad one as they were given
  CHECK(coordinator.acquire_all({"a"}, {.ttl = 0s}).error().code() == Errc::invalid_duration);
  CHECK(coordinator.leases().value().empty());
}
