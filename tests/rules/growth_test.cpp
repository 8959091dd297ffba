#include "wallock/rules/growth.hpp"

#include <cstdint>
#include <limits>

#include "catch.hpp"

using namespace wallock;
using namespace std::chrono_literals;

TEST_CASE("doubling is exact up to its cap and held there") {
  struct Case {
    Duration first;
    std::uint32_t times;
    Duration most;
    Duration expected;
  };
  const Case cases[] = {
      {1s, 0, 1h, 1s},
      {1s, 1, 1h, 2s},
      {1s, 11, 1h, 2048s},
      {1s, 12, 1h, 1h},
      {1s, 2, 4s, 4s},  // the cap itself is a step, not one too many
      {1s, 3, 4s, 4s},
      {1s, 0, 1s, 1s},
      {5s, 0, 3s, 3s},
      {1ns, 62, Duration::max(), Duration(std::int64_t{1} << 62)},
      {1ns, 63, Duration::max(), Duration::max()},
      {1ns, 64, Duration::max(), Duration::max()},
      {3ns, 62, Duration::max(), Duration::max()},
      {1h, std::numeric_limits<std::uint32_t>::max(), 24h, 24h},
      {0s, 10, 1h, 0s},
  };
  for (const Case& c : cases) {
    CAPTURE(c.first.count(), c.times, c.most.count());
    CHECK(rules::doubled(c.first, c.times, c.most) == c.expected);
  }
}

TEST_CASE("a counter at its largest value stays there") {
  constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  CHECK(rules::saturating_increment(std::uint32_t{0}) == 1);
  CHECK(rules::saturating_increment(most - 1) == most);
  CHECK(rules::saturating_increment(most) == most);
  CHECK(rules::saturating_increment(std::numeric_limits<std::uint64_t>::max()) ==
        std::numeric_limits<std::uint64_t>::max());
}
