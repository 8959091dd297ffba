// The whole claim at once: processes that are killed and paused at random moments, and a history
// that must be correct all the same.
#include <cstdio>
#include <iostream>

#include "crowd.hpp"
#include "fork.hpp"
#include "process_support.hpp"

using namespace wallock::test;
using SteadyClock = std::chrono::steady_clock;
using wallock::VerifyVerdict;

namespace {

constexpr std::size_t workers = 8;

struct Tally {
  std::size_t commits = 0;
  std::size_t replays = 0;
  std::size_t stale = 0;
  std::size_t unanswered = 0;
};

Tally tally(const History& history) {
  Tally found;
  for (const Attempt& attempt : history.attempts) {
    const bool commits =
        attempt.kind != Attempt::Kind::acquire && attempt.kind != Attempt::Kind::release;
    found.commits += commits && attempt.answer == Attempt::Answer::done ? 1 : 0;
    found.replays += attempt.answer == Attempt::Answer::replayed ? 1 : 0;
    found.stale += attempt.error == "stale_token" ? 1 : 0;
    found.unanswered += attempt.answer == Attempt::Answer::none ? 1 : 0;
  }
  return found;
}

std::uint64_t ledger_size(Crowd& crowd) { return must(crowd.coordinator().health()).ledger_size; }

std::size_t count(const std::vector<Violation>& found, Violation::Kind kind) {
  std::size_t sum = 0;
  for (const Violation& violation : found)
    sum += violation.kind == kind ? 1 : 0;
  return sum;
}

void require_none(const std::vector<Violation>& found) {
  std::string text;
  for (std::size_t i = 0; i < found.size() && i < 10; ++i)
    text += std::string(to_string(found[i].kind)) + ": " + found[i].text + "\n";
  INFO(text);
  REQUIRE(found.empty());
}

}  // namespace

TEST_CASE(
    "INV-01 INV-04 INV-08 8 processes, 4 resources, kills and pauses: no write is lost, "
    "doubled, stale or unrecorded") {
  constexpr std::uint64_t enough_records = 8000;
  constexpr std::size_t enough_faults = 24;
  const unsigned seed = draw_seed();
  CAPTURE(seed);
  Crowd crowd(seed, true);
  crowd.start(workers);
  const auto deadline = SteadyClock::now() + patience;
  std::optional<wallock::TreeHead> noted;
  while (SteadyClock::now() < deadline) {
    crowd.strike(true);
    const auto records = ledger_size(crowd);
    if (!noted && records > enough_records / 2) noted = must(crowd.coordinator().root());
    if (records >= enough_records && crowd.killed() + crowd.paused() >= enough_faults) break;
  }
  REQUIRE(crowd.end() == std::vector<std::string>());

  const History history = crowd.history();
  const Tally seen = tally(history);
  std::cout << "seed " << seed << ": " << history.records.size() << " records, " << seen.commits
            << " commits, " << seen.stale << " stale, " << seen.replays << " replays, "
            << crowd.killed() << " kills, " << crowd.paused() << " pauses, " << seen.unanswered
            << " unanswered\n";
  require_none(violations(history));
  const auto verdict = must(crowd.coordinator().verify(noted)).verdict;
  CHECK(verdict == (noted ? VerifyVerdict::anchored : VerifyVerdict::unanchored));
  CHECK(integrity_check(crowd.database()) == "ok");
  // Not by luck: there was something to refuse, and somebody to kill and pause.
  CHECK(seen.commits > 0);
  CHECK(seen.stale > 0);
  CHECK(crowd.killed() > 0);
  CHECK(crowd.paused() > 0);
}

TEST_CASE("without the fence the same workload loses updates, and the checker sees it") {
  const unsigned seed = draw_seed();
  CAPTURE(seed);
  Crowd crowd(seed, false);
  crowd.start(workers);
  const auto deadline = SteadyClock::now() + patience;
  std::size_t lost = 0;
  while (lost == 0 && SteadyClock::now() < deadline) {
    for (int i = 0; i < 4; ++i)
      crowd.strike(false);
    lost = count(violations(crowd.history()), Violation::Kind::lost_update);
  }
  CHECK(crowd.end() == std::vector<std::string>());
  INFO(crowd.paused() << " pauses");
  CHECK(lost > 0);
}
