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
