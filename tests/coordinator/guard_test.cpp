// LeaseGuard: what its owner sees, with the heartbeat threads running.
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "coordinator_support.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

// Holds calls of one operation up until they are let go on.
class Gate {
 public:
  explicit Gate(std::string_view operation) : operation_(operation) {}
  ~Gate() { open(); }

  std::function<std::optional<Error>(const Call&)> hook() {
    return [this](const Call& call) -> std::optional<Error> {
      if (call.operation != operation_) return std::nullopt;
      std::unique_lock lock(mutex_);
      waiting_ = true;
      opened_.wait(lock, [this] { return open_; });
      return answer_;
    };
  }
  bool is_somebody_waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }
  void open(std::optional<Error> answer = {}) {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
      answer_ = std::move(answer);
    }
    opened_.notify_all();
  }

 private:
  const std::string_view operation_;
  std::mutex mutex_;
  std::condition_variable opened_;
  bool waiting_ = false;
  bool open_ = false;
  std::optional<Error> answer_;
};

std::function<std::optional<Error>(const Call&)> failing(std::string_view operation, Errc code,
                                                         int times = 1'000'000) {
  return [=, left = times](const Call& call) mutable -> std::optional<Error> {
    if (call.operation != operation || left-- <= 0) return std::nullopt;
    return Error(code);
  };
}

bool is_free(const World& world) { return world.repository()->leases(9).value().empty(); }

}  // namespace

TEST_CASE("a guard holds its lease, and gives it back at its end") {
  const World world;
  Coordinator coordinator = world.open();
  {
    const auto guard = coordinator.guard("r").value();
    CHECK(guard.valid());
    CHECK(guard.reason() == LossReason::none);
    CHECK_FALSE(guard.lost().stop_requested());
    CHECK(guard.token() == guard.lease().token());
    CHECK_FALSE(is_free(world));
  }
  CHECK(is_free(world));
  CHECK(world.faults->count("release") == 1);
}

TEST_CASE("a guard's lease is renewed in the background") {
  const World world;
  Coordinator coordinator = world.open();
  const auto guard = coordinator.guard("r", {.ttl = 30s}).value();
  for (int i = 0; i < 20; ++i) {
    const Instant before = guard.lease().expires_at();
    world.clock->advance(11s);
    REQUIRE(eventually([&] { return guard.lease().expires_at() > before; }));
  }
  CHECK(guard.valid());
}

TEST_CASE("a guard without heartbeat is lost at request time plus ttl less the margin") {
  const World world;
  Coordinator coordinator = world.open();
  std::atomic<int> told{0};
  std::atomic<LossReason> reason{LossReason::none};
  const auto guard = coordinator
                         .guard("r", {.ttl = 30s},
                                {.heartbeat = false,
                                 .margin = 5s,
                                 .on_lost =
                                     [&](LossReason why) {
                                       reason = why;
                                       ++told;
                                     }})
                         .value();
  const auto token = guard.lost();
  world.clock->advance(25s - 1ns);
  CHECK(guard.valid());
  CHECK_FALSE(token.stop_requested());
  world.clock->advance(1ns);
  CHECK(eventually([&] { return token.stop_requested(); }));
  CHECK(eventually([&] { return told == 1; }));
  CHECK(reason == LossReason::expired);
  CHECK_FALSE(guard.valid());
  CHECK(guard.reason() == LossReason::expired);
  CHECK(world.faults->count("renew") == 0);
}

TEST_CASE("a store that hangs does not delay the news of the loss") {
  const World world;
  Gate gate("renew");
  world.faults->before = gate.hook();
  Coordinator coordinator = world.open();
  std::atomic<LossReason> reason{LossReason::none};
  auto guard =
      coordinator.guard("r", {.ttl = 30s}, {.on_lost = [&](LossReason why) { reason = why; }})
          .value();
  const auto token = guard.lost();
  world.clock->advance(10s);
  REQUIRE(eventually([&] { return gate.is_somebody_waiting(); }));
  world.clock->advance(17s);
  // The renewal hangs still; nobody asks the guard.
  CHECK(eventually([&] { return token.stop_requested(); }));
  CHECK(eventually([&] { return reason == LossReason::store_unavailable; }));
  gate.open();
}

TEST_CASE(
    "a paused owner sees the loss in its next call, before any thread has run (cases L1, L29)") {
  const World world;
  Coordinator coordinator = world.open();
  const auto guard = coordinator.guard("r", {.ttl = 30s}, {.heartbeat = false}).value();
  world.clock->advance(1h);
  CHECK(guard.lost().stop_requested());
}

TEST_CASE("valid is advisory: only the commit says that a lease was revoked (case L29)") {
  const World world;
  Coordinator coordinator = world.open();
  Coordinator operators = world.other().open();
  auto guard = coordinator.guard("r", {.ttl = 30s}).value();
  REQUIRE(operators.revoke("r", guard.token(), "test"));
  CHECK(guard.valid());
  bool ran = false;
  const auto answer = guard.commit(ActionFields{.id = "a"}, [&] { ran = true; });
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code() == Errc::stale_token);
  CHECK_FALSE(ran);
  CHECK_FALSE(guard.valid());
  CHECK(guard.reason() == LossReason::revoked);
  CHECK(guard.lost().stop_requested());
}

