// Arithmetic on the boot clock: held at the ends of the time line instead of overflowing.
#include "wallock/time.hpp"

#include <array>
#include <limits>

#include "catch.hpp"

using wallock::Duration;
using wallock::Instant;
using wallock::saturating_add;
using wallock::saturating_sub;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

struct Case {
  std::int64_t a, b, expected;
};

}  // namespace

// Case L41: a ttl of duration::max() must not wrap round to the past.
TEST_CASE("adding to an instant saturates at both ends of the time line") {
  const std::array cases{Case{5, 7, 12},         Case{5, -7, -2},        Case{1, most, most},
                         Case{most, 1, most},    Case{most, most, most}, Case{0, most, most},
                         Case{-1, least, least}, Case{least, -1, least}, Case{least, least, least},
                         Case{0, least, least},  Case{most, least, -1},  Case{least, most, -1},
                         Case{most, 0, most},    Case{least, 0, least}};
  for (const Case& c : cases) {
    CAPTURE(c.a, c.b);
    CHECK(saturating_add(Instant(Duration(c.a)), Duration(c.b)).time_since_epoch().count() ==
          c.expected);
  }
}

TEST_CASE("the span between two instants saturates at both ends") {
  const std::array cases{Case{12, 5, 7},          Case{5, 12, -7},          Case{most, -1, most},
                         Case{most, least, most}, Case{0, least, most},     Case{-1, least, most},
                         Case{least, 1, least},   Case{least, most, least}, Case{-2, most, least},
                         Case{-1, most, least},   Case{0, most, -most},     Case{least, least, 0},
                         Case{most, most, 0}};
  for (const Case& c : cases) {
    CAPTURE(c.a, c.b);
    CHECK(saturating_sub(Instant(Duration(c.a)), Instant(Duration(c.b))).count() == c.expected);
  }
}

TEST_CASE("saturating arithmetic is usable at compile time") {
  static_assert(saturating_add(Instant::max(), Duration(1)) == Instant::max());
  static_assert(saturating_sub(Instant::max(), Instant::min()) == Duration::max());
  SUCCEED();  // the compiler has checked it
}
