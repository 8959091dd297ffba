// The heartbeat service, pass by pass and without its threads: nothing in here waits.
#include <algorithm>

#include "coordinator/heartbeats.hpp"
#include "coordinator_support.hpp"

using namespace wallock;
using namespace wallock::test;
using detail::Heartbeats;
using detail::HeldLease;

namespace {

struct Service {
  World world;
  std::unique_ptr<LeaseRepository> store = world.repository();
  std::shared_ptr<Heartbeats> heartbeats;

  explicit Service(Heartbeats::MovedBy moved_by = Heartbeats::MovedBy::others)
      : heartbeats(std::make_shared<Heartbeats>(*store, world.clock, moved_by)) {}

  std::shared_ptr<HeldLease> hold(std::string_view resource, GuardOptions options = {},
                                  Duration ttl = 30s) {
    const Lease lease = store
                            ->acquire({.resource = ResourceName::parse(resource).value(),
                                       .holder = HolderId::parse("ann").value(),
                                       .instance = InstanceId{7},
                                       .ttl = ttl},
                                      {}, Instant::max())
                            .value();
    auto held = std::make_shared<HeldLease>(lease, ttl, std::move(options));
    heartbeats->add(held);
    return held;
  }
  Instant now() const { return world.clock->now(); }
  void advance_to(Instant instant) {
    world.clock->advance(std::max(saturating_sub(instant, now()), Duration(0)));
  }
  // What both threads do, until the next thing is due.
  void step() {
    const Instant next_loss = heartbeats->watch();
    const Instant next_renewal = heartbeats->renew();
    const Instant next = std::min(next_loss, next_renewal);
    if (next != Instant::max()) advance_to(next);
  }
};

}  // namespace

TEST_CASE("a lease is renewed each time a third of its ttl is over, and lives on") {
  Service s;
  const auto held = s.hold("r");
  for (int beat = 0; beat < 20; ++beat) {
    const Instant due = s.heartbeats->renew();
    CHECK(due == s.now() + 10s);
    s.world.clock->advance(due - s.now());
    CHECK(s.heartbeats->watch() > s.now());
    s.heartbeats->renew();
    CHECK(s.world.faults->count("renew") == static_cast<std::size_t>(beat + 1));
    CHECK(held->lease().requested_at() == s.now());
    CHECK(held->lease().expires_at() == s.now() + 30s);
  }
  CHECK(held->alive());
  CHECK(held->lease().token() == s.store->leases(9).value().front().lease.token());
}

TEST_CASE(
    "a lease that is not renewed is lost at request time plus ttl less the margin, not before") {
  Service s;
  std::vector<LossReason> told;
  const auto held = s.hold(
      "r", {.heartbeat = false, .on_lost = [&](LossReason reason) { told.push_back(reason); }});
  CHECK(s.heartbeats->watch() == s.now() + 27s);
  s.world.clock->advance(27s - 1ns);
  CHECK(s.heartbeats->watch() == s.now() + 1ns);
  CHECK(held->alive());
  CHECK_FALSE(held->lost().stop_requested());
  s.world.clock->advance(1ns);
  CHECK(s.heartbeats->watch() == Instant::max());
  CHECK(held->reason() == LossReason::expired);
  CHECK(held->lost().stop_requested());
  CHECK(told == std::vector{LossReason::expired});
  s.heartbeats->watch();
  CHECK(told.size() == 1);
  CHECK(s.world.faults->count("renew") == 0);
}

TEST_CASE("a starved heartbeat does not hide a loss: who looks finds it out (case L5)") {
  Service s;
  const auto held = s.hold("r");
  s.world.clock->advance(27s);
  CHECK(held->watch(s.now()));
  CHECK(held->lost().stop_requested());
  CHECK(held->reason() == LossReason::expired);
  // A renewal that comes too late changes nothing.
  CHECK_FALSE(held->try_renewal(s.now()));
  held->renewed(lease(s.now(), 30s), s.now());
  CHECK(held->reason() == LossReason::expired);
}

