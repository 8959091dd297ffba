// The random source: every byte is drawn once, whatever the sizes of the draws.
#include "ledger/random.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"

namespace wallock::ledger {
namespace {

TEST_CASE("the random source never hands out the same salt twice over many refills") {
  RandomSource source;
  std::set<std::array<std::uint8_t, 16>> seen;
  constexpr std::size_t draws = 10'000;  // 16 bytes each: more than 150 refills
  for (std::size_t i = 0; i < draws; ++i) {
    std::array<std::uint8_t, 16> salt{};
    REQUIRE(source.fill(salt));
    seen.insert(salt);
  }
  CHECK(seen.size() == draws);
}

TEST_CASE("the random source fills draws of every length to their last byte and not beyond") {
  RandomSource source;
  for (const std::size_t length : {0U, 1U, 7U, 16U, 1000U, 1023U, 1024U, 1025U, 5000U, 3U}) {
    CAPTURE(length);
    // A byte that eight independent draws leave as it was has a chance of 2^-64.
    std::vector<bool> touched(length, false);
    for (int round = 0; round < 8; ++round) {
      std::vector<std::uint8_t> out(length + 1, 0xa5);
      REQUIRE(source.fill(std::span(out).first(length)));
      CHECK(out[length] == 0xa5);
      for (std::size_t i = 0; i < length; ++i)
        if (out[i] != 0xa5) touched[i] = true;
    }
    CHECK(std::count(touched.begin(), touched.end(), false) == 0);
  }
}

TEST_CASE("two random sources have nothing in common") {
  RandomSource first;
  RandomSource second;
  std::array<std::uint8_t, 32> a{};
  std::array<std::uint8_t, 32> b{};
  std::array<std::uint8_t, 32> c{};
  REQUIRE(first.fill(a));
  REQUIRE(second.fill(b));
  REQUIRE(fill_random(c));
  CHECK(a != b);
  CHECK(b != c);
  CHECK(a != c);
}

}  // namespace
}  // namespace wallock::ledger
