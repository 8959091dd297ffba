// Every call refuses a wrong argument before it touches the store.
#include <functional>

#include "coordinator_support.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

struct Refused {
  std::string name;
  std::function<std::optional<Error>(Coordinator&)> call;
  Errc code;
  std::string field;
};

template <class T>
std::optional<Error> error_of(const Result<T>& answer) {
  if (answer) return std::nullopt;
  return answer.error();
}

const Lease& some_lease() {
  static const Lease held = lease(Instant(1h), 30s);
  return held;
}

const Probe& some_probe() {
  static const Probe probe(ResourceName::parse("r").value(),
                           {.token = FencingToken::of(1, 9).value(),
                            .holder = HolderId::parse("h").value(),
                            .expires_at = Instant(2h)});
  return probe;
}

Refused acquire(std::string name, AcquireOptions options, Errc code, std::string field) {
  return {std::move(name), [options](Coordinator& c) { return error_of(c.acquire("r", options)); },
          code, std::move(field)};
}

Refused guard(std::string name, GuardOptions options, std::string field) {
  return {std::move(name),
          [options](Coordinator& c) { return error_of(c.guard("r", {.ttl = 10s}, options)); },
          Errc::invalid_duration, std::move(field)};
}

Refused commit(std::string name, Batch batch, CommitOptions options, Errc code, std::string field) {
  return {std::move(name),
          [=](Coordinator& c) { return error_of(c.commit(some_lease(), batch, {}, options)); },
          code, std::move(field)};
}

std::vector<Refused> lease_calls() {
  const Batch one(ActionFields{.id = "a"});
  const Batch large(ActionFields{.id = "a", .payload = std::string(1001, 'x')});
  return {
      acquire("ttl zero", {.ttl = 0s}, Errc::invalid_duration, "ttl"),
      acquire("ttl negative", {.ttl = -1s}, Errc::invalid_duration, "ttl"),
      acquire("ttl below 1 ms", {.ttl = 1ms - 1ns}, Errc::invalid_duration, "ttl"),
      acquire("ttl over 30 days", {.ttl = max_ttl + 1ns}, Errc::invalid_duration, "ttl"),
      acquire("ttl for ever", {.ttl = Duration::max()}, Errc::invalid_duration, "ttl"),
      acquire("wait negative", {.wait = -1ns}, Errc::invalid_duration, "wait"),
      acquire("metadata", {.metadata = std::string(4097, 'm')}, Errc::too_large, "metadata"),
      acquire("holder", {.holder = ""}, Errc::invalid_name, "holder"),
      acquire("action id", {.action_id = "a\n"}, Errc::invalid_name, "action_id"),
      {"resource", [](Coordinator& c) { return error_of(c.acquire("")); }, Errc::invalid_name,
       "resource"},
      {"try_acquire", [](Coordinator& c) { return error_of(c.try_acquire("r", {.ttl = 0s})); },
       Errc::invalid_duration, "ttl"},
      guard("margin negative", {.margin = -1ns}, "margin"),
      guard("margin over half the ttl", {.margin = 5s + 1ns}, "margin"),
      guard("max_hold below the ttl", {.max_hold = 10s - 1ns}, "max_hold"),
      {"renew", [](Coordinator& c) { return error_of(c.renew(some_lease(), 0s)); },
       Errc::invalid_duration, "ttl"},
      commit("empty batch", std::vector<ActionRequest>(), {}, Errc::batch_size, "actions"),
      commit("id twice", {{.id = "a"}, {.id = "a"}}, {}, Errc::duplicate_action, "action_id"),
      commit("payload over the store's limit", large, {}, Errc::too_large, "payload"),
      commit("ttl", one, {.after = AfterCommit::keep, .ttl = 0s}, Errc::invalid_duration, "ttl"),
      commit("after", one, {.after = static_cast<AfterCommit>(9)}, Errc::invalid_option, "after"),
      {"execute's wait",
       [one](Coordinator& c) { return error_of(c.execute("r", one, {}, {.wait = -1s})); },
       Errc::invalid_duration, "wait"},
      {"execute's payload", [large](Coordinator& c) { return error_of(c.execute("r", large)); },
       Errc::too_large, "payload"},
      {"execute's holder",
       [one](Coordinator& c) { return error_of(c.execute("r", one, {}, {.holder = "\x7f"})); },
       Errc::invalid_name, "holder"},
      {"revoke's token", [](Coordinator& c) { return error_of(c.revoke("r", {}, "why")); },
       Errc::invalid_token, "token"},
      {"revoke's reason",
       [](Coordinator& c) {
         return error_of(c.revoke("r", some_lease().token(), std::string(1025, 'r')));
       },
       Errc::too_large, "reason"},
      {"revoke without a reason",
       [](Coordinator& c) { return error_of(c.revoke("r", some_lease().token(), "")); },
       Errc::invalid_option, "reason"},
  };
}