TEST_CASE(
    "a store that fails is asked again and again until the time is over, then it is the reason") {
  Service s;
  const auto held = s.hold("r");
  s.world.faults->before = [](const Call& call) -> std::optional<Error> {
    if (call.operation == "renew") return Error(Errc::busy);
    return std::nullopt;
  };
  const Instant end = s.now() + 27s;
  while (held->alive()) {
    s.step();
  }
  CHECK(s.now() == end);
  CHECK(held->reason() == LossReason::store_unavailable);
  CHECK(s.world.faults->count("renew") > 17s / 250ms - 2);
  CHECK(s.world.faults->count("renew") <= 17s / 250ms + 1);
  for (const Call& call : s.world.faults->calls()) {
    if (call.operation == "renew") CHECK(call.deadline <= end);
  }
}

TEST_CASE("a heartbeat that succeeds after failures goes back to its rhythm") {
  Service s;
  const auto held = s.hold("r");
  int failures = 3;
  s.world.faults->before = [&](const Call& call) -> std::optional<Error> {
    if (call.operation == "renew" && failures-- > 0) return transient();
    return std::nullopt;
  };
  s.world.clock->advance(10s);
  while (s.world.faults->count("renew") < 4) {
    s.step();
  }
  CHECK(held->alive());
  CHECK(s.heartbeats->renew() == held->lease().requested_at() + 10s);
}

TEST_CASE("a lease that somebody revoked is lost with the first renewal, for that reason") {
  Service s;
  const auto held = s.hold("r");
  REQUIRE(s.store->revoke(held->lease().resource(), held->lease().token(), "test", Instant::max()));
  s.world.clock->advance(10s);
  s.heartbeats->renew();
  s.heartbeats->watch();
  CHECK(held->reason() == LossReason::revoked);
  CHECK(held->lost().stop_requested());
}

TEST_CASE("a lease that a tripped breaker ended is lost as revoked") {
  Service s;
  const auto held = s.hold("r");
  REQUIRE(s.store->force_open(held->lease().resource(), "test", Instant::max()));
  s.world.clock->advance(10s);
  s.heartbeats->renew();
  s.heartbeats->watch();
  CHECK(held->reason() == LossReason::revoked);
}

TEST_CASE("a lease that somebody else took is lost as superseded") {
  Service s;
  const auto held = s.hold("r");
  REQUIRE(s.store->revoke(held->lease().resource(), held->lease().token(), "test", Instant::max()));
  REQUIRE(s.store->acquire({.resource = held->lease().resource(),
                            .holder = HolderId::parse("bob").value(),
                            .instance = InstanceId{8},
                            .ttl = 30s},
                           {}, Instant::max()));
  s.world.clock->advance(10s);
  s.heartbeats->renew();
  s.heartbeats->watch();
  CHECK(held->reason() == LossReason::superseded);
}

TEST_CASE("max_hold ends renewing and reports the loss (case L28)") {
  Service s;
  const auto held = s.hold("r", {.max_hold = 95s});
  const Instant start = s.now();
  while (held->alive()) {
    s.step();
  }
  CHECK(held->reason() == LossReason::max_hold);
  CHECK(s.now() == start + 95s);
  const std::size_t renewals = s.world.faults->count("renew");
  CHECK(renewals == 9);
  s.world.clock->advance(1h);
  s.heartbeats->renew();
  CHECK(s.world.faults->count("renew") == renewals);
  CHECK(s.store->leases(9).value().empty());
}

TEST_CASE("one service keeps many leases alive, each at its own pace") {
  Service s;
  std::vector<std::shared_ptr<HeldLease>> leases;
  for (int i = 1; i <= 50; ++i) {
    leases.push_back(s.hold("r" + std::to_string(i), {}, i * 1s));
  }
  const Instant end = s.now() + 5min;
  while (s.now() < end) {
    s.step();
  }
  CHECK(std::ranges::all_of(leases, [](const auto& held) { return held->alive(); }));
  CHECK(s.store->leases(100).value().size() == 50);
}

