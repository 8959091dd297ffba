// What the ledger does when OpenSSL fails: nothing is ever hashed wrong or filled with zeros
// unseen.
#include <array>
#include <vector>

#include "failing_openssl.hpp"
#include "ledger/random.hpp"
#include "ledger/sha256.hpp"
#include "ledger_support.hpp"

namespace wallock::ledger {
namespace {

using test::openssl::BrokenProvider;
using test::openssl::DryGenerator;
using test::openssl::refused;
using test::openssl::Step;

TEST_CASE("SHA-256 that OpenSSL does not give out is an error, not a hash") {
  REQUIRE(EVP_set_default_properties(nullptr, "provider=nobody") == 1);
  const auto refused_one = Sha256::create();
  REQUIRE(EVP_set_default_properties(nullptr, "") == 1);
  REQUIRE_FALSE(refused_one);
  CHECK(refused_one.error().code() == Errc::out_of_memory);
  CHECK(Sha256::create());  // the twin
}

TEST_CASE("SHA-256 that cannot run is seen when it is made") {
  const BrokenProvider provider;
  for (const Step step : {Step::context, Step::start, Step::finish}) {
    refused = step;
    const auto made = Sha256::create();
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == Errc::out_of_memory);
  }
  refused = Step::none;
  CHECK(Sha256::create());  // the twin
}

TEST_CASE("SHA-256 that fails in mid-work answers the zero digest and says so for good") {
  const BrokenProvider provider;
  const std::array<std::uint8_t, 3> data{1, 2, 3};
  for (const Step step : {Step::start, Step::update, Step::finish}) {
    refused = Step::none;
    auto hasher = Sha256::create().value();
    CHECK(hasher.digest(data) != Digest());
    CHECK(hasher.leaf(data) != Digest());
    CHECK(hasher.ok());
    refused = step;
    CHECK(hasher.digest(data) == Digest());
    CHECK(hasher.leaf(data) == Digest());
    CHECK(hasher.node(Digest(), Digest()) == Digest());
    refused = Step::none;
    CHECK(hasher.leaf(data) != Digest());
    const Status status = hasher.ok();
    REQUIRE_FALSE(status);
    CHECK(status.error().code() == Errc::out_of_memory);
  }
}

TEST_CASE("the random source hands out nothing when OpenSSL's generator fails") {
  RandomSource source;
  std::array<std::uint8_t, 16> salt{};
  std::array<std::uint8_t, 8> half{};
  std::vector<std::uint8_t> large(5000);
  REQUIRE(source.fill(salt));
  REQUIRE(source.fill(half));
  {
    const DryGenerator dry;
    CHECK_FALSE(fill_random(salt));
    CHECK_FALSE(source.fill(large));
    // What is left of its last refill as long as it suffices, and nothing once a refill failed.
    for (std::size_t left = (1024 - 16 - 8) / 16; left > 0; --left)
      CHECK(source.fill(salt));
    CHECK_FALSE(source.fill(salt));
    CHECK_FALSE(source.fill(half));
  }
  CHECK(source.fill(salt));  // the twin
  CHECK(source.fill(large));
}

}  // namespace
}  // namespace wallock::ledger
