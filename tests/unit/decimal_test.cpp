// Decimal: an exact amount of at most 63 bits and 18 places.
#include "wallock/decimal.hpp"

#include <array>
#include <limits>
#include <string>

#include "catch.hpp"
#include "unit/values_support.hpp"

using namespace wallock;
using wallock::test::bytes;
using wallock::test::code_of;

namespace {

__extension__ typedef __int128 Wide;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

Wide at_18_places(std::int64_t units, int places) {
  Wide wide = units;
  for (int i = places; i < 18; ++i)
    wide *= 10;
  return wide;
}

// The plain text of a number, made digit by digit and without any of the library's code.
std::string long_text(std::int64_t units, int places) {
  std::string digits;
  for (std::int64_t rest = units < 0 ? -units : units; rest != 0; rest /= 10)
    digits.insert(digits.begin(), static_cast<char>('0' + rest % 10));
  while (digits.size() < static_cast<std::size_t>(places) + 1)
    digits = "0" + digits;
  if (places > 0) {
    digits = digits.substr(0, digits.size() - static_cast<std::size_t>(places)) + "." +
             digits.substr(digits.size() - static_cast<std::size_t>(places));
  }
  return (units < 0 ? "-" : "") + digits;
}

std::string without_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0')
    text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

struct Number {
  std::int64_t units;
  int places;
};

Number random_number(test::Random& random) {
  auto units = static_cast<std::int64_t>(random.any_size() >> 1);
  if (random.below(3) == 0) units = units / 1000 * 1000;
  return {random.below(2) == 0 ? units : -units, static_cast<int>(random.below(19))};
}

}  // namespace

TEST_CASE("an amount is read from plain decimal notation, in its shortest form") {
  struct Case {
    const char *text, *shortest;
  };
  const std::array cases{
      Case{"0", "0"},
      Case{"-0", "0"},
      Case{"-0.00", "0"},
      Case{"1.50", "1.5"},
      Case{"-12.50", "-12.5"},
      Case{"100", "100"},
      Case{"100.00", "100"},
      Case{"0.000000000000000001", "0.000000000000000001"},
      Case{"0.000000000000000000", "0"},
      Case{"-0.5", "-0.5"},
      Case{"9223372036854775807", "9223372036854775807"},
      Case{"-9223372036854775807", "-9223372036854775807"},
      Case{"9.223372036854775807", "9.223372036854775807"},
      Case{"1000000000000000000", "1000000000000000000"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    REQUIRE(Decimal::parse(c.text));
    CHECK(to_string(Decimal::parse(c.text).value()) == c.shortest);
  }
}

TEST_CASE("an amount is not read from anything else") {
  const std::array texts{std::string(""),
                         std::string("-"),
                         std::string("."),
                         std::string(".5"),
                         std::string("-.5"),
                         std::string("1."),
                         std::string("-1."),
                         std::string("00"),
                         std::string("-00"),
                         std::string("01.5"),
                         std::string("1e3"),
                         std::string("1E3"),
                         std::string("+1"),
                         std::string("1,5"),
                         std::string("1.5.0"),
                         std::string("1..5"),
                         std::string("- 1"),
                         std::string(" 1"),
                         std::string("1 "),
                         std::string("--1"),
                         std::string("1-"),
                         std::string("nan"),
                         bytes("1\0"),
                         bytes("\0"),
                         std::string("0x10"),
                         std::string("1_000"),
                         std::string("0.0000000000000000001"),  // 19 places
                         std::string("1.0000000000000000000"),  // 19 places
                         std::string("9223372036854775808"),    // 2^63
                         std::string("-9223372036854775808"),   // no positive twin
                         std::string("92233720368547758070"),   // 20 digits
                         std::string("18446744073709551617"),   // 2^64 + 1
                         std::string("92233720368547758.080"),  // over 63 bits as it stands
                         std::string(400, '9'),
                         "0." + std::string(400, '0')};
  for (const std::string& text : texts) {
    CAPTURE(text);
    CHECK(code_of(Decimal::parse(text)) == Errc::invalid_decimal);
  }
}

TEST_CASE("an amount is made of units and places within their bounds") {
  CHECK(to_string(Decimal::of(1250, 2).value()) == "12.5");
  CHECK(Decimal::of(most, 18).value().units() == most);
  CHECK(Decimal::of(-most, 0).value().units() == -most);
  CHECK(code_of(Decimal::of(std::numeric_limits<std::int64_t>::min(), 0)) == Errc::invalid_decimal);
  CHECK(code_of(Decimal::of(1, -1)) == Errc::invalid_decimal);
  CHECK(code_of(Decimal::of(1, 19)) == Errc::invalid_decimal);
  CHECK(Decimal::of(0, 18).value() == Decimal());
}

TEST_CASE("INV-07 random amounts survive their text and agree with integer arithmetic") {
  constexpr std::uint64_t seed = 20'240'607;
  test::Random random(seed);
  for (int i = 0; i < 50'000; ++i) {
    const Number number = random_number(random);
    INFO("seed " << seed << ", round " << i << ": " << number.units << "e-" << number.places);
    const std::string text = long_text(number.units, number.places);
    const auto amount = Decimal::parse(text);
    REQUIRE(amount);
    REQUIRE(at_18_places(amount->units(), amount->places()) ==
            at_18_places(number.units, number.places));
    const std::string expected = number.units == 0 ? "0" : without_trailing_zeros(text);
    REQUIRE(to_string(*amount) == expected);
    REQUIRE(Decimal::parse(expected) == amount);
    REQUIRE(Decimal::of(number.units, number.places) == amount);
  }
}

TEST_CASE("INV-07 amounts are ordered as the integers behind them are") {
  constexpr std::uint64_t seed = 7;
  test::Random random(seed);
  for (int i = 0; i < 50'000; ++i) {
    const Number a = random_number(random);
    Number b = random_number(random);
    if (random.below(3) == 0) b = a;
    if (random.below(3) == 0) b = {a.units + (a.units < most ? 1 : 0), a.places};
    INFO("seed " << seed << ", " << a.units << "e-" << a.places << " and " << b.units << "e-"
                 << b.places);
    const Decimal left = Decimal::of(a.units, a.places).value();
    const Decimal right = Decimal::of(b.units, b.places).value();
    const auto order = at_18_places(a.units, a.places) <=> at_18_places(b.units, b.places);
    REQUIRE((left <=> right) == order);
    REQUIRE((left == right) == (order == 0));
  }
}
