// Processes that take turns, wait and hold, and are killed at random moments, by the hundred.
#include <array>
#include <iostream>
#include <map>
#include <vector>

#include "host/waiting_queue.hpp"
#include "host_support.hpp"
#include "thread_sanitizer.hpp"

using namespace wallock;
using namespace wallock::test;
using host::WaitingLine;

namespace {

constexpr std::size_t workers = 6;
constexpr std::size_t resources = 3;

// What the workers do to each other, seen from outside the sidecar.
struct Ground {
  std::atomic<pid_t> inside;                               // who has the turn
  std::array<std::atomic<std::uint64_t>, resources> held;  // by which instance
  std::atomic<int> turns;
  std::atomic<int> holds;
  std::atomic<int> refused;   // turns that were not had in time
  std::atomic<int> overlaps;  // turns and resources that two living ones had at once
};

void take_turn(Sidecar& sidecar, Ground& ground) {
  if (!sidecar.turnstile().enter(long_enough)) {
    ++ground.refused;
    return;
  }
  ground.inside = getpid();
  for (int i = 0; i < 200; ++i) {
    if (ground.inside != getpid()) ++ground.overlaps;
  }
  ++ground.turns;
  sidecar.turnstile().leave();
}

// As a waiting call does with the database's word for the resource. True once it is held.
bool take_resource(Sidecar& sidecar, std::atomic<std::uint64_t>& held, std::uint64_t instance,
                   WaitingLine::Place& place) {
  const std::uint32_t calls = place.calls();
  if (place.is_first()) {
    std::uint64_t holder = held;
    const bool is_free = holder == 0 || sidecar.membership().is_dead(holder);
    if (is_free && held.compare_exchange_strong(holder, instance)) return true;
    place.stay();
  }
  place.sleep(calls, 10ms);
  return false;
}

void hold_resource(Sidecar& sidecar, Ground& ground, std::size_t which, std::uint64_t instance) {
  const std::string name = "r" + std::to_string(which);
  auto place = sidecar.line().join(name, Instant::max());
  if (!place) return;
  while (!take_resource(sidecar, ground.held[which], instance, *place)) {
  }
  place.reset();
  std::this_thread::sleep_for(100us);
  std::uint64_t own = instance;
  if (!ground.held[which].compare_exchange_strong(own, 0)) ++ground.overlaps;
  ++ground.holds;
  sidecar.line().call_first(name);
}

int work(const Shore& shore, Ground& ground, std::uint64_t instance) {
  const auto sidecar = shore.open(instance);
  std::mt19937 random(static_cast<unsigned>(instance));
  for (;;) {
    if (random() % 2 == 0) {
      take_turn(*sidecar, ground);
    } else {
      hold_resource(*sidecar, ground, random() % resources, instance);
    }
  }
}

// Kills one worker after the other at random and puts another in its place. Returns how many died
// with the turn.
int kill_workers(const Shore& shore, Ground& ground, std::mt19937& random, int kills) {
  std::uint64_t instance = 100;
  std::vector<Fork> crowd;
  const auto start = [&] {
    ++instance;
    return Fork([&shore, &ground, instance] { return work(shore, ground, instance); });
  };
  for (std::size_t i = 0; i < workers; ++i)
    crowd.push_back(start());
  int with_turn = 0;
  for (int i = 0; i < kills; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 6000));
    Fork& victim = crowd[random() % workers];
    const pid_t pid = victim.pid();
    victim.kill();
    with_turn += ground.inside == pid ? 1 : 0;
    victim = start();
  }
  return with_turn;
}

// Who has the turn says so, and keeps it until it is killed.
int hold_turn(const Shore& shore, std::atomic<std::uint64_t>& holder, std::uint64_t instance) {
  const auto sidecar = shore.open(instance);
  if (!sidecar->turnstile().enter(long_enough)) return 1;
  holder = instance;
  return pause();
}

}  // namespace

TEST_CASE("a storm of kills stops nobody else, and what is held is never taken from the living") {
  const unsigned seed = draw_seed();
  const int kills = thread_sanitizer ? 30 : storm(900);
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const Shore shore;
  const auto own = shore.open(1);
  const Shared<Ground> ground;
  const int with_turn = kill_workers(shore, *ground, random, kills);
  std::cout << "storm: " << kills << " kills (" << with_turn << " in or after their last turn), "
            << ground->turns << " turns, " << ground->holds << " holds, seed " << seed << "\n";
  CHECK(ground->refused == 0);
  CHECK(ground->overlaps == 0);
  CHECK(ground->turns > 0);
  CHECK(ground->holds > 0);
  // All are gone: nothing of them is in anybody's way.
  CHECK(own->membership().count() == 1);
  CHECK(own->turnstile().enter(0s));
  for (std::size_t i = 0; i < resources; ++i) {
    auto place = own->line().join("r" + std::to_string(i), Instant::max());
    REQUIRE(place);
    CHECK(place->is_first());
    const std::uint64_t holder = ground->held[i];
    CHECK((holder == 0 || own->membership().is_dead(holder)));
  }
  CHECK(own->line().count() == 0);
  CHECK(host::slots_in_use(RawSidecar(shore.sidecar())->turnstile.shard) == 0);
}

TEST_CASE("a turn whose holder is killed goes to the next, a thousand times in a row") {
  constexpr std::size_t in_line = 4;
  const int kills = thread_sanitizer ? 30 : storm(1000);
  const Shore shore;
  const auto own = shore.open(1);
  const Shared<std::atomic<std::uint64_t>> holder;
  std::uint64_t instance = 100;
  std::map<std::uint64_t, Fork> crowd;
  const auto start = [&] {
    const std::uint64_t next = ++instance;
    crowd.emplace(next, Fork([&, next] { return hold_turn(shore, *holder, next); }));
  };
  for (std::size_t i = 0; i < in_line; ++i)
    start();
  std::uint64_t last = 0;
  for (int i = 0; i < kills; ++i) {
    REQUIRE(await([&] { return *holder != last; }));
    last = *holder;
    CHECK_FALSE(own->turnstile().enter(0s));
    crowd.at(last).kill();
    crowd.erase(last);
    start();
  }
  crowd.clear();
  CHECK(own->turnstile().enter(0s));
}
