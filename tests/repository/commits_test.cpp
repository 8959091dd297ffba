// Commits on the file: what is recorded, what becomes of the lease, and what a repetition answers.
#include "repository_support.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {
namespace {

// Counts how often it ran, in a table of the application's.
Work counting() {
  return
      [](Transaction& transaction) { database(transaction).exec("INSERT INTO runs VALUES (1)"); };
}

struct App {
  TempStore at;
  Coordinator store = at.open();
  RawDatabase raw = at.raw();
  App() { raw.must("CREATE TABLE runs (n)"); }
  std::int64_t runs() { return raw.integer("SELECT count(*) FROM runs"); }
};

std::vector<ActionRequest> batch_of(int size, const std::string& prefix = "a") {
  std::vector<ActionRequest> actions;
  for (int i = 0; i < size; ++i)
    actions.push_back(ActionRequest::create(recorded(prefix + std::to_string(i))).value());
  return actions;
}

}  // namespace

TEST_CASE("a commit records its actions, runs its work once and spends its token") {
  App app;
  News news(app.store);
  const auto lease = app.store.acquire("r", by("ann")).value();
  const auto done = app.store.commit(lease, {recorded("a"), sent("b")}, counting()).value();
  CHECK(app.runs() == 1);
  CHECK(news() == "lease_granted action_recorded action_recorded");
  CHECK_FALSE(done.replayed());
  CHECK_FALSE(done.lease());
  REQUIRE(done.results().size() == 2);
  CHECK(done.results()[0].id().str() == "a");
  CHECK(done.results()[0].token() == lease.token());
  CHECK(done.results()[0].state() == ActionState::sealed);
  CHECK(done.results()[1].state() == ActionState::validated);
  CHECK(done.results()[1].position() == done.results()[0].position() + 1);

  const auto record = app.store.audit({.from = done.results()[0].position()}).value().front();
  CHECK(record.entry().action_id->str() == "a");
  CHECK(record.entry().resource->str() == "r");
  CHECK(record.entry().token == lease.token());
  CHECK(record.entry().actor == "ann");
  CHECK(record.entry().digest == done.results()[0].digest());
  CHECK(record.recorded_at() == app.at.clock->wall_now());

  CHECK(answer(app.store.commit(lease, recorded("c"), counting())) == "stale_token");
  CHECK(app.runs() == 1);
  CHECK(news() == "-");
}

TEST_CASE("what becomes of the lease after a commit is the caller's choice") {
  App app;
  News news(app.store);
  const auto lease = app.store.acquire("r", by("ann", 10s)).value();
  REQUIRE(news() == "lease_granted");
  app.at.clock->advance(4s);

  SECTION("nothing: it stays, without a right to commit") {
    REQUIRE(answer(app.store.commit(lease, recorded("a"))) == "ok");
    CHECK(news() == "action_recorded");
    CHECK(answer(app.store.acquire("r", by("bob"))) == "lease_held");
    CHECK(answer(app.store.renew(lease, 10s)) == "ok");
    CHECK(effect(app.store.release(lease)) == "released");
  }
  SECTION("keep: it goes on under the next token, for its own ttl") {
    const auto kept =
        app.store.commit(lease, {recorded("a"), recorded("b")}, {}, {.after = AfterCommit::keep})
            .value();
    CHECK(news() == "action_recorded action_recorded lease_granted");
    REQUIRE(kept.lease());
    CHECK(kept.lease()->token().position() == kept.results().back().position() + 1);
    CHECK(kept.lease()->expires_at() == app.at.clock->now() + 10s);
    CHECK(kept.lease()->holder() == lease.holder());
    CHECK(answer(app.store.commit(lease, recorded("c"))) == "stale_token");
    CHECK(answer(app.store.renew(lease, 10s)) == "lease_lost");
    CHECK(answer(app.store.commit(*kept.lease(), recorded("c"))) == "ok");
  }
  SECTION("keep, for a ttl of its own") {
    const auto kept =
        app.store
            .commit(lease, recorded("a"), {}, {.after = AfterCommit::keep, .ttl = Duration(60s)})
            .value();
    CHECK(kept.lease()->expires_at() == app.at.clock->now() + 60s);
  }
  SECTION("release: it ends in the same transaction") {
    REQUIRE(answer(app.store.commit(lease, recorded("a"), {}, {.after = AfterCommit::release})) ==
            "ok");
    CHECK(news() == "action_recorded lease_released");
    CHECK(effect(app.store.release(lease)) == "already_ended");
    CHECK(answer(app.store.acquire("r", by("bob"))) == "ok");
  }
}

TEST_CASE("a repeated commit answers the first receipts and does not run its work again") {
  App app;
  const auto lease = app.store.acquire("r", by("ann")).value();
  const Batch batch{sent("a", "first"), recorded("b", "second")};
  const auto first = app.store.commit(lease, batch, counting(), {.after = AfterCommit::keep});
  REQUIRE(answer(first) == "ok");
  News news(app.store);

  const auto again = app.store.commit(lease, batch, counting(), {.after = AfterCommit::keep});
  REQUIRE(answer(again) == "ok");
  CHECK(again->replayed());
  CHECK(again->results() == first->results());
  CHECK(again->lease().has_value() == first->lease().has_value());

  auto other = app.at.open();  // after a crash, from another process, in another order
  const auto reordered = other.commit(lease, {recorded("b", "second"), sent("a", "first")});
  REQUIRE(answer(reordered) == "ok");
  CHECK(reordered->results()[0] == first->results()[1]);
  const auto executed = other.execute("r", batch, counting());
  REQUIRE(answer(executed) == "ok");
  CHECK(executed->results() == first->results());
  CHECK(app.runs() == 1);
  CHECK(news() == "-");
}

