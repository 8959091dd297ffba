// Many waiters in threads and processes: served in order, woken by twos, gone without a trace.
#include <algorithm>
#include <array>
#include <iostream>
#include <numeric>
#include <vector>

#include "host_support.hpp"
#include "thread_sanitizer.hpp"

using namespace wallock;
using namespace wallock::test;
using host::WaitingLine;

namespace {

// A resource that one has at a time, as the database would say, and a log of who had it.
struct Resource {
  std::atomic<bool> held;
  std::atomic<int> waiting;
  std::atomic<int> woken;
  std::atomic<int> served;
  std::array<std::atomic<int>, 256> log;

  [[nodiscard]] bool take() {
    bool free = false;
    return held.compare_exchange_strong(free, true);
  }
};

// Waits in line as number `who` until it has the resource, then leaves the line. Looks again every
// 50 ms, so that it counts; a lost call would be made good only after that.
void wait_and_take(Sidecar& sidecar, Resource& resource, int who) {
  auto place = sidecar.line().join("r", Instant::max());
  if (!place) return;
  ++resource.waiting;
  for (;;) {
    const std::uint32_t calls = place->calls();
    if (place->is_first()) {
      if (resource.take()) break;
      place->stay();
    }
    place->sleep(calls, 50ms);
    if (place->calls() != calls) ++resource.woken;
  }
  resource.log[static_cast<std::size_t>(resource.served++)] = who;
}

void give_back(Sidecar& sidecar, Resource& resource) {
  resource.held = false;
  sidecar.line().call_first("r");
}

std::vector<int> order(const Resource& resource) {
  return {resource.log.begin(), resource.log.begin() + resource.served};
}

}  // namespace

// On a clock that stands still: on a busy machine the called one may be late, and its successor
// too.
TEST_CASE("a release wakes at most two of a hundred waiters (case L22)") {
  constexpr int waiters = thread_sanitizer ? 20 : 100;
  const ManualClock clock;
  const Shore shore;
  std::vector<std::unique_ptr<Sidecar>> openings;
  for (std::uint64_t i = 1; i <= 4; ++i)
    openings.push_back(shore.open(i, clock));
  const Shared<Resource> resource;
  resource->held = true;
  std::vector<std::thread> threads;
  for (int i = 0; i < waiters; ++i) {
    threads.emplace_back([&, i] {
      Sidecar& own = *openings[static_cast<std::size_t>(i) % openings.size()];
      wait_and_take(own, *resource, i);
      give_back(own, *resource);
    });
    REQUIRE(await([&] { return resource->waiting == i + 1; }));
  }
  REQUIRE(resource->woken == 0);
  give_back(*openings[0], *resource);
  for (std::thread& thread : threads)
    thread.join();
  CHECK(resource->woken <= 2 * (waiters + 1));
  std::vector<int> all(waiters);
  std::iota(all.begin(), all.end(), 0);
  CHECK(order(*resource) == all);
  CHECK(openings[0]->line().count() == 0);
}

TEST_CASE("when some of 32 queued waiters are killed, the others are served in order (case L20)") {
  constexpr int waiters = thread_sanitizer ? 8 : 32;
  const unsigned seed = draw_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  // A clock that stands still in all of them: nobody is passed over for being late.
  const ManualClock clock;
  const Shore shore;
  const auto own = shore.open(1, clock);
  const Shared<Resource> resource;
  resource->held = true;
  std::vector<Fork> queued;
  for (int i = 0; i < waiters; ++i) {
    queued.emplace_back([&, i] {
      const auto sidecar = shore.open(100 + static_cast<std::uint64_t>(i), clock);
      wait_and_take(*sidecar, *resource, i);
      give_back(*sidecar, *resource);
      return 0;
    });
    REQUIRE(await([&] { return resource->waiting == i + 1; }));
  }
  std::vector<int> left(waiters);
  std::iota(left.begin(), left.end(), 0);
  // The first and the last among them: both are places that others look at.
  std::vector<int> victims = {0, waiters - 1};
  while (victims.size() < static_cast<std::size_t>(waiters) / 3) {
    const auto victim = static_cast<int>(random() % static_cast<unsigned>(waiters));
    if (std::ranges::find(victims, victim) == victims.end()) victims.push_back(victim);
  }
  for (const int victim : victims) {
    queued[static_cast<std::size_t>(victim)].kill();
    std::erase(left, victim);
  }
  give_back(*own, *resource);
  for (const int i : left)
    CHECK(queued[static_cast<std::size_t>(i)].wait() == 0);
  CHECK(order(*resource) == left);
  CHECK(own->line().count() == 0);
  CHECK(own->membership().count() == 1);
  std::cout << "waiters: " << victims.size() << " of " << waiters << " killed, seed " << seed
            << "\n";
}

TEST_CASE("a waiter that is killed after it was called is not waited for") {
  const ManualClock clock;
  const Shore shore;
  const auto own = shore.open(1, clock);
  const Shared<std::atomic<bool>> called;
  Fork first([&] {
    const auto sidecar = shore.open(2, clock);
    auto place = sidecar->line().join("r", Instant::max());
    const auto seen = place->calls();
    *called = true;
    while (place->calls() == seen)
      place->sleep(seen, long_enough);
    return raise(SIGKILL);
  });
  REQUIRE(await([&] { return called->load(); }));
  auto second = own->line().join("r", Instant::max());
  REQUIRE(second);
  CHECK_FALSE(second->is_first());
  own->line().call_first("r");
  CHECK(first.wait() == 128 + SIGKILL);
  CHECK(second->is_first());
}
