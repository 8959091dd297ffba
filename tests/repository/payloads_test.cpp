// What an action carries comes back as it went in.
#include <random>

#include "repository_support.hpp"

namespace wallock::test {
namespace {

std::string random_bytes(std::size_t size) {
  std::mt19937_64 random(20240229);
  std::string bytes(size, '\0');
  for (char& byte : bytes)
    byte = static_cast<char>(random());
  return bytes;
}

}  // namespace

TEST_CASE("a payload comes out of the outbox byte for byte (O38)") {
  const std::vector<std::string> payloads = {
      "",
      "x",
      std::string("\0", 1),
      std::string("a\0b\0", 4),
      "\xff\xfe\x80 not UTF-8 \xc0\xaf",
      "\xf0\x9f\x94\x92 astral, \xef\xbf\xbf",
      "9223372036854775807 -9223372036854775808 1e400",
      "'; DROP TABLE wallock_payloads; --",
      random_bytes(256 * 1024),
  };
  TempStore at;
  auto store = at.open();
  int number = 0;
  for (const std::string& payload : payloads) {
    const auto id = "a" + std::to_string(number++);
    REQUIRE(answer(store.execute("r" + id, sent(id, payload))) == "ok");
  }
  auto reopened = at.open();
  const auto claimed = reopened.claim({.destination = "bank", .limit = 100}).value();
  REQUIRE(claimed.size() == payloads.size());
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    CAPTURE(i);
    CHECK(claimed[i].action_id().str() == "a" + std::to_string(i));
    CHECK(claimed[i].payload() == payloads[i]);
    CHECK(effect(store.settle(claimed[i], DeliveryOutcome::delivered())) == "sealed");
  }
  CHECK(verdict(store) == "UNANCHORED");
}

TEST_CASE("a payload above the store's limit is refused and nothing of its batch recorded") {
  TempStore at;
  auto options = at.options();
  options.max_payload = 1000;
  auto store = at.open(options);
  const auto lease = store.acquire("r", by("ann")).value();
  News news(store);
  const auto refused = store.commit(lease, {recorded("a"), recorded("b", std::string(1001, 'x'))});
  CHECK(answer(refused) == "too_large");
  CHECK(refused.error() == Error(Errc::too_large, {.field = "payload",
                                                   .action = "b",
                                                   .limit = 1000,
                                                   .bound = Bound::at_most,
                                                   .unit = Unit::bytes}));
  CHECK(answer(store.execute("s", recorded("b", std::string(1001, 'x')))) == "too_large");
  CHECK(news() == "-");
  CHECK(answer(store.commit(lease, recorded("b", std::string(1000, 'x')))) == "ok");
}

TEST_CASE("scores, amounts, reasons and evidence are kept exactly") {
  TempStore at;
  auto store = at.open(quick_to_trip(at.options()));
  ActionFields fields = recorded("a");
  fields.security_score = Score::parse("0.999999").value();
  fields.amount = Decimal::of(-9223372036854775807, 18).value();
  REQUIRE(answer(store.execute("r", fields)) == "ok");
  CHECK(store.execute("r", fields).value().replayed());
  const std::string reason = "because\n'; --\xf0\x9f\x94\x92";
  REQUIRE(answer(store.force_open("r", reason)) == "ok");
  const auto records = store.audit({.from = 1}).value();
  CHECK(records[1].entry().score == fields.security_score);
  CHECK(records.back().entry().detail == reason);
  CHECK(answer(store.force_open("s", std::string(1025, 'x'))) == "too_large");
  CHECK(answer(store.force_open("s", "\xff")) == "invalid_option");
  CHECK(answer(store.force_open("s", std::string("a\0b", 3))) == "invalid_option");
  CHECK(answer(store.force_open("s", "")) == "invalid_option");
  CHECK(answer(store.force_open("s", std::string(1024, 'x'))) == "ok");
  CHECK(verdict(store) == "UNANCHORED");
}

TEST_CASE("hostile names are names like any other (L40)") {
  std::string longest;
  while (longest.size() < 252)
    longest += "\xf0\x9f\x94\x92";
  longest += "\xe2\x82\xac";
  REQUIRE(longest.size() == 255);
  const std::vector<std::string> names = {
      "'; DROP TABLE wallock_resources; --",
      "\" OR 1=1",
      "?1",
      ":resource",
      "NULL",
      "0",
      "-1",
      "9223372036854775807",
      "9223372036854775808",
      "%",
      "_",
      "r",
      "R",
      "r ",
      " r",
      "\xc3\xa9",
      "e\xcc\x81",
      longest,
  };
  TempStore at;
  auto store = at.open();
  std::vector<Lease> leases;
  for (const std::string& name : names) {
    CAPTURE(name);
    AcquireOptions options = by(name);
    options.action_id = Given<ActionId>("acquire " + name.substr(0, 200));
    leases.push_back(store.acquire(name, options).value());
    CHECK(leases.back().resource().str() == name);
  }
  CHECK(store.leases().value().size() == names.size());
  for (const Lease& lease : leases) {
    CAPTURE(lease.resource());
    CHECK(answer(store.commit(lease, sent(lease.resource().str(), "p", lease.holder().str()))) ==
          "ok");
    const auto claimed = store.claim({.destination = lease.holder().str()}).value();
    REQUIRE(claimed.size() == 1);
    CHECK(claimed[0].action_id().str() == lease.resource().str());
  }
  for (const std::string& bad : {std::string(), std::string("a\0b", 3), std::string("a\n"),
                                 std::string("\xff"), longest + "x"}) {
    CHECK(answer(store.acquire(bad)) == "invalid_name");
    CHECK(answer(store.execute("r", recorded(bad))) == "invalid_name");
  }
  CHECK(verdict(store) == "UNANCHORED");
}

}  // namespace wallock::test
