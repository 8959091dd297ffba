// How guards end: released, destroyed, moved, outliving, in the middle of trouble.
#include <atomic>

#include "coordinator_support.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

std::function<std::optional<Error>(const Call&)> failing(std::string_view operation, Errc code,
                                                         int times = 1'000'000) {
  return [=, left = times](const Call& call) mutable -> std::optional<Error> {
    if (call.operation != operation || left-- <= 0) return std::nullopt;
    return Error(code);
  };
}

bool is_free(const World& world) { return world.repository()->leases(9).value().empty(); }

}  // namespace

TEST_CASE("a release that failed keeps the token and can be repeated (case L25)") {
  const World world;
  Coordinator coordinator = world.open();
  auto guard = coordinator.guard("r").value();
  const FencingToken token = guard.token();
  world.faults->before = failing("release", Errc::io_error, 3);
  for (int i = 0; i < 3; ++i) {
    CHECK(guard.release().error().code() == Errc::io_error);
    CHECK(guard.token() == token);
    CHECK_FALSE(is_free(world));
  }
  CHECK(guard.release().value() == ReleaseEffect::released);
  CHECK(is_free(world));
  CHECK(guard.release().value() == ReleaseEffect::already_ended);
  CHECK(world.faults->count("release") == 4);
}

TEST_CASE(
    "a release whose answer was lost is answered already_ended when it is repeated (case L25)") {
  const World world;
  Coordinator coordinator = world.open();
  auto guard = coordinator.guard("r").value();
  world.faults->after = failing("release", Errc::outcome_unknown, 1);
  CHECK(guard.release().error().code() == Errc::outcome_unknown);
  CHECK(guard.release().value() == ReleaseEffect::already_ended);
}

TEST_CASE("releasing what was lost is a value, not an error (case L26)") {
  const World world;
  Coordinator coordinator = world.open();
  Coordinator other = world.other().open();
  auto expired = coordinator.guard("r", {.ttl = 30s}, {.heartbeat = false}).value();
  auto taken = coordinator.guard("s", {.ttl = 30s}, {.heartbeat = false}).value();
  world.clock->advance(1h);
  REQUIRE(other.acquire("s"));
  CHECK(expired.release().value() == ReleaseEffect::expired);
  CHECK(taken.release().value() == ReleaseEffect::already_ended);
}

TEST_CASE(
    "a lost lease is not released before its guard ends: its owner may be at work (case L47)") {
  const World world;
  Coordinator coordinator = world.open();
  std::atomic<int> told{0};
  {
    const auto guard =
        coordinator
            .guard("r", {.ttl = 30s}, {.max_hold = 30s, .on_lost = [&](LossReason) { ++told; }})
            .value();
    world.clock->advance(11s);
    REQUIRE(eventually([&] { return guard.lease().requested_at() == world.clock->now(); }));
    world.clock->advance(19s);
    REQUIRE(eventually([&] { return told == 1; }));
    CHECK(guard.reason() == LossReason::max_hold);
    CHECK_FALSE(is_free(world));
    CHECK(world.faults->count("release") == 0);
  }
  CHECK(is_free(world));
}

TEST_CASE(
    "a destructor swallows what its release meets, and asks for a short while only (case L35)") {
  const World world;
  Coordinator coordinator = world.open({.operation_timeout = 1h});
  SECTION("an error") { world.faults->before = failing("release", Errc::io_error); }
  SECTION("an exception") {
    world.faults->before = [](const Call& call) -> std::optional<Error> {
      if (call.operation == "release") throw std::bad_alloc();
      return std::nullopt;
    };
  }
  {
    const auto guard = coordinator.guard("r").value();
  }
  const auto calls = world.faults->calls();
  REQUIRE(calls.back().operation == "release");
  CHECK(calls.back().deadline <= world.clock->now() + 1s);
  CHECK_FALSE(is_free(world));
}

