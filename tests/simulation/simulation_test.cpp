// Whole lives of a store, simulated: workers, faults, deaths and power cuts, as a seed draws them.
//   WALLOCK_SOAK_SEEDS=<number>                   how many in all parts together; 5'000 otherwise
//   WALLOCK_SEED=<number>                         the first one
//   WALLOCK_REPLAY_SEED=<number> ... "[.replay]"  one of them, told call by call
#include <cstdlib>
#include <iostream>

#include "catch.hpp"
#include "world.hpp"

namespace wallock::test {
namespace {

constexpr std::uint64_t parts = 5;

// What every thousand seeds must have come upon: runs that never met it would show nothing about
// it.
constexpr std::string_view wanted[] = {
    // Answers.
    "answered new", "answered replayed", "answered stale_token", "answered lease",
    "answered lease_held", "answered already_held", "answered lease_expired", "answered lease_lost",
    "answered request_spent", "answered action_conflict", "answered batch_partly_recorded",
    "answered work_failed", "answered released", "answered expired", "answered late",
    "answered counted", "answered cleared", "answered tripped", "answered breaker_open",
    "answered recovery_not_due", "answered probe", "answered probe_lost", "a breaker was closed",
    "a breaker was closed at last", "answered sealed", "answered queued", "answered dead",
    "answered claim_lost", "a delivery was claimed again", "took over from the dead",
    "a lease ran out in its work",
    // Faults.
    "answered io_error", "answered disk_full", "answered outcome_unknown", "opening failed",
    "an open outcome had happened", "an open outcome had not happened",
    "an open commit was repeated", "no sidecar", "a fault that nobody noticed",
    "checkpoint in a call", "checkpoint at a close", "death between calls", "death in a commit",
    "death in another call", "death in an opening", "death in a close", "power cut between calls",
    "power cut in a call", "power cut in an opening", "power cut in a close", "wall clock jumped"};

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Every hundredth seed is played twice, and must do the same to the byte.
void play_part(std::uint64_t part) {
  const auto seeds = from_environment("WALLOCK_SOAK_SEEDS", 5'000) / parts;
  const auto first = from_environment("WALLOCK_SEED", 1) + part * seeds;
  Sometimes sometimes;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const bool is_twice = seed % 100 == 0;
    INFO("WALLOCK_REPLAY_SEED=" << seed << " wallock_test_simulation \"[.replay]\"");
    const Ran ran = play(seed, {}, sometimes, nullptr, is_twice);
    if (!ran.failure.empty()) FAIL(ran.failure);
    if (!is_twice) continue;
    Sometimes again;
    CHECK(play(seed, {}, again, nullptr, true).trace == ran.trace);
  }
  if (seeds < 1'000) return;
  for (const std::string_view what : wanted) {
    CAPTURE(what);
    CHECK(sometimes[std::string(what)] > 0);
  }
}

// The first of so many seeds with which the simulation finds the bug; 0 if none does.
std::uint64_t found_with(const Planted& planted, std::uint64_t seeds, std::string& failure) {
  Sometimes sometimes;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Ran ran = play(seed, planted, sometimes);
    if (ran.failure.empty()) continue;
    failure = std::move(ran.failure);
    return seed;
  }
  return 0;
}

}  // namespace

TEST_CASE("simulated workers on a failing machine do what they answer: part 1") { play_part(0); }
TEST_CASE("simulated workers on a failing machine do what they answer: part 2") { play_part(1); }
TEST_CASE("simulated workers on a failing machine do what they answer: part 3") { play_part(2); }
TEST_CASE("simulated workers on a failing machine do what they answer: part 4") { play_part(3); }
TEST_CASE("simulated workers on a failing machine do what they answer: part 5") { play_part(4); }

TEST_CASE("simulation finds a disk that does not flush") {
  std::string failure;
  CHECK(found_with({.drops_flushes = true}, 100, failure) > 0);
  CHECK(failure.find("may hold") != std::string::npos);
}

TEST_CASE("simulation finds a store that tells an unknown outcome as done") {
  std::string failure;
  CHECK(found_with({.trusts_unknown = true}, 200, failure) > 0);
  CHECK(failure.find("may hold") != std::string::npos);
}

TEST_CASE("simulation finds a store that tells an unknown outcome as not done") {
  std::string failure;
  CHECK(found_with({.denies_unknown = true}, 200, failure) > 0);
  CHECK(failure.find("may hold") != std::string::npos);
}

TEST_CASE("simulation finds a machine on which nobody learns of a death") {
  std::string failure;
  CHECK(found_with({.buries_quietly = true}, 200, failure) > 0);
  CHECK(failure.find("was answered") != std::string::npos);
}

TEST_CASE("simulated run", "[.replay]") {
  const auto seed = from_environment("WALLOCK_REPLAY_SEED", 1);
  Sometimes sometimes;
  const bool forgets = from_environment("WALLOCK_FORGETS", 0) != 0;
  const Ran ran = play(seed, {.forgets_failed = forgets}, sometimes, &std::cout, true);
  std::cout << "trace " << std::hex << ran.trace << std::dec << "\n";
  if (!ran.failure.empty()) FAIL(ran.failure);
}

// How often what happened, for the figures in docs/testing.md.
TEST_CASE("simulated runs counted", "[.figures]") {
  const auto first = from_environment("WALLOCK_SEED", 1);
  const auto seeds = from_environment("WALLOCK_SOAK_SEEDS", 1'000);
  Sometimes sometimes;
  const bool forgets = from_environment("WALLOCK_FORGETS", 0) != 0;
  std::uint64_t failures = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const Ran ran = play(seed, {.forgets_failed = forgets}, sometimes);
    if (ran.failure.empty()) continue;
    ++failures;
    std::cout << "seed " << seed << ": " << ran.failure << std::endl;
  }
  for (const auto& [what, times] : sometimes)
    std::cout << times << " " << what << "\n";
  CHECK(failures == 0);
}

}  // namespace wallock::test
