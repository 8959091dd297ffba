// FencingToken: 20 bits of epoch above 43 bits of position, one number line.
#include "wallock/token.hpp"

#include <array>
#include <limits>

#include "catch.hpp"
#include "unit/values_support.hpp"

using wallock::FencingToken;

namespace {

constexpr std::uint64_t max_value = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("a token is made of an epoch and a position that fit their bits") {
  struct Case {
    std::uint64_t epoch, position;
    bool fits;
  };
  const std::array cases{
      Case{0, 0, true},
      Case{0, 1, true},
      Case{FencingToken::max_epoch, FencingToken::max_position, true},
      Case{FencingToken::max_epoch + 1, 0, false},
      Case{0, FencingToken::max_position + 1, false},
      Case{max_value, max_value, false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.epoch, c.position);
    const auto token = FencingToken::of(c.epoch, c.position);
    REQUIRE(token.has_value() == c.fits);
    if (!token) continue;
    CHECK(token->epoch() == c.epoch);
    CHECK(token->position() == c.position);
    CHECK(FencingToken::from_value(token->value()) == token);
  }
}

TEST_CASE("a token's number has 63 bits, so that SQLite's integers hold it") {
  CHECK(FencingToken::from_value(max_value)->value() == max_value);
  CHECK_FALSE(FencingToken::from_value(max_value + 1));
  CHECK_FALSE(FencingToken::from_value(std::numeric_limits<std::uint64_t>::max()));
  CHECK(FencingToken::of(FencingToken::max_epoch, FencingToken::max_position)->value() ==
        max_value);
}

TEST_CASE("a token of a later epoch is above every token of an earlier one") {
  const auto last = FencingToken::of(6, FencingToken::max_position).value();
  const auto first = FencingToken::of(7, 0).value();
  CHECK(last < first);
  CHECK(first.predecessor() == last);
  CHECK(FencingToken::of(7, 1).value() > first);
}

TEST_CASE("the token below all tokens is false and its own predecessor") {
  CHECK_FALSE(FencingToken());
  CHECK(FencingToken().predecessor() == FencingToken());
  const FencingToken one = wallock::test::token(1);
  CHECK(static_cast<bool>(one));
  CHECK(one.predecessor() == FencingToken());
}

TEST_CASE("a token reads as epoch and position") {
  CHECK(to_string(FencingToken::of(3, 17).value()) == "3.17");
  CHECK(to_string(FencingToken()) == "0.0");
}

TEST_CASE("tokens compare as their numbers do") {
  wallock::test::Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t a = random.any_size() >> 1;
    const std::uint64_t b = random.below(4) == 0 ? a : random.any_size() >> 1;
    INFO("seed 1, a=" << a << " b=" << b);
    REQUIRE((wallock::test::token(a) <=> wallock::test::token(b)) == (a <=> b));
    REQUIRE((wallock::test::token(a) == wallock::test::token(b)) == (a == b));
  }
}
