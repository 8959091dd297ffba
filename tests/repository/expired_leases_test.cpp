// What leases that ran out cost those that come after: nothing.
#include "repository_support.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {
namespace {

// Leases that ended a long time ago, of holders who never came back.
void leave_behind(TempStore& at, int leases) {
  at.raw().must(
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
      std::to_string(leases) +
      ") INSERT INTO wallock_resources (resource, max_fence, issued, has_breaker, holder, "
      "instance, "
      "granted_at, expires_at) SELECT printf('r%07d', i), 0, 1, 0, 'gone', 7, 1, 2 FROM n");
}

// The steps that SQLite's machine took so far for all statements of the store's write connection.
std::int64_t steps(Coordinator& store, const std::string& id) {
  std::int64_t sum = 0;
  const auto count = [&sum](Transaction& transaction) {
    sqlite3* const db = database(transaction).getHandle();
    for (auto* s = sqlite3_next_stmt(db, nullptr); s != nullptr; s = sqlite3_next_stmt(db, s))
      sum += sqlite3_stmt_status(s, SQLITE_STMTSTATUS_VM_STEP, 0);
  };
  REQUIRE(answer(store.execute("counted", recorded(id), count)) == "ok");
  return sum;
}

struct Cost {
  std::int64_t steps = 0;
  std::uint64_t frames = 0;
};

// Of acquiring a hundred of the resources whose leases ran out, and a new one.
Cost cost_among(int leases) {
  TempStore at;
  static_cast<void>(at.open());
  leave_behind(at, leases);
  auto store = at.open();
  REQUIRE(answer(store.acquire("r0000001")) == "ok");  // every statement is prepared by now
  const auto before = steps(store, "before");
  const auto frames = store.health().value().wal_frames;
  for (int i = 0; i < 100; ++i) {
    const std::string far = std::to_string(10'000'002 + i * (leases / 128)).substr(1);
    REQUIRE(answer(store.acquire("r" + far)) == "ok");
  }
  REQUIRE(answer(store.acquire("new")) == "ok");
  const auto written = store.health().value().wal_frames - frames;
  return {.steps = steps(store, "after") - before, .frames = written};
}

}  // namespace

// Case L38. No sweep is run over them, by nobody: each row is taken when it is wanted.
TEST_CASE("a hundred thousand leases that ran out cost an acquire nothing") {
  const Cost few = cost_among(200);
  const Cost many = cost_among(100'000);
  CAPTURE(few.steps, many.steps, few.frames, many.frames);
  CHECK(few.steps > 1000);
  CHECK(many.steps * 10 <= few.steps * 11);
  CHECK(many.frames <= few.frames * 2);  // each far from the next is a page of its own
}

}  // namespace wallock::test
