// Power cuts at every write and flush of every scenario: what was answered as lasting lasts, no
// token comes twice, nothing is half-done, and work goes on. docs/testing.md tells how to replay a
// failure and how to cut more often.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "fork.hpp"
#include "power_cut.hpp"

namespace wallock::test {
namespace {

// Images that a run of all cases comes to by itself.
constexpr std::uint64_t usual_images = 50'000;

// The seeds at each place where `usual` make usual_images: WALLOCK_SOAK_IMAGES has more or less.
std::uint64_t scaled(std::uint64_t usual) {
  return std::max<std::uint64_t>(
      1, usual * how_many("WALLOCK_SOAK_IMAGES", usual_images) / usual_images);
}

// The log of this one is long, and most of its places are alike.
std::uint64_t every(const Scenario& scenario) { return scenario.page_size == 512 ? 16 : 1; }

// Cuts each n-th scenario of `of`, beginning with `first`, so that several processes can share.
void cut_share(Durability durability, std::uint64_t seeds, std::size_t first, std::size_t of) {
  std::uint64_t images = 0;
  std::uint64_t places = 0;
  for (std::size_t i = first; i < scenarios().size(); i += of) {
    const auto cuts =
        cut_everywhere(record(scenarios()[i], durability), {.first_seed = how_many("RNG_SEED", 0)},
                       scaled(seeds), every(scenarios()[i]));
    for (const auto& failure : cuts.failures)
      UNSCOPED_INFO(failure);
    CHECK(cuts.failed == 0);
    CHECK((cuts.images > cuts.places || scaled(seeds) < seeds));
    images += cuts.images;
    places += cuts.places;
  }
  std::printf("power cuts at %s: %llu images at %llu places\n",
              std::string(to_string(durability)).c_str(), static_cast<unsigned long long>(images),
              static_cast<unsigned long long>(places));
}

// Each third scenario where something is to go wrong.
Cuts cut_in_vain(Durability durability, std::optional<Durability> promised, const Wanted& wanted) {
  Cuts all;
  for (std::size_t i = 0; i < scenarios().size(); i += 3) {
    const Scenario& scenario = scenarios()[i];
    if (scenario.page_size == 512) continue;
    const auto cuts = cut_everywhere(record(scenario, durability, promised), wanted, 4);
    all.images += cuts.images;
    all.failed += cuts.failed;
    all.failures.insert(all.failures.end(), cuts.failures.begin(), cuts.failures.end());
  }
  return all;
}

bool any_says(const Cuts& cuts, const std::string& words) {
  return std::any_of(cuts.failures.begin(), cuts.failures.end(), [&](const std::string& failure) {
    return failure.find(words) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("a power cut takes back no commit at the level commits (1 of 4)", "[power]") {
  cut_share(Durability::commits, 192, 0, 4);
}
TEST_CASE("a power cut takes back no commit at the level commits (2 of 4)", "[power]") {
  cut_share(Durability::commits, 192, 1, 4);
}
TEST_CASE("a power cut takes back no commit at the level commits (3 of 4)", "[power]") {
  cut_share(Durability::commits, 192, 2, 4);
}
TEST_CASE("a power cut takes back no commit at the level commits (4 of 4)", "[power]") {
  cut_share(Durability::commits, 192, 3, 4);
}
TEST_CASE("a power cut takes back nothing at the level every_answer", "[power]") {
  cut_share(Durability::every_answer, 96, 0, 1);
}
TEST_CASE("a power cut leaves a sound store at the level relaxed, and no token comes twice",
          "[power]") {
  cut_share(Durability::relaxed, 96, 0, 1);
}

// What the cases above rest on can fail.
TEST_CASE("without another epoch, tokens come twice after a power cut", "[power]") {
  const auto cuts = cut_in_vain(Durability::relaxed, {}, {.same_boot = true});
  CHECK(any_says(cuts, ": token "));
}
TEST_CASE("a store that flushes less than it promises loses answers in a power cut", "[power]") {
  CHECK(any_says(cut_in_vain(Durability::relaxed, Durability::commits, {}), ": lost: "));
  CHECK(any_says(cut_in_vain(Durability::commits, Durability::every_answer, {}), ": lost: "));
}
TEST_CASE("on a disk that lies about flushes, stores are lost and damaged", "[power]") {
  const auto cuts = cut_in_vain(Durability::every_answer, {}, {.lies = true});
  CHECK(cuts.failed > cuts.images / 10);
  CHECK(any_says(cuts, ": lost: "));
}

// WALLOCK_REPLAY="scenario, place 17, seed 3" and WALLOCK_REPLAY_LEVEL=0, 1 or 2.
TEST_CASE("replay of one power cut", "[.replay]") {
  const char* const what = std::getenv("WALLOCK_REPLAY");
  const char* const level = std::getenv("WALLOCK_REPLAY_LEVEL");
  if (what == nullptr) return;
  const std::string words(what);
  const auto number_after = [&](const std::string& word) {
    return std::strtoull(words.c_str() + words.rfind(word) + word.size(), nullptr, 10);
  };
  for (const Scenario& scenario : scenarios()) {
    if (!words.starts_with(scenario.name + ", place ")) continue;
    const auto durability = static_cast<Durability>(level == nullptr ? 1 : std::atoi(level));
    const auto wrong = cut_once(record(scenario, durability), {}, number_after(", place "),
                                number_after(", seed "));
    CHECK(wrong == "");
  }
}

}  // namespace wallock::test