TEST_CASE("a lease that was removed is neither renewed nor watched any more") {
  Service s;
  int told = 0;
  const auto held = s.hold("r", {.on_lost = [&](LossReason) { ++told; }});
  s.heartbeats->remove(*held);
  s.world.clock->advance(1h);
  CHECK(s.heartbeats->renew() == Instant::max());
  CHECK(s.heartbeats->watch() == Instant::max());
  CHECK(s.world.faults->count("renew") == 0);
  CHECK(told == 0);
}

TEST_CASE("a stopped lease is not renewed once more, nor its loss told") {
  Service s;
  int told = 0;
  const auto held = s.hold("r", {.on_lost = [&](LossReason) { ++told; }});
  held->stop();
  s.world.clock->advance(10s);
  CHECK_FALSE(held->try_renewal(s.now()));
  s.world.clock->advance(1h);
  s.heartbeats->watch();
  CHECK(held->lost().stop_requested());
  CHECK(told == 0);
}

TEST_CASE("a renewal waits for its turn while a commit is under way, and is made up for") {
  Service s;
  const auto held = s.hold("r");
  REQUIRE(held->take_turn(0s));
  CHECK(held->take_turn(0s).error().code() == Errc::called_inside_work);
  s.world.clock->advance(10s);
  CHECK(s.heartbeats->renew() == s.now() + 17s);
  CHECK(s.world.faults->count("renew") == 0);
  CHECK(held->give_turn_back());
  s.heartbeats->renew();
  CHECK(s.world.faults->count("renew") == 1);
  REQUIRE(held->take_turn(0s));
  CHECK_FALSE(held->give_turn_back());
}

TEST_CASE("a turn that another thread has is waited for no longer than asked") {
  Service s;
  const auto held = s.hold("r");
  s.world.clock->advance(10s);
  REQUIRE(held->try_renewal(s.now()));
  Errc code{};
  std::thread([&] { code = held->take_turn(1ms).error().code(); }).join();
  CHECK(code == Errc::busy);
}

TEST_CASE("an on_lost that throws harms nobody") {
  Service s;
  int told = 0;
  const auto one = s.hold("r", {.on_lost = [](LossReason) { throw 42; }});
  const auto two = s.hold("s", {.on_lost = [&](LossReason) { ++told; }});
  s.world.clock->advance(1h);
  s.heartbeats->watch();
  CHECK(one->reason() == LossReason::expired);
  CHECK(two->reason() == LossReason::expired);
  CHECK(told == 1);
}

TEST_CASE("a repository that throws in a renewal counts as one that failed") {
  Service s;
  const auto held = s.hold("r");
  s.world.faults->before = [](const Call& call) -> std::optional<Error> {
    if (call.operation == "renew") throw std::bad_alloc();
    return std::nullopt;
  };
  s.world.clock->advance(10s);
  s.heartbeats->renew();
  CHECK(held->alive());
  s.world.faults->before = nullptr;
  s.world.clock->advance(250ms);
  s.heartbeats->renew();
  CHECK(held->lease().requested_at() == s.now());
}

TEST_CASE("a service on the machine's clock renews after a suspension, and tells what it cost") {
  // The machine's clock goes on while it is suspended, real time does not.
  Service s(Heartbeats::MovedBy::machine);
  const auto kept = s.hold("kept", {}, 1h);
  const auto lost = s.hold("lost", {}, 20min);
  REQUIRE(s.heartbeats->start(true));
  std::this_thread::sleep_for(50ms);  // both threads rest
  s.world.clock->advance(30min);
  CHECK(eventually([&] { return kept->lease().requested_at() == s.now(); }));
  CHECK(eventually([&] { return lost->lost().stop_requested(); }));
  CHECK(lost->reason() == LossReason::expired);
  CHECK(kept->alive());
  s.heartbeats->shutdown();
}