std::vector<Refused> other_calls() {
  return {
      {"report",
       [](Coordinator& c) {
         return error_of(c.report(some_lease(), static_cast<DownstreamOutcome>(9)));
       },
       Errc::invalid_option, "outcome"},
      {"breaker", [](Coordinator& c) { return error_of(c.breaker("")); }, Errc::invalid_name,
       "resource"},
      {"begin_recovery's ttl",
       [](Coordinator& c) { return error_of(c.begin_recovery("r", {.ttl = 0s})); },
       Errc::invalid_duration, "ttl"},
      {"empty evidence",
       [](Coordinator& c) {
         return error_of(c.complete_recovery(some_probe(), {.recovered = true}));
       },
       Errc::invalid_evidence, "evidence"},
      {"evidence that is not UTF-8",
       [](Coordinator& c) {
         return error_of(
             c.complete_recovery(some_probe(), {.recovered = true, .evidence = "\xff"}));
       },
       Errc::invalid_evidence, "evidence"},
      {"long evidence",
       [](Coordinator& c) {
         return error_of(c.complete_recovery(
             some_probe(), {.recovered = true, .evidence = std::string(1025, 'e')}));
       },
       Errc::invalid_evidence, "evidence"},
      {"force_open's reason", [](Coordinator& c) { return error_of(c.force_open("r", "\xff")); },
       Errc::invalid_option, "reason"},
      {"force_open without a reason",
       [](Coordinator& c) { return error_of(c.force_open("r", "")); }, Errc::invalid_option,
       "reason"},
      {"force_open's reason with a NUL",
       [](Coordinator& c) { return error_of(c.force_open("r", std::string("a\0b", 3))); },
       Errc::invalid_option, "reason"},
      {"evidence with a NUL",
       [](Coordinator& c) {
         return error_of(c.complete_recovery(
             some_probe(), {.recovered = true, .evidence = std::string(1, '\0')}));
       },
       Errc::invalid_evidence, "evidence"},
      {"clear_forced", [](Coordinator& c) { return error_of(c.clear_forced("")); },
       Errc::invalid_name, "resource"},
      {"claim's destination", [](Coordinator& c) { return error_of(c.claim({.destination = ""})); },
       Errc::invalid_name, "destination"},
      {"claim of none",
       [](Coordinator& c) { return error_of(c.claim({.destination = "d", .limit = 0})); },
       Errc::invalid_option, "limit"},
      {"claim of too many",
       [](Coordinator& c) { return error_of(c.claim({.destination = "d", .limit = 1001})); },
       Errc::invalid_option, "limit"},
      {"claim's ttl",
       [](Coordinator& c) { return error_of(c.claim({.destination = "d", .ttl = -1s})); },
       Errc::invalid_duration, "ttl"},
      {"leases of none", [](Coordinator& c) { return error_of(c.leases(0)); }, Errc::invalid_option,
       "limit"},
      {"leases of too many", [](Coordinator& c) { return error_of(c.leases(10'001)); },
       Errc::invalid_option, "limit"},
      {"audit of none", [](Coordinator& c) { return error_of(c.audit({.limit = 0})); },
       Errc::invalid_option, "limit"},
      {"audit of too many", [](Coordinator& c) { return error_of(c.audit({.limit = 10'001})); },
       Errc::invalid_option, "limit"},
  };
}

void check_all(const std::vector<Refused>& calls) {
  const World world;
  Coordinator coordinator = world.open({.max_payload = 1000});
  for (const Refused& refused : calls) {
    INFO(refused.name);
    const auto error = refused.call(coordinator);
    REQUIRE(error);
    CHECK(error->code() == refused.code);
    CHECK(error->facts().field == refused.field);
    CHECK(error->error_class() == ErrorClass::deterministic);
    CHECK(world.faults->calls().empty());
  }
}

}  // namespace

TEST_CASE("a wrong argument of a lease call is refused before the store is asked (case L41)") {
  check_all(lease_calls());
}

TEST_CASE("a wrong argument of any other call is refused before the store is asked") {
  check_all(other_calls());
}

TEST_CASE("the largest and smallest legal arguments reach the store") {
  const World world;
  Coordinator coordinator = world.open({.max_payload = 1000});
  CHECK(coordinator.acquire("a", {.ttl = min_ttl, .metadata = std::string(4096, 'm')}));
  CHECK(coordinator.acquire("b", {.ttl = max_ttl, .wait = Duration::max()}));
  CHECK(coordinator.guard("c", {.ttl = 10s}, {.margin = 5s, .max_hold = 10s}));
  CHECK(coordinator.guard("d", {.ttl = 10s}, {.margin = 0s}));
  CHECK(coordinator.execute("e", ActionFields{.id = "x", .payload = std::string(1000, 'p')}));
  CHECK(coordinator.force_open("f", std::string(1024, 'r')));
  CHECK(coordinator.claim({.destination = "d", .limit = 1000}));
  // A failed probe needs no evidence: it is for the store to say that this probe is unknown.
  CHECK(coordinator.complete_recovery(some_probe(), {.recovered = false}).error().code() ==
        Errc::probe_lost);
  CHECK(coordinator.leases(10'000));
  CHECK(coordinator.audit({.limit = 10'000}));
}

TEST_CASE("opening over a repository checks the options and wants a repository") {
  const World world;
  const auto none = Coordinator::over(nullptr);
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == Errc::invalid_option);
  CHECK(none.error().facts().field == "repository");
  const auto bad = Coordinator::over(world.repository(), {.operation_timeout = 0s});
  REQUIRE_FALSE(bad);
  CHECK(bad.error().facts().field == "operation_timeout");
}

TEST_CASE("opening refuses a path that cannot name a file") {
  for (const std::string& path : {std::string(), std::string("a\0b", 3)}) {
    const auto answer = Coordinator::open(path);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code() == Errc::invalid_option);
    CHECK(answer.error().facts().field == "path");
  }
}

TEST_CASE("every operation gives the store its timeout as an absolute deadline") {
  const World world;
  Coordinator coordinator = world.open({.operation_timeout = 3s});
  const Instant due = world.clock->now() + 3s;
  const auto held = coordinator.acquire("r").value();
  REQUIRE(coordinator.report(held, DownstreamOutcome::success));
  REQUIRE(coordinator.commit(held, ActionFields{.id = "a"}));
  REQUIRE(coordinator.release(held));
  REQUIRE(coordinator.force_open("r", "test"));
  REQUIRE(coordinator.clear_forced("r"));
  REQUIRE(coordinator.claim({.destination = "d"}));
  REQUIRE(coordinator.execute("s", ActionFields{.id = "b"}));
  CHECK(world.faults->calls().size() == 8);
  for (const Call& call : world.faults->calls()) {
    INFO(call.operation);
    CHECK(call.deadline == due);
  }
}

TEST_CASE("a renewal gives up a tenth of the ttl before the lease ends (case L10)") {
  const World world;
  Coordinator coordinator = world.open({.operation_timeout = 1h});
  const auto held = coordinator.acquire("r", {.ttl = 10s}).value();
  REQUIRE(coordinator.renew(held, 10s));
  CHECK(world.faults->calls().back().deadline == held.expires_at() - 1s);

  world.clock->advance(9500ms);
  const Instant late = world.clock->now();
  REQUIRE_FALSE(coordinator.renew(lease(late - 10s, 10s), 10s));
  CHECK(world.faults->calls().back().deadline > late);
  CHECK(world.faults->calls().back().deadline < late + 1s);
}

TEST_CASE("a renewal after the end is answered by the store: expired, never revived (case L8)") {
  const World world;
  Coordinator coordinator = world.open();
  const auto held = coordinator.acquire("r", {.ttl = 10s}).value();
  world.clock->advance(10s);
  const auto answer = coordinator.renew(held, 10s);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code() == Errc::lease_expired);
}

TEST_CASE("a repository that throws is answered, never thrown") {
  const World world;
  Coordinator coordinator = world.open();
  world.faults->before = [](const Call&) -> std::optional<Error> { throw std::bad_alloc(); };
  CHECK(coordinator.acquire("r").error().code() == Errc::out_of_memory);
  world.faults->before = [](const Call&) -> std::optional<Error> { throw 42; };
  CHECK(coordinator.acquire("r").error().code() == Errc::outcome_unknown);
  CHECK(coordinator.health().error().code() == Errc::outcome_unknown);
}

TEST_CASE("a number of the work's own comes back with its error") {
  const World world;
  Coordinator coordinator = world.open();
  const auto answer = coordinator.execute(
      "r", ActionFields{.id = "a"}, [](Transaction&) -> Status { return fail(work_error(17)); });
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code() == Errc::work_failed);
  CHECK(answer.error().facts().native == 17);
}

TEST_CASE("two threads of one coordinator are two holders by default") {
  const World world;
  Coordinator coordinator = world.open();
  const auto mine = coordinator.acquire("r").value();
  std::optional<Error> theirs;
  std::string their_name;
  std::thread([&] {
    theirs = error_of(coordinator.try_acquire("r"));
    their_name = coordinator.acquire("s").value().holder().str();
  }).join();
  REQUIRE(theirs);
  CHECK(theirs->code() == Errc::lease_held);
  CHECK(theirs->facts().holder == mine.holder().str());
  CHECK(their_name != mine.holder().str());
  CHECK(their_name.substr(0, 17) == mine.holder().str().substr(0, 17));
  CHECK(their_name.at(16) == '/');
}

TEST_CASE("a named holder is the same holder on every thread, and no other opening's") {
  const World world;
  Coordinator coordinator = world.open({.holder = "worker"});
  Coordinator other = world.other().open({.holder = "worker"});
  REQUIRE(coordinator.acquire("r"));
  Errc code{};
  std::thread([&] { code = coordinator.try_acquire("r").error().code(); }).join();
  CHECK(code == Errc::already_held);
  CHECK(other.try_acquire("r").error().code() == Errc::lease_held);
}
