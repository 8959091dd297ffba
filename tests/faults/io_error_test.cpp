// Every call of every scenario to its files fails, once and for ever: the error is of the right
// class, nothing is half-done, and the same step succeeds once the cause is gone.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "faulty_play.hpp"

namespace wallock::test {
namespace {

struct Tally {
  std::uint64_t injected = 0;
  std::uint64_t surfaced = 0;
};

// The opening is alike in all scenarios: those with few steps stand for it.
bool shows_opening(const Scenario& scenario) { return scenario.steps.size() <= 6; }

Tally fail_everywhere(Fault::Kind kind, bool for_ever) {
  Tally tally;
  for (const Scenario& scenario : scenarios()) {
    const auto ends = calls_of(scenario, Durability::commits, kind);
    const std::uint64_t first = shows_opening(scenario) ? 0 : ends.front();
    const std::uint64_t step = scenario.page_size == 512 ? 37 : 1;
    for (std::uint64_t at = first; at < ends.back(); at += step) {
      const auto played =
          play(scenario, Durability::commits, {.kind = kind, .at = at, .for_ever = for_ever}, ends);
      CHECK(played.wrong == "");
      if (!played.injected || played.closing) continue;
      ++tally.injected;
      tally.surfaced += played.surfaced ? 1 : 0;
    }
  }
  std::printf("%s %s: %llu injected, %llu surfaced\n", std::string(to_string(kind)).c_str(),
              for_ever ? "for ever" : "once", static_cast<unsigned long long>(tally.injected),
              static_cast<unsigned long long>(tally.surfaced));
  return tally;
}

void check_surfaced(const Tally& tally) {
  CHECK(tally.injected > 0);
  CHECK(tally.surfaced * 10 > tally.injected * 9);
}

}  // namespace

// Pairs of failing calls, drawn at random: each near the other, or anywhere.
TEST_CASE("two calls that fail are two errors at most, and nothing else happened", "[io]") {
  std::uint64_t pairs = 200;
  if (const char* const given = std::getenv("WALLOCK_SOAK_PAIRS"); given != nullptr)
    pairs = std::strtoull(given, nullptr, 10);
  std::uint64_t seed = 1;
  if (const char* const given = std::getenv("WALLOCK_SEED"); given != nullptr)
    seed = std::strtoull(given, nullptr, 10);
  std::printf("pairs of faults: %llu, seed %llu\n", static_cast<unsigned long long>(pairs),
              static_cast<unsigned long long>(seed));
  Random random(seed);
  constexpr Fault::Kind kinds[] = {Fault::Kind::io_error, Fault::Kind::full,
                                   Fault::Kind::short_read};
  std::uint64_t injected = 0;
  while (injected < pairs) {
    const Scenario& scenario = scenarios()[random.below(scenarios().size())];
    if (scenario.page_size == 512) continue;
    const Fault::Kind kind = kinds[random.below(3)];
    const auto& ends = calls_of(scenario, Durability::commits, kind);
    const std::uint64_t at = random.below(ends.back());
    const std::uint64_t apart = random.chance(1, 2) ? 20 : ends.back();
    const Fault fault{.kind = kind, .at = at, .then = at + 1 + random.below(apart)};
    const auto played = play(scenario, Durability::commits, fault, ends);
    CHECK(played.wrong == "");
    injected += played.injected ? 1 : 0;
  }
}

// The failing COMMIT of an action to be delivered among them: repeated under its id, it is there
// once, and delivered once (case O7).
TEST_CASE("any call that fails once with EIO is an error, and nothing else happened", "[io]") {
  check_surfaced(fail_everywhere(Fault::Kind::io_error, false));
}
TEST_CASE("calls that fail with EIO from some moment on are errors until they end", "[io]") {
  check_surfaced(fail_everywhere(Fault::Kind::io_error, true));
}
TEST_CASE("a disk that is full at any write is disk_full, and nothing else happened", "[io]") {
  check_surfaced(fail_everywhere(Fault::Kind::full, false));
  check_surfaced(fail_everywhere(Fault::Kind::full, true));
}
TEST_CASE("a read that comes short at any place changes nothing", "[io]") {
  CHECK(fail_everywhere(Fault::Kind::short_read, false).injected > 0);
}
// A settlement that met it is repeated with the same claim, and counts (case O5).
TEST_CASE("a lock that is busy once is waited for, and one that stays busy is busy", "[io]") {
  CHECK(fail_everywhere(Fault::Kind::busy, false).injected > 0);
  check_surfaced(fail_everywhere(Fault::Kind::busy, true));
}

}  // namespace wallock::test
