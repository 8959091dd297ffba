// Probes that are lost in every way: none is for ever.
#include <array>
#include <iostream>
#include <random>

#include "coordinator_support.hpp"
#include "fork.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

constexpr Duration probe_ttl = 10s;

enum class Exit { recovered, failed, dropped, thrown, closed, repeated, late };
constexpr std::array all_exits{Exit::recovered, Exit::failed,   Exit::dropped, Exit::thrown,
                               Exit::closed,    Exit::repeated, Exit::late};

// Opening after opening of one store, each of which begins a recovery and leaves it somehow.
class Prober {
 public:
  // What a probe that was just granted comes to. True if it gave its place back itself.
  bool leave(const Probe& probe, Exit exit) {
    switch (exit) {
      case Exit::recovered:
        return complete(probe, true);
      case Exit::failed:
        return complete(probe, false);
      case Exit::dropped:
        return false;
      case Exit::thrown:
        try {
          const Probe own = probe;
          throw std::bad_alloc();
        } catch (const std::bad_alloc&) {
          return false;
        }
      case Exit::closed:
        coordinator = world.other().open();
        return false;
      case Exit::repeated:  // the second answer is a refusal, and changes nothing
        return complete(probe, false) && !complete(probe, true);
      case Exit::late:
        world.clock->advance(probe_ttl);
        return complete(probe, true);
    }
    return false;
  }
  bool complete(const Probe& probe, bool recovered) {
    return coordinator.complete_recovery(probe, {.recovered = recovered, .evidence = "seen"})
        .has_value();
  }
  [[nodiscard]] BreakerState state() { return coordinator.breaker("r").value().state(); }
  // A closed breaker is opened again.
  void trip() {
    const Lease lease = coordinator.acquire("r").value();
    for (std::uint32_t i = 0; i < BreakerPolicy().trip_after; ++i)
      REQUIRE(coordinator.report(lease, DownstreamOutcome::timeout));
  }

  World world;
  Coordinator coordinator = world.open();
};

}  // namespace

// Case B2. After each exit nobody has a probe, or it ends with its ttl; never are there two.
TEST_CASE("a probe that is left on any way out is given back or ends with its ttl") {
  const int exits = static_cast<int>(how_many("WALLOCK_SOAK_EXITS", 20'000));
  const unsigned seed = draw_seed();
  std::cout << "exits: " << exits << ", seed " << seed << std::endl;
  std::mt19937 random(seed);
  Prober prober;
  int wrong = 0;
  std::array<int, all_exits.size()> seen{};
  for (int i = 0; i < exits && wrong == 0; ++i) {
    if (prober.state() == BreakerState::closed) prober.trip();
    prober.world.clock->advance(BreakerPolicy().max_interval);
    const auto probe = prober.coordinator.begin_recovery("r", {.ttl = probe_ttl});
    if (!probe) wrong = 1;
    if (prober.coordinator.begin_recovery("r")) wrong = 2;
    const auto which = random() % all_exits.size();
    ++seen[which];
    const bool given_back = probe && prober.leave(*probe, all_exits[which]);
    const bool should = all_exits[which] == Exit::recovered || all_exits[which] == Exit::failed ||
                        all_exits[which] == Exit::repeated;
    if (given_back != should) wrong = 3;
    const bool lasts = !given_back && all_exits[which] != Exit::late;
    if (lasts != (prober.state() == BreakerState::probing)) wrong = 4;
    prober.world.clock->advance(probe_ttl);
    if (prober.state() == BreakerState::probing) wrong = 5;
  }
  CHECK(wrong == 0);
  for (const int count : seen)
    CHECK(count > exits / 20);
}
