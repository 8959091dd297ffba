// Memory that runs out at any allocation, SQLite's or the library's own, once and for ever: no
// crash, no exception, a typed error, nothing half-done, and the same call succeeds afterwards.
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>

#include "allocations.hpp"
#include "catch.hpp"
#include "faulty_play.hpp"
#include "sqlite/invariants.hpp"
#include "steps.hpp"
#include "stepwise.hpp"
#include "temp_store.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {
namespace {

std::size_t open_files() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

// Every allocation if asked for; else some of each step, others of it in each scenario. Openings
// make thousands, and are alike.
bool soaks() { return std::getenv("WALLOCK_SOAK_MEMORY") != nullptr; }
std::uint64_t stride_of(const Step& step, bool for_ever) {
  if (soaks()) return 1;
  if (step.opens) return 211;
  return for_ever ? 31 : 7;  // then the connection is made anew each time
}

Tally starve_everywhere(bool for_ever) {
  Tally tally;
  std::uint64_t offset = 0;
  for (const Scenario& scenario : scenarios()) {
    if (scenario.page_size == 512) continue;
    const auto files = open_files();
    const auto memory = sqlite3_memory_used();
    for (std::size_t step = 0; step < scenario.steps.size(); ++step) {
      const std::uint64_t every = stride_of(scenario.steps[step], for_ever);
      trouble_step(scenario, step, starvation(for_ever),
                   {.first = offset++ % every, .every = every}, tally);
    }
    CHECK(open_files() == files);
    CHECK(sqlite3_memory_used() == memory);
  }
  std::printf("memory, %s: %llu allocations failed, %llu surfaced\n",
              for_ever ? "for ever" : "once", static_cast<unsigned long long>(tally.injected),
              static_cast<unsigned long long>(tally.surfaced));
  return tally;
}

// Each takes a page and more: with them the log is long enough for a checkpoint (Checkpointer).
constexpr int rows_for_a_checkpoint = 2100;

// So many pages into the log, by somebody else.
void lengthen_log(const std::string& path, int rows) {
  RawDatabase(path).must(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
      std::to_string(rows) + ") INSERT INTO app SELECT hex(randomblob(200)), 0 FROM n");
}

// A commit after which the log is long enough for a checkpoint. False if it made fewer allocations.
bool starve_checkpoint(const AllocationFault& fault, Tally& tally) {
  CAPTURE(fault.at, fault.for_ever);
  const Step commit = executed("r", {"a"});
  const Scenario scenario{.name = "a checkpoint", .steps = {opened()}, .page_size = 512};
  Place place(scenario, 1);
  lengthen_log(place.stage.path(), rows_for_a_checkpoint);
  arm_allocations(fault);
  const Status done = commit.run(place.stage);
  const bool injected = failed_allocations() > 0;
  disarm_allocations();
  // Or no checkpoint was starved at all.
  if (!injected) CHECK(place.stage.store->health().value().checkpoints == 1);
  tally.injected += injected ? 1 : 0;
  tally.surfaced += done ? 0 : 1;
  if (!done) CHECK(done.error().code() == Errc::out_of_memory);
  CHECK(is_free(place.stage.path()));
  CHECK(place.turn_is_free());
  lengthen_log(place.stage.path(), rows_for_a_checkpoint);
  CHECK(executed("r", {"b"}).run(place.stage));
  CHECK(place.stage.store->health().value().checkpoints > 0);
  place.stage.store.reset();
  CHECK(RawDatabase(place.stage.path()).integer("SELECT count(*) FROM app WHERE token > 0") ==
        (done ? 2 : 1));
  return injected;
}

void starve_checkpoints(bool for_ever, Tally& tally) {
  const std::uint64_t every = soaks() ? 1 : 23;
  for (std::uint64_t at = 0; starve_checkpoint({.at = at, .for_ever = for_ever}, tally);
       at += every)
    continue;
  // The last ones are those of the end of the checkpoint's guard.
  const std::uint64_t all = allocations();
  for (std::uint64_t at = all - 30; at < all; ++at)
    starve_checkpoint({.at = at, .for_ever = for_ever}, tally);
}

}  // namespace

