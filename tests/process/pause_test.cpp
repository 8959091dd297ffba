// A process that is stopped in the middle of a commit holds SQLite's write lock: the one case in
// which others are kept from writing, and no longer than they allow.
#include <chrono>
#include <string>

#include "child_process.hpp"
#include "process_support.hpp"
#include "temp_folder.hpp"

using namespace wallock::test;
using std::chrono::milliseconds;
using wallock::ActionFields;
using wallock::Coordinator;
using wallock::Errc;
using wallock::RecordKind;

namespace {

// What others are answered while the write lock is out of reach: reads go on, writes are busy, in
// the end and without a change.
void check_others(Coordinator& others, std::uint64_t size) {
  const auto begun = std::chrono::steady_clock::now();
  const auto commit = others.execute("other", ActionFields{.id = "too-early"});
  REQUIRE_FALSE(commit);
  CHECK(commit.error().code() == Errc::busy);
  const auto lease = others.acquire("r", {.wait = milliseconds(100)});
  REQUIRE_FALSE(lease);
  CHECK(lease.error().code() == Errc::busy);
  CHECK(std::chrono::steady_clock::now() - begun < patience);
  CHECK(must(others.health()).ledger_size == size);
  CHECK(must(others.verify()).verdict == wallock::VerifyVerdict::unanchored);
}

}  // namespace

TEST_CASE("a process stopped inside its commit: others are answered busy, and it completes later") {
  const TempFolder folder;
  auto others =
      must(Coordinator::open(folder / "store.db", {.operation_timeout = milliseconds(100)}));
  ChildProcess sitter(program("sitter"), {folder / "store.db"});
  REQUIRE(sitter.read_line() == "inside");
  const auto size = must(others.health()).ledger_size;
  REQUIRE(sitter.pause());
  check_others(others, size);
  sitter.resume();
  sitter.send("go on\n");
  // Long past its ttl, but nobody could have been granted the resource meanwhile.
  CHECK(sitter.read_line() == "committed");
  CHECK(sitter.wait() == 0);
  CHECK_FALSE(must(others.execute("other", ActionFields{.id = "too-early"})).replayed());
  CHECK(count(all_records(others), RecordKind::action_recorded) == 2);
  CHECK(integrity_check(folder / "store.db") == "ok");
}

TEST_CASE(
    "a process stopped inside its commit and then killed: nothing of it is left, and others "
    "go on") {
  const TempFolder folder;
  auto others =
      must(Coordinator::open(folder / "store.db", {.operation_timeout = milliseconds(100)}));
  ChildProcess sitter(program("sitter"), {folder / "store.db"});
  REQUIRE(sitter.read_line() == "inside");
  REQUIRE(sitter.pause());
  check_others(others, must(others.health()).ledger_size);
  sitter.kill();
  static_cast<void>(must(others.execute("other", ActionFields{.id = "other"})));
  static_cast<void>(must(others.acquire("r", {.wait = patience})));
  SQLite::Database connection(folder / "store.db", SQLite::OPEN_READONLY);
  CHECK_FALSE(connection.tableExists("increments"));
  CHECK(count(all_records(others), RecordKind::action_recorded) == 1);
  CHECK(integrity_check(folder / "store.db") == "ok");
}
