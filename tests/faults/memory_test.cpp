// Memory that runs out at any allocation, SQLite's or the library's own, once and for ever: no
// crash, no exception, a typed error, nothing half-done, and the same call succeeds afterwards.
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "allocations.hpp"
#include "catch.hpp"
#include "faulty_play.hpp"
#include "host/sidecar.hpp"
#include "sqlite/invariants.hpp"
#include "steps.hpp"
#include "temp_store.hpp"

namespace wallock::test {
namespace {

struct Tally {
  std::uint64_t injected = 0;
  std::uint64_t surfaced = 0;
};

std::size_t open_files() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

// A stage in a folder of its own, the first steps done.
class Place {
 public:
  Place(const Scenario& scenario, std::size_t steps) : stage(folder_.path(), Durability::commits) {
    set_up(scenario, stage);
    for (std::size_t i = 0; i < steps; ++i)
      must(scenario.steps[i]);
    if (stage.store) {
      auto sidecar = host::Sidecar::open(stage.path(), 1, *stage.clock, Instant::max());
      if (sidecar) neighbour_ = *std::move(sidecar);
    }
  }

  // True if another process could take its turn to write now.
  [[nodiscard]] bool turn_is_free() const {
    if (!neighbour_) return true;
    if (!neighbour_->turnstile().enter(Duration::zero())) return false;
    neighbour_->turnstile().leave();
    return true;
  }

  void must(const Step& step) {
    if (const Status done = step.run(stage); !done)
      throw std::runtime_error(step.name + ": " + to_string(done.error()));
  }

 private:
  const ScratchFolder folder_;

 public:
  Stage stage;

 private:
  std::unique_ptr<host::Sidecar> neighbour_;
};

// One step of a scenario, starved at one of its allocations after the other.
class Starving {
 public:
  Starving(const Scenario& scenario, std::size_t step, bool for_ever, Tally& tally)
      : scenario_(scenario), number_(step), for_ever_(for_ever), tally_(tally) {}

  // At every so-many-th allocation, from that one on.
  void run(std::uint64_t first, std::uint64_t every) {
    for (std::uint64_t at = first; starve(at); at += every)
      continue;
  }

 private:
  [[nodiscard]] const Step& step() const { return scenario_.steps[number_]; }

  // False if the step made fewer allocations.
  bool starve(std::uint64_t at) {
    INFO(scenario_.name << ", step " << number_ << " " << step().name << ", allocation " << at
                        << (for_ever_ ? " and ever after" : ""));
    if (!place_) {
      place_ = std::make_unique<Place>(scenario_, number_);
      before_ = content_of(place_->stage.path());
    }
    arm_allocations({.at = at, .for_ever = for_ever_});
    const Status done = step().run(place_->stage);
    const bool injected = failed_allocations() > 0;
    disarm_allocations();
    if (injected) ++tally_.injected;
    if (done) {
      // With less memory than usual, or as nothing depends on what could not be done.
      if (injected) check_success();
      place_.reset();
      return injected;
    }
    ++tally_.surfaced;
    check_failure(done.error());
    return true;
  }

  void check_success() {
    const auto found = sqlite::check_invariants(place_->stage.path());
    REQUIRE(found);
    CHECK(found->empty());
  }

  void check_failure(const Error& error) {
    const std::string& path = place_->stage.path();
    CHECK(to_string(error.code()) == "out_of_memory");
    CHECK(is_free(path));
    CHECK(place_->turn_is_free());
    if (!step().opens) CHECK(content_of(path) == before_);
  }

  const Scenario& scenario_;
  const std::size_t number_;
  const bool for_ever_;
  Tally& tally_;
  std::unique_ptr<Place> place_;
  std::string before_;
};

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
      Starving(scenario, step, for_ever, tally).run(offset++ % every, every);
    }
    CHECK(open_files() == files);
    CHECK(sqlite3_memory_used() == memory);
  }
  std::printf("memory, %s: %llu allocations failed, %llu surfaced\n",
              for_ever ? "for ever" : "once", static_cast<unsigned long long>(tally.injected),
              static_cast<unsigned long long>(tally.surfaced));
  return tally;
}

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
  lengthen_log(place.stage.path(), 600);
  arm_allocations(fault);
  const Status done = commit.run(place.stage);
  const bool injected = failed_allocations() > 0;
  disarm_allocations();
  tally.injected += injected ? 1 : 0;
  tally.surfaced += done ? 0 : 1;
  if (!done) CHECK(done.error().code() == Errc::out_of_memory);
  CHECK(is_free(place.stage.path()));
  CHECK(place.turn_is_free());
  lengthen_log(place.stage.path(), 600);
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

TEST_CASE("memory that runs out once changes nothing, and the call is repeated", "[memory]") {
  const auto tally = starve_everywhere(false);
  CHECK(tally.injected > 0);
}
TEST_CASE("memory that has run out changes nothing, and the call is repeated", "[memory]") {
  const auto tally = starve_everywhere(true);
  CHECK(tally.injected > 0);
}

}  // namespace wallock::test