TEST_CASE("memory that runs out in a checkpoint harms no commit, and the next one does it",
          "[memory]") {
  Tally tally;
  starve_checkpoints(false, tally);
  starve_checkpoints(true, tally);
  std::printf("memory, checkpoints: %llu allocations failed, %llu surfaced\n",
              static_cast<unsigned long long>(tally.injected),
              static_cast<unsigned long long>(tally.surfaced));
  CHECK(tally.injected > tally.surfaced);
  CHECK(tally.surfaced > 0);
}

TEST_CASE("memory that runs out amid the records of a batch leaves the ledger as it was",
          "[memory]") {
  // Each name needs more room than the one before it: memory runs out behind records that are
  // hashed already.
  const Names names{std::string(20, 'a'), std::string(60, 'b'), std::string(130, 'c'),
                    std::string(255, 'd')};
  const Scenario batch{.name = "a batch",
                       .steps = {opened(), acquired("r"), committed("r", names)}};
  // Once each, and the next attempt is spared: another failure could put right what this one left.
  constexpr std::uint64_t never_again = 1'000'000;
  Tally tally;
  for (std::uint64_t at = 0; tally.injected == at; ++at)
    trouble_step(batch, 2, starvation(false), {.first = at, .every = never_again}, tally);
  CHECK(tally.surfaced > 0);
}

TEST_CASE("memory that runs out while invariants are checked is no violation", "[memory]") {
  const ScratchFolder folder;
  Stage stage(folder.path(), Durability::commits);
  set_up({"a look", {}}, stage);
  for (const Step& step : {opened(), executed("r", {"a"}, {.sent = true}), closed()})
    REQUIRE(step.run(stage));
  const std::string path = stage.path();
  std::uint64_t failures = 0;
  bool injected = true;
  for (std::uint64_t at = 0; injected; at += soaks() ? 1 : 3) {
    CAPTURE(at);
    arm_allocations({.at = at});
    const auto found = within([&] { return sqlite::check_invariants(path); });
    injected = failed_allocations() > 0;
    disarm_allocations();
    if (found) CHECK(found->empty());
    if (!found) CHECK(found.error().code() == Errc::out_of_memory);
    failures += found ? 0 : 1;
  }
  CHECK(failures > 100);
}

TEST_CASE("memory that runs out while a store with a kept statement is closed ends nothing",
          "[memory]") {
  for (std::uint64_t at = 0; at < 3; ++at) {
    CAPTURE(at);
    const ScratchFolder folder;
    Stage stage(folder.path(), Durability::commits);
    set_up({"a kept statement", {}}, stage);
    REQUIRE(opened().run(stage));
    std::optional<SQLite::Statement> kept;
    const ActionRequest request = ActionRequest::create({.id = "a", .payload = "p"}).value();
    REQUIRE(stage.store->execute("r", request, [&](Transaction& transaction) {
      kept.emplace(database(transaction), "INSERT INTO app VALUES ('kept', 0)");
    }));
    arm_allocations({.at = at, .for_ever = true});
    within([&] { return static_cast<void>(stage.store.reset()), 0; });
    disarm_allocations();
    CHECK_THROWS_AS(kept->exec(), SQLite::Exception);
    kept.reset();
    CHECK(RawDatabase(stage.path()).integer("SELECT count(*) FROM app") == 0);
    CHECK(opened().run(stage));
  }
}

TEST_CASE("memory that runs out once changes nothing, and the call is repeated", "[memory]") {
  const auto tally = starve_everywhere(false);
  CHECK(tally.injected > 0);
}
TEST_CASE("memory that has run out changes nothing, and the call is repeated", "[memory]") {
  const auto tally = starve_everywhere(true);
  CHECK(tally.injected > 0);
}

}  // namespace wallock::test
