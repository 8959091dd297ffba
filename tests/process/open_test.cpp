// Many processes open one store at the same moment.
#include <filesystem>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "host/creation_lock.hpp"
#include "other_boot_clock.hpp"
#include "process_support.hpp"
#include "temp_folder.hpp"

using namespace wallock::test;
using wallock::Coordinator;
using wallock::RecordKind;

namespace {

constexpr int processes = 8;

// Opens the store in eight processes at once; all of them must find it in this epoch.
void open_at_once(const std::string& database, const std::vector<std::string>& boot,
                  std::uint64_t epoch) {
  std::vector<std::string> arguments{database};
  arguments.insert(arguments.end(), boot.begin(), boot.end());
  std::vector<ChildProcess> openers;
  for (int i = 0; i < processes; ++i)
    openers.emplace_back(program("opener"), arguments);
  for (ChildProcess& opener : openers)
    REQUIRE(opener.read_line() == "ready");
  for (ChildProcess& opener : openers)
    opener.send("go\n");
  for (ChildProcess& opener : openers)
    CHECK(opener.read_line() == "open " + std::to_string(epoch));
  for (ChildProcess& opener : openers)
    opener.close_input();
  for (ChildProcess& opener : openers)
    CHECK(opener.wait() == 0);
}

std::int64_t number(const std::string& database, const std::string& sql) {
  SQLite::Database connection(database, SQLite::OPEN_READONLY, 10'000);
  return connection.execAndGet(sql).getInt64();
}

}  // namespace

TEST_CASE("open: 8 processes make a new store at once, and it is made once") {
  for (int round = 0; round < 10; ++round) {
    CAPTURE(round);
    const TempFolder folder;
    const std::string database = folder / "store.db";
    open_at_once(database, {}, 1);
    CHECK(number(database, "SELECT count(*) FROM wallock_meta") == 1);
    CHECK(number(database, "SELECT count(*) FROM wallock_migrations") == 1);
    CHECK(integrity_check(database) == "ok");
    auto coordinator = must(Coordinator::open(database));
    const auto records = all_records(coordinator);
    REQUIRE(records.size() == 1);
    CHECK(records.front().entry().kind == RecordKind::genesis);
  }
}

TEST_CASE("open: 8 processes open a store at once after a restart, and the epoch rises once") {
  const TempFolder folder;
  const std::string database = folder / "store.db";
  static_cast<void>(must(Coordinator::open(database)));
  std::uint64_t epoch = 1;
  for (const std::string boot : {"boot-a", "boot-b", "boot-c", "boot-d"}) {
    CAPTURE(boot);
    open_at_once(database, {boot}, ++epoch);
    auto coordinator =
        must(Coordinator::open(database, {.clock = std::make_shared<OtherBootClock>(boot)}));
    const auto records = all_records(coordinator);
    CHECK(count(records, RecordKind::genesis) == 1);
    CHECK(count(records, RecordKind::epoch_raised) == epoch - 1);
    CHECK(integrity_check(database) == "ok");
  }
}

TEST_CASE("open: nobody opens a store while somebody else creates or migrates it") {
  const TempFolder folder;
  const std::string database = folder / "store.db";
  {
    const auto lock = must(wallock::host::CreationLock::acquire(database, *wallock::system_clock(),
                                                                wallock::Instant::max()));
    const auto refused =
        Coordinator::open(database, {.operation_timeout = std::chrono::milliseconds(50)});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == wallock::Errc::busy);
    CHECK_FALSE(std::filesystem::exists(database));
  }
  static_cast<void>(must(Coordinator::open(database)));
}
