// A storm of SIGKILLs over everything that a store offers: what is left is sound, nothing that was
// acknowledged is gone, and those who live go on at once.
#include <iostream>

#include "catch.hpp"
#include "storm.hpp"
#include "thread_sanitizer.hpp"

using namespace wallock::test;
using wallock::Durability;

namespace {

// So many kills are dealt out to stores of their own.
constexpr std::uint64_t kills_of_a_store = 100;

std::string first_words(const std::vector<std::string>& wrong) {
  std::string text;
  for (std::size_t i = 0; i < wrong.size() && i < 10; ++i)
    text += wrong[i] + "\n";
  return text;
}

struct Tally {
  PhaseCounts killed{};
  std::uint64_t kills = 0;
  std::uint64_t commits = 0;

  void add(const Storm& storm) {
    for (std::size_t i = 0; i < phases; ++i) {
      killed[i] += storm.killed()[i];
      kills += storm.killed()[i];
    }
    commits += storm.commits();
  }
};

void print(const Tally& tally, std::size_t processes, unsigned seed) {
  std::cout << "storm of " << processes << ": " << tally.kills << " kills (";
  for (std::size_t i = 0; i < phases; ++i)
    std::cout << (i == 0 ? "" : ", ") << to_string(static_cast<Phase>(i)) << " " << tally.killed[i];
  std::cout << "), " << tally.commits << " commits acknowledged, seed " << seed << std::endl;
}

void rage(std::size_t processes, std::uint64_t kills) {
  const unsigned seed = draw_seed();
  CAPTURE(processes, seed);
  Tally tally;
  for (unsigned store = 0; tally.kills < kills; ++store) {
    CAPTURE(store);
    Storm storm({.processes = processes,
                 .kills = kills_of_a_store,
                 .durability = store % 2 == 0 ? Durability::relaxed : Durability::commits},
                seed + store);
    auto wrong = storm.rage();
    INFO(first_words(wrong));
    REQUIRE(wrong.empty());
    wrong = storm.check();
    INFO(first_words(wrong));
    REQUIRE(wrong.empty());
    tally.add(storm);
  }
  print(tally, processes, seed);
  CHECK(tally.commits > 0);
  if (kills < 1000) return;
  // Not by luck: somebody died of each.
  for (const Phase phase :
       {Phase::migrate, Phase::open, Phase::acquire, Phase::commit, Phase::turnstile,
        Phase::checkpoint, Phase::release, Phase::claim, Phase::settle}) {
    CAPTURE(to_string(phase));
    CHECK(tally.killed[static_cast<std::size_t>(phase)] > 0);
  }
}

// A third of all kills for each size of the crowd.
std::uint64_t kills() { return how_many("WALLOCK_SOAK_KILLS", thread_sanitizer ? 90 : 5001) / 3; }

}  // namespace

// Among the moments of death are those between claim and settlement: every delivery is there as the
// ledger tells, none is lost (case O10).
TEST_CASE("INV-01 INV-04 INV-08 a storm of kills over 4 processes leaves a sound store") {
  rage(4, kills());
}

TEST_CASE("INV-01 INV-04 INV-08 a storm of kills over 8 processes leaves a sound store") {
  rage(8, kills());
}

TEST_CASE("INV-01 INV-04 INV-08 a storm of kills over 16 processes leaves a sound store") {
  rage(16, kills());
}

TEST_CASE("storm: a row that is written after its record's transaction is found missing") {
  const unsigned seed = draw_seed();
  CAPTURE(seed);
  std::size_t found = 0;
  for (unsigned store = 0; store < 20 && found == 0; ++store) {
    Storm storm({.processes = 4,
                 .kills = kills_of_a_store,
                 .durability = Durability::relaxed,
                 .writing = Writing::two_transactions},
                seed + store);
    REQUIRE(storm.rage().empty());
    found = storm.check().size();
  }
  CHECK(found > 0);
}
