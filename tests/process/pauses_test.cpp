// A thousand stops that outlast a lease: in the middle of work, where somebody else takes the
// resource meanwhile, and inside the transaction, where nobody else can write.
#include <iostream>

#include "catch.hpp"
#include "pauses.hpp"
#include "thread_sanitizer.hpp"

using namespace wallock::test;

namespace {

std::uint64_t pauses() { return how_many("WALLOCK_SOAK_PAUSES", thread_sanitizer ? 40 : 1000); }

// A store of its own for so many, so that none grows without end.
constexpr std::uint64_t pauses_of_a_store = 1000;

std::string words(const std::vector<std::string>& wrong) {
  std::string text;
  for (std::size_t i = 0; i < wrong.size() && i < 10; ++i)
    text += wrong[i] + "\n";
  return text;
}

}  // namespace

TEST_CASE(
    "INV-01 processes stopped past their ttl, in work and in the transaction, commit nothing "
    "stale") {
  const unsigned seed = draw_seed();
  CAPTURE(seed);
  std::uint64_t left = pauses();
  PauseTally all;
  std::uint64_t commits = 0;
  for (unsigned store = 0; left > 0; ++store) {
    Pauses storm(true, seed + store);
    const std::uint64_t wanted = std::min(left, pauses_of_a_store);
    while (storm.tally().working < wanted / 2)
      storm.stop_working();
    while (storm.tally().inside < wanted - wanted / 2)
      storm.stop_inside();
    const auto wrong = storm.end();
    INFO(words(wrong));
    REQUIRE(wrong.empty());
    CHECK(storm.tally().accepted == 0);
    CHECK(storm.tally().refused == storm.tally().working);
    all.working += storm.tally().working;
    all.inside += storm.tally().inside;
    commits += storm.commits();
    left -= wanted;
  }
  std::cout << "pauses: " << all.working << " in work, " << all.inside
            << " inside the transaction, " << commits << " commits acknowledged, seed " << seed
            << std::endl;
}

TEST_CASE("without the fence a process stopped past its ttl overwrites what others wrote") {
  const unsigned seed = draw_seed();
  CAPTURE(seed);
  Pauses storm(false, seed);
  while (storm.tally().working < 20)
    storm.stop_working();
  const auto wrong = storm.end();
  CHECK(storm.tally().accepted > 0);
  CHECK_FALSE(wrong.empty());
}
