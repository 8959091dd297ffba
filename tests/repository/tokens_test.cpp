// The number line: tokens only rise, whatever is done to the file and the process.
#include "repository_support.hpp"

namespace wallock::test {

TEST_CASE("tokens strictly increase over openings, VACUUM and removed resources (L4)") {
  TempStore at;
  FencingToken last;
  std::uint64_t grants = 0;
  const auto grant = [&](Coordinator& store, int times) {
    for (int i = 0; i < times; ++i) {
      const std::string resource = i % 3 == 0 ? "r" : i % 3 == 1 ? "s" : "t";
      const auto lease = store.acquire(resource, by("ann")).value();
      if (lease.token() <= last) FAIL("token " << lease.token() << " after " << last);
      last = lease.token();
      ++grants;
      if (i % 2 == 0) {
        if (effect(store.release(lease)) != "released") FAIL("not released");
      } else if (answer(store.commit(lease, recorded("a" + std::to_string(grants)), {},
                                     {.after = AfterCommit::release})) != "ok") {
        FAIL("not committed");
      }
    }
  };
  for (int round = 0; round < 4; ++round) {
    {
      auto store = at.open();
      auto other = at.open();
      grant(store, 1000);
      grant(other, 1000);
      grant(store, 1000);
    }
    auto raw = at.raw();
    raw.must("DELETE FROM wallock_resources WHERE resource = 's'");
    raw.must("VACUUM");
    auto store = at.open();
    grant(store, 2000);
  }
  CHECK(grants == 20'000);
  auto store = at.open();
  CHECK(verdict(store) == "UNANCHORED");
}

TEST_CASE("a token is the ledger position of its grant, in the store's epoch") {
  TempStore at;
  auto store = at.open();
  const auto lease = store.acquire("r", by("ann")).value();
  CHECK(lease.token().epoch() == store.health().value().epoch);
  const auto record = store.audit({.from = lease.token().position()}).value().front();
  CHECK(record.entry().kind == RecordKind::lease_granted);
  CHECK(record.entry().token == lease.token());
  CHECK(record.position() == lease.token().position());
}

TEST_CASE("a holder of a removed resource writes no more") {
  TempStore at;
  auto store = at.open();
  const auto lease = store.acquire("r", by("ann")).value();
  auto raw = at.raw();
  raw.must("DELETE FROM wallock_resources");
  CHECK(answer(store.commit(lease, recorded("a"))) == "unknown_token");
  REQUIRE(answer(store.acquire("r", by("bob"))) == "ok");
  CHECK(answer(store.commit(lease, recorded("a"))) == "stale_token");
}

TEST_CASE("a ledger that went back issues no number twice") {
  TempStore at;
  auto store = at.open();
  auto lease = store.acquire("r", by("ann")).value();
  REQUIRE(effect(store.release(lease)) == "released");
  auto raw = at.raw();
  raw.must("DROP TRIGGER wallock_events_no_delete");
  raw.must("DELETE FROM wallock_lease_queue_events WHERE position > 0");
  CHECK(answer(store.acquire("r", by("ann"))) == "invariant_violated");
  CHECK(answer(store.execute("r", recorded("a"))) == "invariant_violated");
}

TEST_CASE("positions go on without gaps after operations that were rolled back") {
  TempStore at;
  auto store = at.open();
  const auto lease = store.acquire("r", by("ann")).value();
  const auto broken = [] { return Status(fail(work_error(1))); };
  for (int i = 0; i < 5; ++i) {
    CHECK(answer(store.commit(lease, recorded("a"), broken)) == "work_failed");
    CHECK(answer(store.execute("s", recorded("b"), broken)) == "work_failed");
    CHECK(answer(store.acquire("r", by("bob"))) == "lease_held");
  }
  const auto done = store.commit(lease, recorded("a")).value();
  CHECK(done.results()[0].position() == lease.token().position() + 1);
  CHECK(verdict(store) == "UNANCHORED");
}

}  // namespace wallock::test
