// A forked child can do nothing with what it inherited, and nothing to it.
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include "coordinator_support.hpp"
#include "fork.hpp"
#include "host/process.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

// Runs `act` in a child; its answer is the child's exit status.
int in_child(const std::function<int()>& act) {
  const pid_t child = fork();
  if (child == 0) exit_child(act());
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

template <class T>
bool is_forked(const Result<T>& answer) {
  return !answer && answer.error().code() == Errc::forked_handle;
}

}  // namespace

TEST_CASE(
    "every call on an inherited coordinator answers forked_handle, the store untouched (case "
    "L31)") {
  const World world;
  Coordinator coordinator = world.open();
  const auto held = coordinator.acquire("r").value();
  const std::size_t calls = world.faults->calls().size();
  const int status = in_child([&] {
    const bool all =
        is_forked(coordinator.acquire("s")) && is_forked(coordinator.try_acquire("s")) &&
        is_forked(coordinator.guard("s")) && is_forked(coordinator.renew(held, 30s)) &&
        is_forked(coordinator.commit(held, ActionFields{.id = "a"})) &&
        is_forked(coordinator.release(held)) &&
        is_forked(coordinator.execute("s", ActionFields{.id = "a"})) &&
        is_forked(coordinator.report(held, DownstreamOutcome::success)) &&
        is_forked(coordinator.breaker("r")) && is_forked(coordinator.begin_recovery("r")) &&
        is_forked(coordinator.force_open("r", "x")) && is_forked(coordinator.clear_forced("r")) &&
        is_forked(coordinator.claim({.destination = "d"})) &&
        is_forked(coordinator.revoke("r", held.token(), "x")) && is_forked(coordinator.leases()) &&
        is_forked(coordinator.audit()) && is_forked(coordinator.root()) &&
        is_forked(coordinator.verify()) && is_forked(coordinator.health());
    if (!all) return 1;
    return world.faults->calls().size() == calls ? 0 : 2;
  });
  CHECK(status == 0);
  CHECK(coordinator.release(held).value() == ReleaseEffect::released);
}

TEST_CASE("an inherited guard is lost as forked, and its end in the child releases nothing") {
  const World world;
  Coordinator coordinator = world.open();
  auto guard = std::make_optional(coordinator.guard("r", {.ttl = 30s}).value());
  const FencingToken token = guard->token();
  const int status = in_child([&] {
    if (guard->reason() != LossReason::forked || guard->valid()) return 1;
    if (!guard->lost().stop_requested()) return 2;
    if (!is_forked(guard->release()) || !is_forked(guard->commit(ActionFields{.id = "a"}))) {
      return 3;
    }
    if (guard->token() != token) return 4;
    if (!is_forked(guard->report(DownstreamOutcome::success))) return 5;
    const std::size_t calls = world.faults->calls().size();
    guard.reset();
    return world.faults->calls().size() == calls ? 0 : 6;
  });
  CHECK(status == 0);
  CHECK(guard->valid());
  CHECK(world.faults->count("release") == 0);
  const Instant before = guard->lease().expires_at();
  world.clock->advance(11s);
  CHECK(eventually([&] { return guard->lease().expires_at() > before; }));
}

TEST_CASE("the end of an inherited coordinator neither joins threads nor destroys the store") {
  const World world;
  auto coordinator = std::make_optional(world.open());
  auto guard = std::make_optional(coordinator->guard("r").value());
  guard.reset();  // the threads stay
  const int status = in_child([&] {
    coordinator.reset();
    return world.faults->count("destroy") == 0 ? 0 : 1;
  });
  CHECK(status == 0);
  CHECK(coordinator->acquire("r"));
}

TEST_CASE("a fork while other threads use guards leaves a child that can still ask them") {
  const World world;
  Coordinator coordinator = world.open();
  auto guard = coordinator.guard("r", {.ttl = 30s}).value();
  std::atomic<bool> done{false};
  std::thread user([&] {
    while (!done) {
      static_cast<void>(guard.valid());
      static_cast<void>(guard.token());
    }
  });
  for (int i = 0; i < 100; ++i) {
    const int status = in_child([&] {
      // Not world.faults: its lock is the test's own, and may be held by the parent's thread.
      const bool lost = guard.lost().stop_requested() && !guard.valid();
      const bool named = guard.lease().resource().str() == "r";
      return lost && named && is_forked(guard.release()) ? 0 : 1;
    });
    CHECK(status == 0);
  }
  done = true;
  user.join();
}

TEST_CASE("a child that opens a coordinator of its own can use it") {
  const World world;
  Coordinator coordinator = world.open();
  REQUIRE(coordinator.acquire("r"));
  const int status = in_child([&] {
    Coordinator own = World().open();
    return own.guard("r").value().valid() ? 0 : 1;
  });
  CHECK(status == 0);
}

TEST_CASE("a process mark tells a child, and a grandchild, from the process it was made in") {
  const host::ProcessMark mark;
  const int status = in_child([&] {
    if (!mark.forked()) return 1;
    const host::ProcessMark own;
    if (own.forked()) return 2;
    return in_child([&] { return mark.forked() && own.forked() ? 0 : 3; });
  });
  CHECK(status == 0);
  CHECK_FALSE(mark.forked());
}

TEST_CASE("children that exit with a static coordinator and guard disturb nobody (case L31)") {
  const std::string program = std::string(WALLOCK_TEST_PROGRAM_DIR) + "/exit_in_children";
  const int status = in_child([&] {
    execl(program.c_str(), program.c_str(), "100", nullptr);
    return 99;
  });
  CHECK(status == 0);
}
