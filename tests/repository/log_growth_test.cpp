// The write-ahead log: it is checkpointed as it grows, and shrinks again after a reader held it.
#include "repository_support.hpp"

namespace wallock::test {
namespace {

void commits(Coordinator& store, int from, int to) {
  for (int i = from; i < to; ++i) {
    if (answer(store.execute("r", recorded("a" + std::to_string(i)))) != "ok") FAIL(i);
  }
}

}  // namespace

TEST_CASE("the log stays short over many commits (O8, O25)") {
  TempStore at;
  auto store = at.open();
  std::uint64_t longest = 0;
  for (int i = 0; i < 50; ++i) {
    commits(store, 100 * i, 100 * (i + 1));
    longest = std::max(longest, store.health().value().wal_frames);
  }
  const auto health = store.health().value();
  CHECK(longest > 1000);
  CHECK(longest < 2500);
  CHECK(health.checkpoints >= 5);
  CHECK(std::filesystem::file_size(at.path() + "-wal") < 2500 * 1048);
  CHECK(verdict(store) == "UNANCHORED");
}

TEST_CASE("a reader that holds an old snapshot lets the log grow only until it ends (O26)") {
  TempStore at;
  auto store = at.open();
  commits(store, 0, 10);
  {
    auto reader = at.raw();
    reader.must("BEGIN");
    CHECK(reader.integer("SELECT count(*) FROM wallock_lease_queue_events") == 31);
    commits(store, 10, 900);
    const auto health = store.health().value();
    CHECK(health.wal_frames > 4500);
    // Tries go on, but not at every commit.
    CHECK(health.checkpoints >= 2);
    CHECK(health.checkpoints < 30);
    CHECK(reader.integer("SELECT count(*) FROM wallock_lease_queue_events") == 31);
  }
  commits(store, 900, 1100);
  CHECK(store.health().value().wal_frames < 2500);
  CHECK(verdict(store) == "UNANCHORED");
}

TEST_CASE("a checkpoint that another process keeps out is tried again later") {
  TempStore at;
  auto store = at.open();
  commits(store, 0, 10);
  auto reader = at.raw();
  reader.must("BEGIN");
  CHECK(reader.integer("SELECT 1 FROM wallock_meta") == 1);
  commits(store, 10, 600);
  auto other = at.open();
  commits(other, 600, 1000);
  reader.must("COMMIT");
  commits(store, 1000, 1100);
  commits(other, 1100, 1300);
  CHECK(other.health().value().wal_frames < 2500);
  CHECK(verdict(other) == "UNANCHORED");
}

TEST_CASE("checkpoints neither run by themselves nor lose a row") {
  TempStore at;
  {
    auto store = at.open();
    CHECK(store.health().value().checkpoints == 0);
    commits(store, 0, 1500);
    CHECK(store.health().value().checkpoints >= 1);
  }
  auto raw = at.raw();
  CHECK(raw.integer("SELECT count(*) FROM wallock_payloads") == 1500);
  CHECK(raw.text("PRAGMA integrity_check") == "ok");
}

}  // namespace wallock::test
