// Score: 0 to 1 in millionths, exact.
#include "wallock/score.hpp"

#include <array>
#include <limits>
#include <string>
#include <type_traits>

#include "catch.hpp"
#include "unit/values_support.hpp"

using namespace wallock;
using wallock::test::bytes;
using wallock::test::code_of;

TEST_CASE("INV-03 no score outside zero to one exists") {
  const std::array<std::int64_t, 8> outside{-1,
                                            Score::one + 1,
                                            -Score::one,
                                            2 * Score::one,
                                            std::numeric_limits<std::int64_t>::min(),
                                            std::numeric_limits<std::int64_t>::max(),
                                            std::int64_t{1} << 32,
                                            (std::int64_t{1} << 32) + 5};
  for (const std::int64_t millionths : outside) {
    CAPTURE(millionths);
    CHECK(code_of(Score::from_millionths(millionths)) == Errc::invalid_score);
  }
  const std::array texts{"-0.000001",
                         "1.000001",
                         "-1",
                         "2",
                         "10",
                         "9223372036854775807",
                         "1.1",
                         "18446744073709551616",
                         "18446744073710551615"};
  for (const char* text : texts) {
    CAPTURE(text);
    CHECK(code_of(Score::parse(text)) == Errc::invalid_score);
  }
  CHECK(Score::from_millionths(0).value() == Score());
  CHECK(Score::from_millionths(Score::one).value().millionths() == Score::one);
}

TEST_CASE("INV-03 a score cannot be made past its bounds") {
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Score, std::int64_t>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Score, int>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<int, Score>);
  STATIC_REQUIRE(std::is_trivially_copyable_v<Score>);
}

TEST_CASE("a score is read from plain decimal notation") {
  struct Case {
    const char* text;
    std::int64_t millionths;
  };
  const std::array cases{Case{"0", 0},
                         Case{"1", 1'000'000},
                         Case{"0.75", 750'000},
                         Case{"0.1", 100'000},
                         Case{"0.000001", 1},
                         Case{"0.999999", 999'999},
                         Case{"1.000000", 1'000'000},
                         Case{"0.0", 0},
                         Case{"-0", 0},
                         Case{"-0.000000", 0},
                         Case{"0.750000", 750'000}};
  for (const Case& c : cases) {
    CAPTURE(c.text);
    REQUIRE(Score::parse(c.text));
    CHECK(Score::parse(c.text)->millionths() == c.millionths);
  }
}

TEST_CASE("a score is not read from anything else") {
  const std::array texts{
      std::string(""),          std::string("-"),   std::string("."),    std::string(".5"),
      std::string("1."),        std::string("00"),  std::string("01"),   std::string("0.0000001"),
      std::string("1.0000000"), std::string("1e0"), std::string("1E-1"), std::string("+1"),
      std::string(" 1"),        std::string("1 "),  std::string("0,5"),  std::string("0x1"),
      std::string("nan"),       std::string("inf"), std::string("--0"),  std::string("0.5.0"),
      std::string("0.-5"),      std::string("1/2"), bytes("0\0"),        std::string("0.5\n"),
      std::string("\xD9\xA1")};
  for (const std::string& text : texts) {
    CAPTURE(text);
    CHECK(code_of(Score::parse(text)) == Errc::invalid_score);
  }
}

TEST_CASE("INV-07 every score of a millionth's step survives its text") {
  std::int64_t wrong = 0;
  for (std::int64_t millionths = 0; millionths <= Score::one; ++millionths) {
    const Score score = Score::from_millionths(millionths).value();
    const auto back = Score::parse(to_string(score));
    if (!back || *back != score) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(to_string(Score::parse("0.75").value()) == "0.750000");
  CHECK(to_string(Score()) == "0.000000");
  CHECK(to_string(Score::parse("1").value()) == "1.000000");
}

TEST_CASE("scores are ordered as numbers are") {
  CHECK(Score::parse("0.09").value() < Score::parse("0.1").value());
  CHECK(Score::parse("0.5").value() == Score::parse("0.500").value());
}