TEST_CASE("a commit that is refused for its content loses nothing") {
  const World world;
  Coordinator coordinator = world.open();
  auto guard = coordinator.guard("r").value();
  REQUIRE(guard.commit(ActionFields{.id = "a", .payload = "one"}));
  CHECK(guard.commit(ActionFields{.id = "a", .payload = "two"}).error().code() ==
        Errc::action_conflict);
  CHECK(guard.commit(ActionFields{.id = ""}).error().code() == Errc::invalid_name);
  CHECK(guard.commit(ActionFields{.id = "b"}, [] { return Status(fail(work_error(1))); })
            .error()
            .code() == Errc::work_failed);
  CHECK(guard.valid());
  CHECK(guard.commit(ActionFields{.id = "b"}));
}

TEST_CASE("a guard takes over the token that its commit kept, and goes on under it") {
  const World world;
  Coordinator coordinator = world.open();
  auto guard = coordinator.guard("r", {.ttl = 30s}).value();
  FencingToken last = guard.token();
  for (int i = 0; i < 5; ++i) {
    const auto answer = guard.commit(ActionFields{.id = "a" + std::to_string(i)});
    REQUIRE(answer);
    CHECK(guard.token() > last);
    CHECK(guard.token() == answer->lease()->token());
    last = guard.token();
    const Instant before = guard.lease().expires_at();
    world.clock->advance(11s);
    REQUIRE(eventually([&] { return guard.lease().expires_at() > before; }));
  }
  CHECK(guard.valid());
  CHECK(guard.release().value() == ReleaseEffect::released);
}

TEST_CASE("a commit with another ttl sets the guard's pace and margin from then on") {
  const World world;
  Coordinator coordinator = world.open();
  auto guard = coordinator.guard("r", {.ttl = 1h}, {.heartbeat = false, .margin = 30min}).value();
  REQUIRE(guard.commit(ActionFields{.id = "a"}, {}, {.after = AfterCommit::keep, .ttl = 10s}));
  world.clock->advance(5s - 1ns);
  CHECK(guard.valid());
  world.clock->advance(1ns);
  CHECK_FALSE(guard.valid());
}

TEST_CASE("a commit that releases ends the guard without a loss") {
  const World world;
  Coordinator coordinator = world.open();
  std::atomic<int> told{0};
  auto guard =
      coordinator.guard("r", {.ttl = 30s}, {.on_lost = [&](LossReason) { ++told; }}).value();
  REQUIRE(guard.commit(ActionFields{.id = "a"}, {}, {.after = AfterCommit::release}));
  CHECK_FALSE(guard.valid());
  CHECK(guard.reason() == LossReason::none);
  CHECK(is_free(world));
  world.clock->advance(1h);
  CHECK_FALSE(guard.lost().stop_requested());
  CHECK(guard.release().value() == ReleaseEffect::already_ended);
  CHECK(world.faults->count("release") == 0);
  CHECK(told == 0);
}

TEST_CASE("a guard reports for its own lease") {
  const World world;
  Coordinator coordinator = world.open();
  auto guard = coordinator.guard("r").value();
  CHECK(guard.report(DownstreamOutcome::timeout).value() == ReportEffect::counted);
  CHECK(guard.report(DownstreamOutcome::success).value() == ReportEffect::cleared);
  CHECK(guard.report(static_cast<DownstreamOutcome>(9)).error().code() == Errc::invalid_option);
}

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
  for (int round = 0; round < 50; ++round) {
    std::atomic<bool> entered{false};
    auto alive = std::make_unique<std::atomic<bool>>(true);
    auto guard = std::make_optional(coordinator
                                        .guard("r", {.ttl = 30s},
                                               {.heartbeat = false,
                                                .on_lost =
                                                    [&, seen = alive.get()](LossReason) {
                                                      entered = true;
                                                      for (int i = 0; i < 1000; ++i)
                                                        std::this_thread::yield();
                                                      CHECK(*seen);
                                                    }})
                                        .value());
    world.clock->advance(1h);
    if (round % 2 == 0) REQUIRE(eventually([&] { return entered.load(); }));
    guard.reset();
    *alive = false;
  }
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

TEST_CASE("a guard that is used inside its own commit's work says so at once") {
  const World world;
  Coordinator coordinator = world.open();
  auto guard = coordinator.guard("r").value();
  Errc released{};
  Errc committed{};
  const auto answer = guard.commit(ActionFields{.id = "a"}, [&] {
    released = guard.release().error().code();
    committed = guard.commit(ActionFields{.id = "b"}).error().code();
  });
  CHECK(answer);
  CHECK(released == Errc::called_inside_work);
  CHECK(committed == Errc::called_inside_work);
}

TEST_CASE("a long commit and the heartbeat never use two tokens of one lease at a time") {
  const World world;
  Coordinator coordinator = world.open();
  auto guard = coordinator.guard("r", {.ttl = 30s}).value();
  for (int i = 0; i < 200; ++i) {
    world.clock->advance(11s);  // a renewal is due each time that a commit begins
    REQUIRE(guard.commit(ActionFields{.id = "a" + std::to_string(i)}));
  }
  CHECK(guard.valid());
  CHECK(guard.reason() == LossReason::none);
}

TEST_CASE("a failed acquire makes no guard and leaves no thread behind that renews") {
  const World world;
  Coordinator coordinator = world.open();
  Coordinator other = world.other().open();
  REQUIRE(other.acquire("r", {.ttl = 1h}));
  CHECK(coordinator.guard("r").error().code() == Errc::lease_held);
  world.clock->advance(30min);
  CHECK(world.faults->count("renew") == 0);
}
