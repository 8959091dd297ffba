// SIGKILL at every step: whatever a process was at when it died, the store is sound, what it had
// been answered is there, and nobody has to wait for it.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "counters.hpp"
#include "other_boot_clock.hpp"
#include "process_support.hpp"
#include "temp_folder.hpp"

using namespace wallock::test;
using wallock::ActionFields;
using wallock::Coordinator;
using wallock::RecordKind;
using wallock::Transaction;
using wallock::VerifyVerdict;

namespace {

// One life of the program: what it said, and how it ended.
struct Life {
  std::vector<std::string> said;
  int status = -1;

  [[nodiscard]] bool has_said(const std::string& line) const {
    return std::ranges::find(said, line) != said.end();
  }
};

struct Run {
  std::string boot = "boot-a";
  std::string action = "step";
  long bytes = 0;
};

Life live(const std::string& database, long last_call, const Run& run) {
  ChildProcess child(program("cycle"), {database, std::to_string(last_call), run.boot, run.action,
                                        std::to_string(run.bytes)});
  Life life{.said = child.read_lines()};
  const auto status = child.wait();
  REQUIRE(status);
  life.status = *status;
  return life;
}

Coordinator open(const std::string& database, const Run& run) {
  return must(Coordinator::open(database, {.clock = std::make_shared<OtherBootClock>(run.boot)}));
}

std::size_t records_of(Coordinator& coordinator, const std::string& action) {
  std::size_t found = 0;
  for (const auto& record : all_records(coordinator)) {
    const auto& id = record.entry().action_id;
    found += id && id->str() == action ? 1 : 0;
  }
  return found;
}

std::size_t increments_of(const std::string& database, const std::string& action) {
  SQLite::Database connection(database, SQLite::OPEN_READONLY, 10'000);
  if (!connection.tableExists("increments")) return 0;
  SQLite::Statement rows(connection, "SELECT count(*) FROM increments WHERE action = ?");
  rows.bind(1, action);
  rows.executeStep();
  return static_cast<std::size_t>(rows.getColumn(0).getInt());
}

void check_sound(Coordinator& coordinator, const std::string& database) {
  CHECK(integrity_check(database) == "ok");
  CHECK(must(coordinator.verify()).verdict == VerifyVerdict::unanchored);
  CHECK(count(all_records(coordinator), RecordKind::genesis) == 1);
}

// After the death of the program: the file is sound, its commit was done as a whole or not at all,
// and repeating it answers or does it, once.
void check_after(const std::string& database, const Life& life, const Run& run) {
  auto coordinator = open(database, run);
  check_sound(coordinator, database);
  const std::size_t recorded = records_of(coordinator, run.action);
  CHECK(recorded <= 1);
  CHECK(increments_of(database, run.action) == recorded);
  if (life.has_said("committed")) CHECK(recorded == 1);

  // Others go on at once: nothing that the dead one had locked is locked.
  static_cast<void>(must(coordinator.execute("other", ActionFields{.id = run.action + "-other"})));

  const auto work = [&run](Transaction& transaction) {
    SQLite::Database& connection = wallock::database(transaction);
    create_counter(connection, "r");
    write_counter(connection, {.action = run.action, .resource = "r"});
  };
  // The lease of the dead one may have to run out first.
  const auto repeated =
      must(coordinator.execute("r", ActionFields{.id = run.action}, work, {.wait = patience}));
  CHECK(repeated.replayed() == (recorded == 1));
  CHECK(records_of(coordinator, run.action) == 1);
  CHECK(increments_of(database, run.action) == 1);
  check_sound(coordinator, database);
}

// Lets the program die at its first, second, ... call until it lives to its end. Returns how often
// it died.
long kill_everywhere(const std::string& prepared, const Run& run, long step,
                     const std::function<void(Coordinator&)>& check) {
  constexpr long most_calls = 100'000;
  for (long last_call = 1, deaths = 0; last_call < most_calls; last_call += step, ++deaths) {
    CAPTURE(last_call);
    const TempFolder folder;
    if (!prepared.empty()) {
      std::filesystem::copy(prepared, folder.path(), std::filesystem::copy_options::recursive);
    }
    const Life life = live(folder / "store.db", last_call, run);
    INFO((life.said.empty() ? "said nothing" : life.said.back()));
    REQUIRE((life.status == 0 || life.status == ended_by_kill));
    check_after(folder / "store.db", life, run);
    if (check) {
      auto coordinator = open(folder / "store.db", run);
      check(coordinator);
    }
    if (life.status == 0) return deaths;
  }
  FAIL("the program does not come to an end");
  return 0;
}

}  // namespace

TEST_CASE(
    "INV-08 SIGKILL at every step of a new store's first commit: all or nothing, and others go "
    "on") {
  const long deaths = kill_everywhere("", {}, 1, {});
  std::cout << deaths << " deaths\n";
  CHECK(deaths > 50);
}

TEST_CASE("INV-08 SIGKILL at every step of opening after a restart: the epoch rises once") {
  const TempFolder prepared;
  REQUIRE(live(prepared / "store.db", -1, {.action = "before"}).status == ended_by_kill);
  const auto check = [](Coordinator& coordinator) {
    CHECK(must(coordinator.health()).epoch == 2);
    CHECK(count(all_records(coordinator), RecordKind::epoch_raised) == 1);
    CHECK(records_of(coordinator, "before") == 1);
  };
  const long deaths = kill_everywhere(prepared.path(), {.boot = "boot-b"}, 1, check);
  std::cout << deaths << " deaths\n";
  CHECK(deaths > 50);
}

TEST_CASE("INV-08 SIGKILL in a large commit and its checkpoint: all or nothing, and others go on") {
  constexpr long large = 5'000'000;  // a log of more than 2000 frames, so that it is checkpointed
  constexpr long step = 149;
  const long deaths = kill_everywhere("", {.bytes = large}, step, {});
  std::cout << deaths << " deaths\n";
  CHECK(deaths > 10);
}