TEST_CASE("guard and coordinator end while the store is locked (case L34)") {
  auto store = std::make_shared<MemoryStore>();
  const auto clock = system_clock();
  auto coordinator = std::make_optional(
      Coordinator::over(std::make_unique<MemoryRepository>(store, clock)).value());
  auto guard = std::make_optional(coordinator->guard("r", {.ttl = 600ms}).value());
  const auto lost = guard->lost();
  std::atomic<bool> done{false};
  std::thread holder([&] {
    const auto lock = store->lock(*clock, Instant::max());
    while (!done)
      std::this_thread::yield();
  });
  REQUIRE(eventually([&] { return lost.stop_requested(); }));
  guard.reset();
  coordinator.reset();
  done = true;
  holder.join();
}

TEST_CASE("a heartbeat's attempts are short, so that ending never waits for long (case L34)") {
  const World world;
  Coordinator coordinator = world.open({.operation_timeout = 1h});
  const auto guard = coordinator.guard("r", {.ttl = 24h}).value();
  world.clock->advance(8h);
  REQUIRE(eventually([&] { return world.faults->count("renew") == 1; }));
  for (const Call& call : world.faults->calls()) {
    if (call.operation == "renew") CHECK(call.deadline <= world.clock->now() + 250ms);
  }
}

TEST_CASE("a guard outlives its coordinator, and keeps the store open until its own end") {
  const World world;
  auto coordinator = std::make_optional(world.open());
  auto guard = std::make_optional(coordinator->guard("r", {.ttl = 30s}).value());
  coordinator.reset();
  CHECK(world.faults->count("destroy") == 0);
  const Instant before = guard->lease().expires_at();
  world.clock->advance(11s);
  REQUIRE(eventually([&] { return guard->lease().expires_at() > before; }));
  CHECK(guard->commit(ActionFields{.id = "a"}));
  guard.reset();
  const auto calls = world.faults->calls();
  REQUIRE(calls.size() >= 2);
  CHECK(calls[calls.size() - 2].operation == "release");
  CHECK(calls.back().operation == "destroy");
}

TEST_CASE("a moved guard is one guard: the lease is released once, at the last one's end") {
  const World world;
  Coordinator coordinator = world.open();
  {
    auto first = coordinator.guard("r").value();
    const FencingToken token = first.token();
    LeaseGuard second(std::move(first));
    CHECK(second.token() == token);
    auto third = coordinator.guard("s").value();
    third = std::move(second);
    CHECK(third.token() == token);
    CHECK(world.faults->count("release") == 1);
  }
  CHECK(world.faults->count("release") == 2);
  CHECK(is_free(world));
}

TEST_CASE("from the end of a guard on, its on_lost neither runs nor will") {
  const World world;
  Coordinator coordinator = world.open();
  std::atomic<int> too_late{0};
  for (int round = 0; round < 10; ++round) {
    std::atomic<bool> entered{false};
    std::atomic<bool> ended{false};
    const auto on_lost = [&](LossReason) {
      entered = true;
      // Long enough for an end that does not wait to be over first.
      const auto until = std::chrono::steady_clock::now() + 50ms;
      while (!ended && std::chrono::steady_clock::now() < until)
        std::this_thread::yield();
      too_late += ended ? 1 : 0;
    };
    auto guard = std::make_optional(
        coordinator.guard("r", {.ttl = 30s}, {.heartbeat = false, .on_lost = on_lost}).value());
    world.clock->advance(1h);
    if (round % 2 == 0) REQUIRE(eventually([&] { return entered.load(); }));
    guard.reset();
    ended = true;
  }
  CHECK(too_late == 0);
}

TEST_CASE("an on_lost may end its own guard, and with it the last of the coordinator") {
  const World world;
  auto coordinator = std::make_optional(world.open());
  auto guard = std::make_shared<std::optional<LeaseGuard>>();
  std::atomic<bool> done{false};
  *guard = coordinator
               ->guard("r", {.ttl = 30s},
                       {.heartbeat = false,
                        .on_lost =
                            [&](LossReason) {
                              guard->reset();
                              done = true;
                            }})
               .value();
  coordinator.reset();
  world.clock->advance(1h);
  CHECK(eventually([&] { return done.load(); }));
  CHECK(is_free(world));
}
