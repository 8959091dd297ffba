// Somebody else's SQLite on the store's file, in a process of its own: what it locks is waited for
// and told as busy, what it may do harms nothing, and its death leaves nothing behind.
#include <chrono>
#include <string>

#include "catch.hpp"
#include "child_process.hpp"
#include "sqlite/invariants.hpp"
#include "temp_store.hpp"

namespace wallock::test {
namespace {

using namespace std::chrono_literals;

std::string_view answer(const auto& result) {
  return result ? "ok" : to_string(result.error().code());
}

// A store in use, and a plain connection of another process.
class Company {
 public:
  Company() {
    {
      auto raw = at.raw();
      raw.must("CREATE TABLE app (note)");
      auto made = at.open();
    }
  }

  std::string plain(const std::string& sql) {
    child.send(sql + "\n");
    return child.read_line().value_or("gone");
  }
  [[nodiscard]] Result<Coordinator> open() const { return Coordinator::open(at.path(), options()); }
  [[nodiscard]] Options options() const {
    auto options = at.options();
    options.operation_timeout = 20ms;  // on the manual clock, whose sleeps take no time
    return options;
  }
  static std::string_view write(Coordinator& store, std::string_view id) {
    return answer(store.execute("r", ActionFields{.id = id, .payload = "p"}));
  }
  void check_sound() const {
    const auto found = sqlite::check_invariants(at.path());
    REQUIRE(found);
    CHECK(found->empty());
    CHECK(at.raw().text("PRAGMA integrity_check") == "ok");
  }

  TempStore at;
  ChildProcess child{std::string(WALLOCK_TEST_PROGRAM_DIR "/plain_sqlite"), {at.path()}};
};

}  // namespace

TEST_CASE("another SQLite's write transaction is busy until it ends, however it ends", "[place]") {
  Company at;
  auto store = at.open().value();
  REQUIRE(at.plain("BEGIN IMMEDIATE; INSERT INTO app VALUES (1)") == "ok");
  CHECK(Company::write(store, "a") == "busy");
  CHECK(answer(store.acquire("s", {.ttl = 1s})) == "busy");
  CHECK(answer(store.health()) == "ok");  // who reads waits for nobody
  CHECK(answer(at.open()) == "busy");
  CHECK(at.plain("COMMIT") == "ok");
  CHECK(Company::write(store, "a") == "ok");
  REQUIRE(at.plain("BEGIN IMMEDIATE; INSERT INTO app VALUES (2)") == "ok");
  CHECK(Company::write(store, "b") == "busy");
  at.child.kill();
  CHECK(Company::write(store, "b") == "ok");
  CHECK(at.at.raw().integer("SELECT count(*) FROM app") == 1);
  at.check_sound();
}

TEST_CASE("another SQLite's long read holds up no commit, and the log empties after it",
          "[place]") {
  Company at;
  auto store = at.open().value();
  REQUIRE(at.plain("BEGIN; SELECT * FROM app") == "ok");
  int written = 0;
  const auto write_until_long = [&](std::uint64_t frames) {
    for (; store.health().value().wal_frames < frames; ++written)
      REQUIRE(Company::write(store, "a" + std::to_string(written)) == "ok");
  };
  write_until_long(5000);
  REQUIRE(at.plain("COMMIT") == "ok");
  for (int i = 0; i < 100 && store.health().value().wal_frames >= 2000; ++i)
    REQUIRE(Company::write(store, "b" + std::to_string(i)) == "ok");
  CHECK(store.health().value().wal_frames < 2000);
  CHECK(store.health().value().checkpoints > 0);
  at.check_sound();
}

TEST_CASE("another SQLite that locks the file for itself is busy, and gets it from nobody",
          "[place]") {
  Company at;
  REQUIRE(at.plain("SELECT * FROM app") == "ok");  // else it could not let go of it again
  REQUIRE(at.plain("PRAGMA locking_mode=EXCLUSIVE; INSERT INTO app VALUES (1)") == "ok");
  CHECK(answer(at.open()) == "busy");
  CHECK(at.plain("PRAGMA locking_mode=NORMAL; INSERT INTO app VALUES (2)") == "ok");
  auto store = at.open().value();
  CHECK(Company::write(store, "a") == "ok");
  // Now it is in use: neither the whole file nor another journal can be had.
  CHECK(at.plain("PRAGMA locking_mode=EXCLUSIVE; INSERT INTO app VALUES (3)") != "ok");
  CHECK(at.plain("PRAGMA journal_mode=DELETE") != "ok");
  CHECK(Company::write(store, "b") == "ok");
  at.check_sound();
}

TEST_CASE("what another SQLite may do with a file harms no store that lives in it", "[place]") {
  Company at;
  auto store = at.open().value();
  REQUIRE(Company::write(store, "a") == "ok");
  for (const char* const sql :
       {"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)", "REINDEX", "ANALYZE",
        "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)", "ALTER TABLE app ADD COLUMN more",
        "PRAGMA wal_checkpoint(RESTART)", "DROP TABLE theirs"}) {
    CAPTURE(sql);
    CHECK(at.plain(sql) == "ok");
    CHECK(Company::write(store, sql) == "ok");
  }
  at.check_sound();
}

TEST_CASE("a store whose journal another SQLite changed meanwhile is one with a log again",
          "[place]") {
  Company at;
  {
    auto store = at.open().value();
    REQUIRE(Company::write(store, "a") == "ok");
  }
  REQUIRE(at.plain("PRAGMA journal_mode=DELETE") == "ok");
  REQUIRE(at.plain("INSERT INTO app VALUES (1)") == "ok");
  REQUIRE(at.plain("BEGIN IMMEDIATE; INSERT INTO app VALUES (2)") == "ok");
  CHECK(answer(at.open()) == "busy");  // in the middle of it
  at.child.kill();                     // and leaves its journal behind
  auto store = at.open().value();
  CHECK(Company::write(store, "b") == "ok");
  CHECK(at.at.raw().text("PRAGMA journal_mode") == "wal");
  CHECK(at.at.raw().integer("SELECT count(*) FROM app") == 1);
  at.check_sound();
}

}  // namespace wallock::test
