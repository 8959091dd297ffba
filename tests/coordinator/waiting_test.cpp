// Waiting for a resource that somebody else has.
#include <random>

#include "coordinator/waiting.hpp"
#include "coordinator_support.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

// Another process holds the resource; the world is the waiter's.
struct Contended {
  World world;
  World holder_world = world.other();
  Coordinator coordinator = world.open();
  Coordinator holder = holder_world.open();
  Lease held = holder.acquire("r", {.ttl = 6min}).value();

  std::size_t records() { return holder.audit({.limit = 10'000}).value().size(); }
};

// Does something at the n-th call of an operation, counted from 1.
std::function<std::optional<Error>(const Call&)> at(std::string_view operation, std::size_t n,
                                                    std::function<void()> act) {
  return [=, seen = std::size_t{0}](const Call& call) mutable -> std::optional<Error> {
    if (call.operation == operation && ++seen == n) act();
    return std::nullopt;
  };
}

}  // namespace

TEST_CASE("a wait of zero asks once and names the holder and the end of its lease") {
  Contended c;
  const auto answer = c.coordinator.acquire("r");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code() == Errc::lease_held);
  CHECK(answer.error().facts().holder == c.held.holder().str());
  CHECK(answer.error().facts().retry_at == c.held.expires_at());
  CHECK(c.world.faults->count("acquire") == 1);
  CHECK(c.world.faults->count("change_counter") == 0);
}

TEST_CASE("try_acquire never waits, whatever the options say") {
  Contended c;
  const Instant start = c.world.clock->now();
  const auto answer = c.coordinator.try_acquire("r", {.wait = 1h});
  CHECK(answer.error().code() == Errc::lease_held);
  CHECK(c.coordinator.try_acquire("s", {.wait = -1h}));
  CHECK(c.world.clock->now() == start);
}

TEST_CASE("a waiter gets the resource when its holder lets go") {
  Contended c;
  c.world.faults->before = at("change_counter", 50, [&] {
    REQUIRE(c.holder.release(c.held).value() == ReleaseEffect::released);
  });
  const Instant start = c.world.clock->now();
  const auto answer = c.coordinator.acquire("r", {.wait = 10min});
  REQUIRE(answer);
  CHECK(answer->token() > c.held.token());
  // 50 naps of half a millisecond to one and a half, then the very next attempt.
  CHECK(c.world.clock->now() - start >= 49 * 500us);
  CHECK(c.world.clock->now() - start <= 50 * 1500us);
  CHECK(c.world.faults->count("acquire") == 3);
}

TEST_CASE("a waiter gets the resource at the instant the holder's lease runs out (case L17)") {
  Contended c;
  const auto answer = c.coordinator.acquire("r", {.wait = 1h});
  REQUIRE(answer);
  CHECK(answer->granted_at() == c.held.expires_at());
}

TEST_CASE("a wait ends at its deadline with lease_held, and takes no real time on a manual clock") {
  Contended c;
  const std::size_t before = c.records();
  const Instant start = c.world.clock->now();
  const auto answer = c.coordinator.acquire("r", {.wait = 5min});
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code() == Errc::lease_held);
  CHECK(answer.error().facts().holder == c.held.holder().str());
  CHECK(c.world.clock->now() - start == 5min);
  CHECK(c.records() == before);
}

TEST_CASE("an execute waits as an acquire does") {
  Contended c;
  int runs = 0;
  c.world.faults->before = at("change_counter", 9, [&] { c.holder.release(c.held).value(); });
  const auto answer =
      c.coordinator.execute("r", ActionFields{.id = "a"}, [&] { ++runs; }, {.wait = 1min});
  REQUIRE(answer);
  CHECK(runs == 1);
  CHECK(c.world.faults->count("execute") == 3);
}

TEST_CASE("already_held is answered at once, with the holder named") {
  const World world;
  Coordinator coordinator = world.open({.holder = "ann"});
  REQUIRE(coordinator.acquire("r"));
  const Instant start = world.clock->now();
  const auto answer = coordinator.acquire("r", {.wait = 1h});
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code() == Errc::already_held);
  CHECK(answer.error().facts().holder == "ann");
  CHECK(world.clock->now() == start);
  CHECK(coordinator.execute("r", ActionFields{.id = "a"}, {}, {.wait = 1h}).error().code() ==
        Errc::already_held);
}

