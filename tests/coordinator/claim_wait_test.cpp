// Claims that wait until there is something to claim.
#include "coordinator_support.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

// Runs something before the n-th claim, counted from 1.
std::function<std::optional<Error>(const Call&)> before_claim(std::size_t n,
                                                              std::function<void()> act) {
  return [=, seen = std::size_t{0}](const Call& call) mutable -> std::optional<Error> {
    if (call.operation == "claim" && ++seen == n) act();
    return std::nullopt;
  };
}

}  // namespace

TEST_CASE("a claim without a wait asks once") {
  const World world;
  Coordinator coordinator = world.open();
  CHECK(coordinator.claim({.destination = "bank"}).value().empty());
  CHECK(world.faults->count("claim") == 1);
}

TEST_CASE("a waiting claim gets what is committed meanwhile, and ends at its deadline without") {
  World world;
  Coordinator coordinator = world.open();
  Coordinator other = world.other().open();
  world.faults->before = before_claim(20, [&] {
    REQUIRE(other.execute("r", ActionFields{.id = "a", .destination = Given<Destination>("bank")}));
  });
  const auto deliveries = coordinator.claim({.destination = "bank", .wait = 1min});
  REQUIRE(deliveries);
  CHECK(deliveries->size() == 1);
  const Instant start = world.clock->now();
  CHECK(coordinator.claim({.destination = "bank", .wait = 20s}).value().empty());
  CHECK(world.clock->now() - start == 20s);
  CHECK(coordinator.claim({.destination = "bank", .wait = -1s}).error().code() ==
        Errc::invalid_duration);
}

TEST_CASE("a waiting claim ends when it is stopped") {
  World world;
  Coordinator coordinator = world.open();
  std::stop_source stop;
  world.faults->before = before_claim(5, [&] { stop.request_stop(); });
  const auto answer =
      coordinator.claim({.destination = "bank", .wait = Duration::max()}, stop.get_token());
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code() == Errc::cancelled);
  CHECK(coordinator.claim({.destination = "bank"}, stop.get_token()).error().code() ==
        Errc::cancelled);
}
