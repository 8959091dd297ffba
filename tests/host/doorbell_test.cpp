// Rings that wake, and a word that changes.
#include <atomic>
#include <vector>

#include "host_support.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

std::uint32_t sleepers(const RawSidecar& raw) {
  std::uint32_t found = 0;
  for (const auto& bell : raw->doorbell.bells)
    found += bell.sleepers;
  return found;
}

}  // namespace

TEST_CASE("a ring changes the word of its subject, in every opening") {
  const Shore shore;
  const auto a = shore.open(1);
  const auto b = shore.open(2);
  const auto before = b->doorbell().rings("mail");
  const auto other = b->doorbell().rings("other");
  a->doorbell().ring("mail");
  CHECK(b->doorbell().rings("mail") == before + 1);
  CHECK(b->doorbell().rings("other") == other);
}

TEST_CASE("a ring before the sleep is not slept over, one during it ends it") {
  const Shore shore;
  const auto a = shore.open(1);
  const auto b = shore.open(2);
  const RawSidecar raw(shore.sidecar());
  const auto seen = b->doorbell().rings("mail");
  a->doorbell().ring("mail");
  b->doorbell().sleep("mail", seen, Duration::max());

  std::vector<std::thread> sleeping;
  for (int i = 0; i < 3; ++i) {
    sleeping.emplace_back([&b] {
      const auto now = b->doorbell().rings("mail");
      while (b->doorbell().rings("mail") == now)
        b->doorbell().sleep("mail", now, Duration::max());
    });
  }
  REQUIRE(await([&] { return sleepers(raw) == 3; }));
  a->doorbell().ring("mail");
  for (std::thread& thread : sleeping)
    thread.join();
  CHECK(sleepers(raw) == 0);
}

TEST_CASE("a sleep without a ring ends with its patience") {
  const Shore shore;
  const auto own = shore.open(1);
  const RawSidecar raw(shore.sidecar());
  own->doorbell().sleep("mail", own->doorbell().rings("mail"), 2ms);
  own->doorbell().sleep("mail", own->doorbell().rings("mail"), -1s);
  CHECK(sleepers(raw) == 0);
}

TEST_CASE("a sleeper that was killed takes no ring from the others") {
  const Shore shore;
  const auto own = shore.open(1);
  const RawSidecar raw(shore.sidecar());
  Fork killed([&] {
    const auto sidecar = shore.open(2);
    sidecar->doorbell().sleep("mail", sidecar->doorbell().rings("mail"), long_enough);
    return 0;
  });
  REQUIRE(await([&] { return sleepers(raw) == 1; }));
  killed.kill();
  CHECK(sleepers(raw) == 1);
  Fork woken([&] {
    const auto sidecar = shore.open(3);
    const auto seen = sidecar->doorbell().rings("mail");
    sidecar->doorbell().sleep("mail", seen, Duration::max());
    return sidecar->doorbell().rings("mail") != seen ? 0 : 1;
  });
  REQUIRE(await([&] { return sleepers(raw) == 2; }));
  own->doorbell().ring("mail");
  CHECK(woken.wait() == 0);
}
