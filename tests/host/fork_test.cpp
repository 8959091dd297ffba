// What fork(2) does to a sidecar (cases L31, L32).
#include <sys/prctl.h>

#include <filesystem>

#include "host_support.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

bool has_sidecar_open() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone).string().ends_with("-wallock")) {
      return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("a forked child does not keep its parent alive (case L32)") {
  const Shore shore;
  const auto own = shore.open(1);
  const Shared<std::atomic<pid_t>> grandchild;
  Fork parent([&] {
    const auto sidecar = shore.open(2);
    if (!sidecar->turnstile().enter(0s)) return 1;
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, 0);
      *grandchild = getpid();
      for (;;)
        pause();
    }
    return pause();
  });
  REQUIRE(await([&] { return grandchild->load() != 0; }));
  CHECK_FALSE(own->membership().is_dead(2));
  parent.kill();
  CHECK(own->membership().is_dead(2));
  CHECK(own->turnstile().enter(long_enough));
  own->turnstile().leave();
  CHECK(kill(*grandchild, SIGKILL) == 0);
}

TEST_CASE("in a forked child a sidecar does nothing, and its end leaves the parent's alone") {
  const Shore shore;
  auto own = shore.open(1);
  const auto other = shore.open(2);
  REQUIRE(own->turnstile().enter(0s));
  auto place = own->line().join("a", Instant::max());
  REQUIRE(place);
  CHECK(Fork([&] {
          if (has_sidecar_open()) return 1;
          own->turnstile().leave();
          if (own->turnstile().enter(0s)) return 2;
          if (own->membership().is_dead(2) || own->membership().count() != 0) return 3;
          if (own->line().join("a", Instant::max()) || own->line().count() != 0) return 4;
          if (own->line().is_waited_for("a")) return 5;
          own->line().call_first("a");
          place->interrupt();
          place->stay();
          place->sleep(place->calls(), 1ms);
          own->lifeline().start();
          if (own->membership().pulse_of(2)) return 7;
          if (!place->is_first()) return 6;
          own->doorbell().ring("a");
          own->doorbell().sleep("a", own->doorbell().rings("a"), 1ms);
          place.reset();
          own.reset();
          return 0;
        }).wait() == 0);
  CHECK_FALSE(other->membership().is_dead(1));
  CHECK(other->membership().count() == 2);
  CHECK_FALSE(other->turnstile().enter(0s));
  CHECK(other->line().is_waited_for("a"));
}

TEST_CASE("a forked child opens the sidecar for itself, beside its parent") {
  const Shore shore;
  const auto own = shore.open(1);
  CHECK(Fork([&] {
          const auto sidecar = shore.open(2);
          if (sidecar->membership().count() != 2) return 1;
          // Its own children lose this one, too, and nothing else that has the number by now.
          return Fork([] { return has_sidecar_open() ? 1 : 0; }).wait();
        }).wait() == 0);
  CHECK(own->membership().count() == 1);
}

TEST_CASE("a program that is started does not keep the sidecar (case L32)") {
  const Shore shore;
  const auto own = shore.open(1);
  CHECK(Fork([&] {
          const auto sidecar = shore.open(2);
          execl("/bin/sh", "sh", "-c", "ls -l /proc/self/fd | grep -q -e -wallock", nullptr);
          return 2;
        }).wait() == 1);
}

TEST_CASE("forks and openings of several threads do not meet") {
  const Shore shore;
  const auto own = shore.open(1);
  std::atomic<bool> stop{false};
  std::thread opener([&] {
    for (std::uint64_t instance = 2; !stop; ++instance)
      static_cast<void>(shore.try_open(instance, *system_clock()));
  });
  for (int i = 0; i < storm(50); ++i)
    CHECK(Fork([] { return has_sidecar_open() ? 1 : 0; }).wait() == 0);
  stop = true;
  opener.join();
}
