// A holder of a lease for an hour is killed: who waits has the resource at once, however often,
// across PID namespaces, and where the kernel does not tell of deaths.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <thread>

#include "child_process.hpp"
#include "denied_call.hpp"
#include "fork.hpp"
#include "process_support.hpp"
#include "temp_folder.hpp"
#include "thread_sanitizer.hpp"

using namespace wallock::test;
using namespace std::chrono_literals;
using wallock::Coordinator;

namespace {

// Rounds are counted from 1: what a process has done in the current one shows its number.
struct Ground {
  std::atomic<std::uint32_t> round;
  std::atomic<std::uint32_t> held;
  std::atomic<std::uint32_t> waits;
  std::atomic<std::uint32_t> taken;
  std::atomic<std::int64_t> taken_at;  // boot clock
  std::atomic<bool> over;
  std::atomic<std::uint32_t> broken;
};

std::int64_t now() { return wallock::system_clock()->now().time_since_epoch().count(); }

template <class Predicate>
void await(Predicate is_so) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!is_so()) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::sleep_for(100us);
  }
}

// Has the resource until it is killed.
int hold(Ground& ground, const std::string& database) {
  auto coordinator = Coordinator::open(database, {.durability = wallock::Durability::relaxed});
  const bool has = coordinator && coordinator->acquire("r", {.ttl = 1h, .wait = patience});
  if (!has) return ++ground.broken, 1;
  ground.held = ground.round.load();
  for (;;)
    ::pause();
}

int wait_and_take(Ground& ground, const std::string& database) {
  auto coordinator = Coordinator::open(database, {.durability = wallock::Durability::relaxed});
  if (!coordinator) return ++ground.broken, 1;
  for (std::uint32_t round = 1; !ground.over; ++round) {
    while (ground.held != round && !ground.over)
      std::this_thread::sleep_for(100us);
    if (ground.over) break;
    ground.waits = round;
    const auto lease = coordinator->acquire("r", {.ttl = 1h, .wait = patience});
    ground.taken_at = now();
    if (!lease || !coordinator->release(*lease)) return ++ground.broken, 1;
    ground.taken = round;
  }
  return 0;
}

struct Conditions {
  bool is_contained = false;
  // Calls that are not to be had, of the holders and of the waiter.
  std::vector<unsigned> holders_lack = {};
  std::vector<unsigned> waiter_lacks = {};
};

[[nodiscard]] bool lacks(const std::vector<unsigned>& calls) {
  return std::ranges::all_of(calls, deny_call);
}

void run(const std::string& name, const Conditions& conditions, std::uint64_t kills) {
  const TempFolder folder;
  const std::string database = folder / "store.db";
  const Shared<Ground> ground;
  Fork waiter([&] {
    if (!lacks(conditions.waiter_lacks)) return ++ground->broken, 1;
    return wait_and_take(*ground, database);
  });
  std::vector<std::int64_t> took;
  const auto work = [&] {
    if (!lacks(conditions.holders_lack)) return ++ground->broken, 1;
    return hold(*ground, database);
  };
  for (std::uint32_t round = 1; round <= kills; ++round) {
    ground->round = round;
    Fork holder = conditions.is_contained ? fork_as_pid_1(work) : Fork(work);
    await([&] { return ground->waits == round || ground->broken != 0; });
    std::this_thread::sleep_for(1ms);
    REQUIRE(ground->broken == 0);
    CHECK(ground->taken != round);
    const std::int64_t killed_at = now();
    holder.kill();
    await([&] { return ground->taken == round || ground->broken != 0; });
    REQUIRE(ground->broken == 0);
    took.push_back(ground->taken_at - killed_at);
  }
  ground->over = true;
  CHECK(waiter.wait() == 0);
  std::ranges::sort(took);
  std::cout << name << ": " << kills << " times, p50 " << took[took.size() / 2] / 1000
            << " us, p99 " << took[took.size() * 99 / 100] / 1000 << " us" << std::endl;
}

std::uint64_t kills() { return how_many("WALLOCK_SOAK_TAKEOVERS", thread_sanitizer ? 5 : 50); }

}  // namespace

TEST_CASE("take-over: what a killed process held is free at once, again and again") {
  run("take-over", {}, kills());
}

TEST_CASE("take-over: what a killed container's process held is free at once") {
  if (!may_have_namespaces()) {
    std::cout << "PID namespaces are not permitted: take-over across them is not tested\n";
    return;
  }
  run("take-over from another PID namespace", {.is_contained = true}, kills());
}

TEST_CASE("take-over: a death is noticed where the kernel keeps no list of what to tell") {
  run("take-over without robust lists", {.holders_lack = {SYS_set_robust_list}}, kills());
}

TEST_CASE("take-over: a death is noticed by one who cannot wait to be told") {
  run("take-over without futex_waitv", {.waiter_lacks = {SYS_futex_waitv}}, kills());
}
