// Mutated documents: whatever is accepted is a value like any other, and nothing else happens.
#include <string>

#include "catch.hpp"
#include "perimeter/json_support.hpp"

using namespace wallock;
using wallock::test::frozen_limits;
using wallock::test::Random;
using wallock::test::RandomValues;

namespace {

// What JSON texts are made of, and what parsers stumble over.
std::string piece(Random& random) {
  static const std::string pieces[] = {"{",
                                       "}",
                                       "[",
                                       "]",
                                       ":",
                                       ",",
                                       "\"",
                                       "\\",
                                       "\\u0000",
                                       "\\ud800",
                                       "\\u0061",
                                       "null",
                                       "true",
                                       "1e999",
                                       "-0",
                                       "0.1",
                                       "1.",
                                       "\xEF\xBB\xBF",
                                       "\xFF",
                                       "\xC3",
                                       " ",
                                       "\n",
                                       "//",
                                       "9223372036854775808",
                                       "\"payload\":\"x\",",
                                       "\"payload_hex\":\"00\",",
                                       "\"extra\":1,",
                                       std::string(1, '\0'),
                                       "\"amount\":1.5,"};
  return pieces[random.below(std::size(pieces))];
}

std::string mutated(std::string document, Random& random) {
  for (std::uint64_t n = random.below(3) + 1; n > 0 && !document.empty(); --n) {
    const std::size_t at = random.below(document.size());
    switch (random.below(6)) {
      case 0:
        document[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        document.erase(at, random.below(8) + 1);
        break;
      case 2:
        document.insert(at, piece(random));
        break;
      case 3:
        document.insert(at, document.substr(random.below(document.size()), random.below(30)));
        break;
      case 4:
        document[at] = "0123456789abcdef"[random.below(16)];
        break;
      default:
        document.resize(at);
    }
  }
  return document;
}

struct Tally {
  int accepted = 0;
  int refused = 0;
};

// A mutant is refused with a code of the perimeter, or is a value that survives its own JSON.
template <class T>
void check_mutant(const T& value, Random& random, const JsonLimits& limits, Tally& tally) {
  const std::string document = mutated(encode_json(value), random);
  INFO(document);
  const auto read = decode_json<T>(document, limits);
  if (!read) {
    ++tally.refused;
    REQUIRE(read.error().error_class() == ErrorClass::deterministic);
    REQUIRE_FALSE(read.error().facts().field.empty());
    return;
  }
  ++tally.accepted;
  const auto again = decode_json<T>(encode_json(*read), limits);
  REQUIRE(again);
  REQUIRE(*again == *read);
}

}  // namespace

TEST_CASE("a mutated document is refused, or is a value that survives JSON") {
  constexpr std::uint64_t seed = 1'000'003;
  RandomValues values(seed);
  Random random(seed + 1);
  const JsonLimits limits = frozen_limits();
  Tally tally;
  for (int round = 0; round < 4'000; ++round) {
    INFO("seed " << seed << ", round " << round);
    check_mutant(values.action_request(), random, limits, tally);
    check_mutant(values.action_result(), random, limits, tally);
    check_mutant(values.lease(), random, limits, tally);
    check_mutant(values.delivery(), random, limits, tally);
    check_mutant(values.audit_record(), random, limits, tally);
  }
  CAPTURE(tally.accepted, tally.refused);
  CHECK(tally.accepted > 1'000);
  CHECK(tally.refused > 10'000);
}
