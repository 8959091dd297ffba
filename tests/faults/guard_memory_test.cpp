// Memory that runs out around a guard: no lease is left behind without one, a guard keeps what it
// has, and the heartbeat's books stay whole.
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "catch.hpp"
#include "coordinator/heartbeat_roster.hpp"
#include "scenario.hpp"
#include "steps.hpp"

namespace wallock::test {
namespace {

using namespace std::chrono_literals;
using wallock::detail::HeartbeatRoster;
using wallock::detail::HeldLease;

// A store in memory, and a guard on "r" when asked for.
struct Guarded {
  ScratchFolder folder;
  Stage stage{folder.path(), Durability::commits};
  Guarded() {
    set_up({"a guard", {}}, stage);
    REQUIRE(opened().run(stage));
  }
  Result<LeaseGuard> guard() {
    AcquireOptions options{.ttl = 10s};
    options.holder = Given<HolderId>("ann");
    return within([&] { return stage.store->guard("r", options); });
  }
};

// Calls attempt(fault), which arms it, with one allocation after the other failing, until it makes
// fewer.
template <class Attempt>
std::uint64_t starve(bool for_ever, Attempt&& attempt) {
  std::uint64_t at = 0;
  for (;; ++at) {
    CAPTURE(at, for_ever);
    attempt(AllocationFault{.at = at, .for_ever = for_ever});
    const bool injected = failed_allocations() > 0;
    disarm_allocations();
    if (!injected) return at;
  }
}

Lease lease_on(const std::string& resource, Instant now) {
  return Lease::create({.resource = ResourceName::parse(resource).value(),
                        .token = FencingToken::of(1, 7).value(),
                        .holder = HolderId::parse("a holder with a name of some length").value(),
                        .instance = InstanceId{3},
                        .requested_at = now,
                        .granted_at = now,
                        .expires_at = now + 10s})
      .value();
}

}  // namespace

TEST_CASE("memory that runs out while a guard is made leaves no lease behind", "[memory]") {
  Guarded at;
  const auto failed = starve(false, [&](const AllocationFault& fault) {
    // What a failure made the store forget is at hand again: then the last allocations are the
    // guard's own, after its lease was granted.
    REQUIRE(at.guard().value().release());
    arm_allocations(fault);
    auto guard = at.guard();
    disarm_allocations();
    if (guard) {
      CHECK(guard->release());
    } else {
      CHECK(guard.error().code() == Errc::out_of_memory);
    }
    CHECK(at.stage.store->leases().value().empty());
  });
  CHECK(failed > 10);
}

TEST_CASE("a guard commits and releases once there is memory again", "[memory]") {
  const bool for_ever = GENERATE(false, true);
  Guarded at;
  auto guard = at.guard().value();
  std::uint64_t tries = 0;
  std::optional<Result<Committed>> done;
  starve(for_ever, [&](const AllocationFault& fault) {
    REQUIRE(guard.commit(ActionFields{.id = "b" + std::to_string(++tries)}));  // as above
    const Batch batch = ActionFields{.id = "a" + std::to_string(tries)};
    arm_allocations(fault);
    done = within([&] { return guard.commit(batch); });
    disarm_allocations();
    if (*done) return;
    CHECK(done->error().code() == Errc::out_of_memory);
    CHECK(guard.valid());
    CHECK(guard.reason() == LossReason::none);
  });
  CHECK(tries > 20);
  REQUIRE(done);
  CHECK(*done);
  std::optional<Result<ReleaseEffect>> released;
  starve(for_ever, [&](const AllocationFault& fault) {
    arm_allocations(fault);
    if (!released || !*released) released = within([&] { return guard.release(); });
  });
  REQUIRE(released);
  CHECK(*released);
  CHECK(at.stage.store->leases().value().empty());
}

TEST_CASE("a heartbeat without memory renews later what it could not renew now", "[memory]") {
  const Instant start{1h};
  std::vector<std::shared_ptr<HeldLease>> held;
  HeartbeatRoster roster;
  for (const char* resource : {"r", "s", "t"}) {
    held.push_back(std::make_shared<HeldLease>(lease_on(resource, start), 10s, GuardOptions{}));
    roster.add(held.back());
  }
  const Instant due = start + 4s;
  std::size_t renewed = 0;
  starve(GENERATE(false, true), [&](const AllocationFault& fault) {
    arm_allocations(fault);
    try {
      const auto batch = within([&] { return roster.take_due(due, 8); });
      renewed = batch.size();  // its end gives the turns back, unanswered
    } catch (const std::bad_alloc&) {
      renewed = 0;
    }
    disarm_allocations();
    for (const auto& lease : held) {
      CHECK(lease->alive());
      CHECK(lease->take_turn(Duration::zero()));
      static_cast<void>(lease->give_turn_back());
      roster.refile(*lease);
    }
  });
  CHECK(renewed == 3);
}

}  // namespace wallock::test