TEST_CASE("a recorded action id with anything else than its own content is a conflict (O19)") {
  App app;
  const auto used = app.store.acquire("r", by("ann")).value();
  ActionFields fields = sent("a", "payload", "bank");
  fields.security_score = Score::parse("0.5").value();
  fields.amount = Decimal::parse("1.50").value();
  REQUIRE(answer(app.store.commit(used, fields, {}, {.after = AfterCommit::release})) == "ok");
  const auto next = app.store.acquire("r", by("ann")).value();
  News news(app.store);
  const auto refused = [&](auto change) {
    ActionFields changed = fields;
    change(changed);
    return answer(app.store.commit(next, changed, counting()));
  };
  CHECK(refused([](ActionFields&) {}) == "ok");
  CHECK(refused([](ActionFields& f) { f.payload = "payloae"; }) == "action_conflict");
  CHECK(refused([](ActionFields& f) { f.payload += '\0'; }) == "action_conflict");
  CHECK(refused([](ActionFields& f) { f.destination.reset(); }) == "action_conflict");
  CHECK(refused([](ActionFields& f) { f.destination = Given<Destination>("b"); }) ==
        "action_conflict");
  CHECK(refused([](ActionFields& f) { f.security_score = {}; }) == "action_conflict");
  CHECK(refused([](ActionFields& f) { f.amount.reset(); }) == "action_conflict");
  CHECK(refused([](ActionFields& f) { f.amount = Decimal::of(151, 2).value(); }) ==
        "action_conflict");
  CHECK(refused([](ActionFields& f) { f.amount = Decimal::of(1500, 3).value(); }) == "ok");

  const auto elsewhere = app.store.acquire("s", by("ann")).value();
  CHECK(answer(app.store.commit(elsewhere, fields)) == "action_conflict");
  const auto conflict = app.store.execute("t", fields);
  CHECK(answer(conflict) == "action_conflict");
  CHECK(conflict.error().facts() ==
        ErrorFacts{.field = "action_id", .action = "a", .resource = "t", .token = used.token()});
  CHECK(answer(app.store.commit(next, {fields, recorded("new")})) == "batch_partly_recorded");
  const auto partly = app.store.execute("r", {recorded("new"), fields});
  CHECK(answer(partly) == "batch_partly_recorded");
  CHECK(partly.error().facts() == ErrorFacts{.field = "action_id", .action = "a", .resource = "r"});
  CHECK(news() == "lease_granted");
  CHECK(app.runs() == 0);
}

TEST_CASE("INV-04 a batch with an id twice, or an id used before, leaves one event") {
  App app;
  const auto lease = app.store.acquire("r", by("ann")).value();
  News news(app.store);
  CHECK(answer(app.store.commit(lease, {recorded("a"), recorded("b"), recorded("a")})) ==
        "duplicate_action");
  CHECK(news() == "-");
  REQUIRE(answer(app.store.commit(lease, recorded("a"))) == "ok");
  REQUIRE(answer(app.store.commit(lease, recorded("a"))) == "ok");
  CHECK(app.raw.integer("SELECT count(*) FROM wallock_lease_queue_events WHERE action_id = 'a'") ==
        1);
}

TEST_CASE("a batch holds 1 to 1000 actions") {
  App app;
  const auto lease = app.store.acquire("r", by("ann")).value();
  News news(app.store);
  CHECK(answer(app.store.commit(lease, batch_of(0), counting())) == "batch_size");
  CHECK(answer(app.store.commit(lease, batch_of(1001), counting())) == "batch_size");
  CHECK(news() == "-");
  const auto most =
      app.store.commit(lease, batch_of(1000), counting(), {.after = AfterCommit::keep});
  REQUIRE(answer(most) == "ok");
  CHECK(most->results().size() == 1000);
  CHECK(most->results().back().position() - most->results().front().position() == 999);
  CHECK(most->lease()->token().position() == most->results().back().position() + 1);
  CHECK(answer(app.store.commit(*most->lease(), batch_of(1, "b"))) == "ok");
  CHECK(app.store.commit(lease, batch_of(1000)).value().replayed());
  CHECK(app.runs() == 1);
  CHECK(verdict(app.store) == "UNANCHORED");
}

TEST_CASE("execute is acquire, commit and release in one transaction") {
  App app;
  News news(app.store);
  const auto done = app.store.execute("r", recorded("a"), counting()).value();
  CHECK(news() == "lease_granted action_recorded lease_released");
  CHECK(app.runs() == 1);
  CHECK(done.results()[0].token().position() == done.results()[0].position() - 1);
  CHECK(app.store.leases().value().empty());

  const auto lease = app.store.acquire("r", by("ann")).value();
  CHECK(lease.token() > done.results()[0].token());
  CHECK(news() == "lease_granted");
  ExecuteOptions as_ann;
  as_ann.holder = Given<HolderId>("ann");
  CHECK(answer(app.store.execute("r", recorded("b"), counting(), as_ann)) == "already_held");
  as_ann.holder = Given<HolderId>("bob");
  CHECK(answer(app.store.execute("r", recorded("b"), counting(), as_ann)) == "lease_held");
  CHECK(app.store.execute("r", recorded("a"), counting()).value().replayed());
  CHECK(app.runs() == 1);
  CHECK(news() == "-");

  app.at.clock->advance(30s);
  CHECK(answer(app.store.execute("r", recorded("b"), counting())) == "ok");
  CHECK(answer(app.store.commit(lease, recorded("c"))) == "stale_token");
}

}  // namespace wallock::test
