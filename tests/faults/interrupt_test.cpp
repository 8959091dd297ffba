// Every statement of every step of every scenario is interrupted once: any of them may fail in the
// middle of an operation, and then nothing is half-done.
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "catch.hpp"
#include "faulty_play.hpp"
#include "interrupts.hpp"
#include "sqlite/invariants.hpp"
#include "sqlite/open_repository.hpp"
#include "steps.hpp"
#include "stepwise.hpp"

namespace wallock::test {
namespace {

using namespace std::chrono_literals;

// What befalls a statement of the application's own is its work's failure.
Trouble interruption(StatementWatch& statements) {
  return {.name = "statement",
          .begin = [&statements](std::uint64_t at) { statements.interrupt(at); },
          .end = [&statements] { return statements.end(); },
          .may_answer = [](Errc code) { return code == Errc::busy || code == Errc::work_failed; }};
}

// Before an opening: each of its transactions flushes for itself.
Step with_own_flushes() {
  return {"own flushes", false, [](Stage& stage) -> Status {
            stage.options.share_flushes = false;
            return {};
          }};
}

// What the usual ones do not come by.
std::vector<Scenario> more_scenarios() {
  const CommitSpec keeps{.after = AfterCommit::keep};
  const CommitSpec repeats{.after = AfterCommit::keep, .repeats = true};
  return {{"flushes of its own, by turns",
           {with_own_flushes(), opened(), acquired("r"), committed("r", {"a"}), acquired("s"),
            committed("s", {"b"}), closed()}},
          {"a commit that keeps the lease, repeated after a restart of the process",
           {opened(), acquired("r"), committed("r", {"a"}, keeps), closed(), opened(),
            committed("r", {"a"}, repeats), closed()}}};
}

void interrupt_all(const Scenario& scenario, std::size_t from, const Trouble& trouble,
                   Tally& tally) {
  for (std::size_t step = from; step < scenario.steps.size(); ++step)
    trouble_step(scenario, step, trouble, {}, tally);
}

Lease acquired_on(LeaseRepository& repository, const ManualClock& clock, const char* resource) {
  return repository
      .acquire({.resource = ResourceName::parse(resource).value(),
                .holder = HolderId::parse("ann").value(),
                .instance = InstanceId{7},
                .ttl = 30s},
               {}, clock.now() + 1s)
      .value();
}

}  // namespace

TEST_CASE("a statement that is interrupted changes nothing, and the call is repeated",
          "[interrupt]") {
  StatementWatch statements;
  const Trouble trouble = interruption(statements);
  Tally tally;
  bool had_opening = false;
  for (const Scenario& scenario : scenarios()) {
    if (scenario.page_size == 512) continue;
    // Openings of an existing store are alike.
    const bool is_alike = had_opening && !scenario.is_new;
    interrupt_all(scenario, is_alike ? 1 : 0, trouble, tally);
    had_opening = had_opening || !scenario.is_new;
  }
  for (const Scenario& scenario : more_scenarios())
    interrupt_all(scenario, 0, trouble, tally);
  std::printf("statements: %llu interrupted, %llu surfaced\n",
              static_cast<unsigned long long>(tally.injected),
              static_cast<unsigned long long>(tally.surfaced));
  CHECK(tally.surfaced > 0);
  CHECK(tally.surfaced * 10 > tally.injected * 9);
}

TEST_CASE("a statement that is interrupted in a shared renewal renews nobody, and is repeated",
          "[interrupt]") {
  StatementWatch statements;
  const ScratchFolder folder;
  Stage stage(folder.path(), Durability::commits);
  set_up({"renewals", {}}, stage);
  const auto opened =
      sqlite::open_repository(stage.path(), stage.options, InstanceId{7}, stage.clock).value();
  std::vector<RenewRequest> requests;
  for (const char* resource : {"r", "s"})
    requests.push_back(
        {.lease = acquired_on(*opened.repository, *stage.clock, resource), .ttl = 60s});
  const std::string before = content_of(stage.path());
  std::uint64_t at = 0;
  for (;; ++at) {
    CAPTURE(at);
    statements.interrupt(at);
    const auto answers =
        within([&] { return opened.repository->renew_all(requests, stage.clock->now() + 1s); });
    const bool came = statements.end();
    CHECK(answers.has_value() == !came);
    if (!came) break;
    CHECK(answers.error().code() == Errc::busy);
    CHECK(content_of(stage.path()) == before);
  }
  CHECK(at > 4);
  CHECK(content_of(stage.path()) != before);
}

TEST_CASE("check_invariants that cannot read to the end says so, and finds nothing wrong",
          "[interrupt]") {
  StatementWatch statements;
  const ScratchFolder folder;
  Stage stage(folder.path(), Durability::commits);
  set_up({"a look", {}}, stage);
  for (const Step& step : {opened(), executed("r", {"a"}, {.sent = true}), closed()})
    REQUIRE(step.run(stage));
  std::uint64_t at = 0;
  for (bool came = true; came; ++at) {
    CAPTURE(at);
    statements.interrupt(at);
    const auto found = within([&] { return sqlite::check_invariants(stage.path()); });
    came = statements.end();
    CHECK(found.has_value() == !came);
    if (came) CHECK(found.error().code() == Errc::busy);
    if (!came) CHECK(found.value().empty());
  }
  CHECK(at > 10);
}

}  // namespace wallock::test