TEST_CASE("an open breaker ends a wait at once") {
  Contended c;
  c.world.faults->before =
      at("change_counter", 3, [&] { REQUIRE(c.holder.force_open("r", "maintenance")); });
  const auto answer = c.coordinator.acquire("r", {.wait = 10min});
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code() == Errc::breaker_open);
}

TEST_CASE("a stop at any moment of a wait leaves nothing behind (case L19)") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::size_t> any_call(1, 40);
  for (int round = 0; round < 1000; ++round) {
    Contended c;
    const std::size_t before = c.records();
    std::stop_source stop;
    const std::size_t stop_at = any_call(random);
    const bool late = random() % 2 == 0;
    CAPTURE(round, stop_at, late);
    std::size_t calls = 0;
    const auto count = [&](const Call&) -> std::optional<Error> {
      if (++calls == stop_at) stop.request_stop();
      return std::nullopt;
    };
    (late ? c.world.faults->after : c.world.faults->before) = count;
    const auto answer = c.coordinator.acquire("r", {.wait = Duration::max()}, stop.get_token());
    REQUIRE_FALSE(answer);
    REQUIRE(answer.error().code() == Errc::cancelled);
    REQUIRE(c.records() == before);
    REQUIRE(c.holder.leases().value().size() == 1);
  }
}

TEST_CASE("a stop that comes before the call asks the store nothing") {
  const World world;
  Coordinator coordinator = world.open();
  std::stop_source stop;
  stop.request_stop();
  CHECK(coordinator.acquire("r", {.wait = 1s}, stop.get_token()).error().code() == Errc::cancelled);
  CHECK(world.faults->calls().empty());
}

TEST_CASE("a stop from another thread ends an endless wait in real time") {
  auto store = std::make_shared<MemoryStore>();
  const auto open = [&] {
    return Coordinator::over(std::make_unique<MemoryRepository>(store, system_clock())).value();
  };
  Coordinator holder = open();
  Coordinator waiter = open();
  REQUIRE(holder.acquire("r", {.ttl = 1h}));
  std::stop_source stop;
  Errc code{};
  std::thread waiting([&] {
    code = waiter.acquire("r", {.wait = Duration::max()}, stop.get_token()).error().code();
  });
  stop.request_stop();
  waiting.join();
  CHECK(code == Errc::cancelled);
  CHECK(holder.leases().value().size() == 1);
}

TEST_CASE("a jump of the wall clock neither shortens nor lengthens a wait (case L14)") {
  for (const Duration jump : {Duration(48h), Duration(-48h)}) {
    Contended c;
    c.world.faults->before = at("change_counter", 10, [&] { c.world.clock->jump_wall(jump); });
    const Instant start = c.world.clock->now();
    CHECK(c.coordinator.acquire("r", {.wait = 1min}).error().code() == Errc::lease_held);
    CHECK(c.world.clock->now() - start == 1min);
  }
}

TEST_CASE("waits and timeouts at the end of the time line do not overflow (case L41)") {
  const World world(std::make_shared<MemoryStore>(),
                    std::make_shared<ManualClock>(Instant::max() - 1h));
  Coordinator holder = world.other().open({.operation_timeout = 1h});
  Coordinator coordinator = world.open({.operation_timeout = 1h});
  const auto held = holder.acquire("r", {.ttl = max_ttl}).value();
  CHECK(held.expires_at() == Instant::max());
  world.faults->before = at("change_counter", 5, [&] { holder.release(held).value(); });
  CHECK(coordinator.acquire("r", {.wait = Duration::max()}));
  CHECK(world.faults->calls().front().deadline == Instant::max());
}

