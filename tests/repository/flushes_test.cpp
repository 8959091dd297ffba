// Which answers are flushed before they are given, at each level of durability.
#include "repository_support.hpp"
#include "sync_counter.hpp"

namespace wallock::test {
namespace {

struct Expected {
  Durability durability;
  std::uint64_t rides;    // flushes of what may ride with the next flush
  std::uint64_t durable;  // flushes of what must not be lost
};

}  // namespace

TEST_CASE("each level of durability flushes what it says, and refusals never") {
  const bool shared = GENERATE(true, false);
  const auto expected = GENERATE(values<Expected>({{Durability::every_answer, 1, 1},
                                                   {Durability::commits, 0, 1},
                                                   {Durability::relaxed, 0, 0}}));
  CAPTURE(shared, expected.durability);
  TempStore at;
  const SyncCounter flushes;
  auto options = quick_to_trip(at.options());
  options.durability = expected.durability;
  options.share_flushes = shared;
  auto store = at.open(options);
  CHECK(flushes.taken() >= 1);  // making a store is flushed at every level
  REQUIRE(answer(store.execute("warm-up", recorded("w"))) == "ok");
  static_cast<void>(flushes.taken());

  const auto lease = store.acquire("r", by("ann")).value();
  CHECK(flushes.taken() == expected.rides);
  CHECK(answer(store.renew(lease, 30s)) == "ok");
  CHECK(flushes.taken() == expected.rides);
  CHECK(answer(store.commit(lease, sent("a"))) == "ok");
  CHECK(flushes.taken() == expected.durable);
  CHECK(effect(store.release(lease)) == "released");
  CHECK(flushes.taken() == expected.rides);
  CHECK(answer(store.execute("s", recorded("b"))) == "ok");
  CHECK(flushes.taken() == expected.durable);
  const auto claimed = store.claim({.destination = "bank"}).value();
  CHECK(flushes.taken() == expected.rides);
  CHECK(effect(store.settle(claimed.at(0), DeliveryOutcome::delivered())) == "sealed");
  CHECK(flushes.taken() == expected.durable);
  const auto tripping = store.acquire("t", by("ann")).value();
  static_cast<void>(flushes.taken());
  CHECK(effect(store.report(tripping, DownstreamOutcome::timeout)) == "tripped");
  CHECK(flushes.taken() == expected.durable);
  at.clock->advance(10s);
  const auto probe = store.begin_recovery("t").value();
  CHECK(flushes.taken() == expected.durable);
  CHECK(answer(store.complete_recovery(probe, {true, "ok"})) == "ok");
  CHECK(flushes.taken() == expected.durable);
  CHECK(answer(store.force_open("t", "x")) == "ok");
  CHECK(flushes.taken() == expected.durable);
  CHECK(answer(store.clear_forced("t")) == "ok");
  CHECK(flushes.taken() == expected.durable);
  const auto last = store.acquire("u", by("ann")).value();
  static_cast<void>(flushes.taken());
  CHECK(answer(store.revoke("u", last.token(), "x")) == "ok");
  CHECK(flushes.taken() == expected.durable);

  CHECK(answer(store.acquire("t")) == "breaker_open");
  CHECK(answer(store.commit(lease, recorded("c"))) == "stale_token");
  CHECK(answer(store.execute("s", recorded("b"))) == "ok");  // replayed
  CHECK(store.verify().value().verdict == VerifyVerdict::unanchored);
  CHECK(flushes.taken() == 0);
}

TEST_CASE("an epoch is raised in a flushed transaction at every level") {
  TempStore at;
  {
    auto store = at.open();
  }
  at.clock->reboot("boot-2");
  const SyncCounter flushes;
  auto store = at.open();
  CHECK(flushes.taken() >= 1);
}

}  // namespace wallock::test
