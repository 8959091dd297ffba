// Hex and Digest: 64 characters of [a-f0-9], nothing else.
#include "wallock/digest.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/values_support.hpp"

using namespace wallock;
using wallock::test::bytes;
using wallock::test::code_of;

namespace {

const std::string good = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

std::string replaced(std::size_t at, char c) {
  std::string text = good;
  text[at] = c;
  return text;
}

}  // namespace

TEST_CASE("a digest is exactly 64 characters of [a-f0-9]") {
  CHECK(to_string(Digest::parse(good).value()) == good);
  const std::array refused{std::string(),         good.substr(1),      good + "0",
                           good + "00",           replaced(0, 'A'),    replaced(63, 'F'),
                           replaced(1, 'g'),      replaced(31, ' '),   replaced(5, '\0'),
                           "0x" + good.substr(2), replaced(2, '/'),    replaced(2, ':'),
                           replaced(2, '`'),      std::string(64, '-')};
  for (const std::string& text : refused) {
    CAPTURE(text);
    const auto digest = Digest::parse(text, "root");
    CHECK(code_of(digest) == Errc::invalid_digest);
    CHECK(wallock::test::field_of(digest) == "root");
  }
}

TEST_CASE("every byte goes to hex and back") {
  std::vector<std::uint8_t> all(256);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<std::uint8_t>(i);
  const std::string hex = encode_hex(all);
  CHECK(hex.size() == 512);
  CHECK(hex.find_first_not_of("0123456789abcdef") == std::string::npos);
  std::vector<std::uint8_t> back(256);
  REQUIRE(decode_hex(hex, back));
  CHECK(back == all);
  CHECK(encode_hex({}).empty());
  CHECK_FALSE(decode_hex(hex, std::span(back).first(255)));
  CHECK_FALSE(decode_hex(hex.substr(1), back));
}

TEST_CASE("digests are ordered as their hex texts are") {
  test::Random random(2);
  for (int i = 0; i < 2'000; ++i) {
    const std::string a = random.text("0f8", 64);
    std::string b = a;
    if (random.below(8) != 0) b[random.below(64)] = 'a';
    INFO("seed 2, a=" << a << " b=" << b);
    const Digest left = Digest::parse(a).value();
    const Digest right = Digest::parse(b).value();
    REQUIRE((left <=> right) == (a.compare(b) <=> 0));
    REQUIRE((left == right) == (a == b));
  }
  CHECK(to_string(Digest()) == std::string(64, '0'));
}