TEST_CASE("a repeated request adopts the lease that its lost answer granted (case L44)") {
  const World world;
  Coordinator coordinator = world.open({.holder = "ann"});
  bool lose = true;
  world.faults->after = [&](const Call&) -> std::optional<Error> {
    if (!std::exchange(lose, false)) return std::nullopt;
    return transient(Errc::outcome_unknown);
  };
  const AcquireOptions options{.wait = 1min, .action_id = "request-1"};
  CHECK(coordinator.acquire("r", options).error().code() == Errc::outcome_unknown);
  const auto again = coordinator.acquire("r", options);
  REQUIRE(again);
  CHECK(coordinator.leases().value().size() == 1);
  CHECK(coordinator.leases().value().front().lease.token() == again->token());
}

TEST_CASE("INV-10 a wait is over at its deadline, whatever the store answers") {
  World world;
  Coordinator coordinator = world.open({.operation_timeout = 1s});
  const Instant start = world.clock->now();
  std::uint64_t answers = 0;
  // Held for ever, by a lease that ended long ago; and a counter that cannot be read.
  const bool readable = GENERATE(false, true);
  world.faults->before = [&](const Call& call) -> std::optional<Error> {
    ++answers;
    if (call.operation == "acquire") {
      return Error(Errc::lease_held, ErrorFacts{.holder = "x", .retry_at = Instant(1ns)});
    }
    return readable ? std::nullopt : std::optional(transient());
  };
  CHECK(coordinator.acquire("r", {.wait = 2s}).error().code() == Errc::lease_held);
  CHECK(world.clock->now() - start == 2s);
  CHECK(answers < 2 * 4001 + 10);
}

TEST_CASE("INV-10 no attempt of a wait outlasts the wait and the first attempt's timeout") {
  Contended c;
  std::size_t polls = 0;
  c.world.faults->before = [&](const Call& call) -> std::optional<Error> {
    // Something else in the store changes all the time, so that attempts are made all the time.
    if (call.operation == "change_counter" && ++polls % 100 == 0) {
      static_cast<void>(c.holder.acquire("other-" + std::to_string(polls)));
    }
    return std::nullopt;
  };
  const auto latest_deadline = [&](Duration wait) {
    const std::size_t before = c.world.faults->count("acquire");
    CHECK_FALSE(c.coordinator.acquire("r", {.wait = wait}));
    CHECK(c.world.faults->count("acquire") > before + 10);
    Instant latest = Instant::min();
    for (const Call& call : c.world.faults->calls()) {
      if (call.operation == "acquire") latest = std::max(latest, call.deadline);
    }
    return latest;
  };
  const Instant start = c.world.clock->now();
  CHECK(latest_deadline(2s) == start + 5s);
  CHECK(latest_deadline(20s) == start + 22s);
}

TEST_CASE("a store that is busy as the wait ends is told as the lease that was held") {
  Contended c;
  std::size_t attempts = 0;
  c.world.faults->before = [&](const Call& call) -> std::optional<Error> {
    if (call.operation != "acquire" || ++attempts < 3) return std::nullopt;
    c.world.clock->advance(1h);
    return Error(Errc::busy);
  };
  c.world.faults->after = at("change_counter", 5, [&] { c.holder.acquire("other").value(); });
  CHECK(c.coordinator.acquire("r", {.wait = 1min}).error().code() == Errc::lease_held);
  CHECK(attempts == 3);
}

TEST_CASE("a store that is busy in the middle of a wait says so") {
  const World world;
  Coordinator coordinator = world.open();
  world.faults->before = [](const Call&) -> std::optional<Error> { return Error(Errc::busy); };
  CHECK(coordinator.acquire("r", {.wait = 1min}).error().code() == Errc::busy);
  CHECK(world.faults->count("acquire") == 1);
}

TEST_CASE("naps are jittered between half a millisecond and one and a half, by their seed") {
  detail::Jitter a(1);
  detail::Jitter b(1);
  detail::Jitter c(2);
  bool differs = false;
  Duration least = 1h;
  Duration most = 0h;
  for (int i = 0; i < 10'000; ++i) {
    const Duration nap = a.next();
    CHECK(nap == b.next());
    differs = differs || nap != c.next();
    least = std::min(least, nap);
    most = std::max(most, nap);
  }
  CHECK(differs);
  CHECK(least >= 500us);
  CHECK(least < 510us);
  CHECK(most <= 1500us);
  CHECK(most > 1490us);
}
