// Batches: their rows go into the file several at a time, and nobody can tell.
#include <memory>
#include <set>

#include "crossroads.hpp"
#include "sqlite/bulk_insert.hpp"
#include "sqlite/connection.hpp"
#include "sqlite/invariants.hpp"
#include "sqlite/ledger_store.hpp"

namespace wallock::test {
namespace {

using sqlite::rows_at_once;

constexpr auto chunk = static_cast<int>(rows_at_once);

// Action n of a batch: every shape that an action can have comes within ten.
ActionFields shaped(const std::string& prefix, int n) {
  auto fields = recorded(prefix + std::to_string(n), std::string(static_cast<std::size_t>(n), 'x'));
  if (n % 3 != 1) fields.destination = Given<Destination>(n % 2 == 0 ? "bank" : "mail");
  if (n % 4 == 2) fields.amount = Decimal::parse("12.50").value();
  if (n % 5 == 3) fields.payload = std::string("\0\x01", 2) + std::to_string(n);
  fields.security_score = Score::from_millionths(static_cast<std::uint32_t>(n) * 1000).value();
  return fields;
}

Batch batch_of(const std::string& prefix, int size) {
  std::vector<ActionRequest> actions;
  for (int n = 0; n < size; ++n)
    actions.push_back(ActionRequest::create(shaped(prefix, n)).value());
  return actions;
}

Batch sent_batch(const std::string& prefix, int size) {
  std::vector<ActionRequest> actions;
  for (int n = 0; n < size; ++n)
    actions.push_back(ActionRequest::create(sent(prefix + std::to_string(n))).value());
  return actions;
}

struct App {
  TempStore at;
  Coordinator store = at.open();
  RawDatabase raw = at.raw();

  std::string violations() {
    const auto found = sqlite::check_invariants(at.path());
    return found ? std::to_string(found->size()) : answer(found);
  }
  std::int64_t rows(const std::string& table) {
    return raw.integer("SELECT count(*) FROM wallock_" + table);
  }
  // All there is of commits: records, payloads, deliveries.
  std::string all_rows() {
    return std::to_string(rows("lease_queue_events")) + " " + std::to_string(rows("payloads")) +
           " " + std::to_string(rows("deliveries"));
  }
  // The states of the deliveries, in their order: 0 ready, 1 blocked.
  std::string line() {
    return raw.text(
        "SELECT group_concat(state, '') FROM "
        "(SELECT state FROM wallock_deliveries ORDER BY position)");
  }
  // Delivers what there is; the ids and payloads in the order in which they went out.
  std::vector<std::string> deliver(const std::string& destination) {
    std::vector<std::string> gone;
    for (;;) {
      const auto claimed =
          store.claim({.destination = Given<Destination>(destination), .limit = 1}).value();
      if (claimed.empty()) return gone;
      gone.push_back(claimed[0].action_id().str() + " " + claimed[0].payload());
      if (!store.settle(claimed[0], DeliveryOutcome::delivered())) return {"not settled"};
    }
  }
};

}  // namespace

TEST_CASE("a batch of any size leaves what its actions are, in their order") {
  const int size = GENERATE(1, 2, chunk - 1, chunk, chunk + 1, 2 * chunk, 2 * chunk + 3, 100);
  CAPTURE(size);
  App app;
  const auto lease = app.store.acquire("r", by("ann")).value();
  const auto first = app.store.root().value().size;
  const auto done = app.store.commit(lease, batch_of("a", size), {}, {.after = AfterCommit::keep});
  REQUIRE(answer(done) == "ok");
  REQUIRE(done->results().size() == static_cast<std::size_t>(size));
  const auto records = app.store.audit({.from = first}).value();
  for (int n = 0; n < size; ++n) {
    const auto index = static_cast<std::size_t>(n);
    const ActionResult& result = done->results()[index];
    const LedgerEntry& entry = records.at(index).entry();
    const ActionFields given = shaped("a", n);
    CHECK(result.id().str() == "a" + std::to_string(n));
    CHECK(result.position() == first + index);
    CHECK(entry.action_id == result.id());
    CHECK(entry.digest == result.digest());
    CHECK(entry.score == given.security_score);
    CHECK(entry.state == result.state());
    CHECK(result.state() == (given.destination ? ActionState::validated : ActionState::sealed));
  }
  CHECK(app.rows("payloads") == size);
  CHECK(verdict(app.store) == "UNANCHORED");
  CHECK(app.violations() == "0");
}

TEST_CASE("a batch goes out in its order, each action's own payload, and repeats as one") {
  const int size = GENERATE(2, chunk, chunk + 1, 2 * chunk + 3);
  CAPTURE(size);
  App app;
  const auto done = app.store.execute("r", sent_batch("a", size));
  REQUIRE(answer(done) == "ok");
  CHECK(app.line() == "0" + std::string(static_cast<std::size_t>(size - 1), '1'));
  News news(app.store);
  const auto again = app.store.execute("r", sent_batch("a", size));
  REQUIRE(answer(again) == "ok");
  CHECK(again->replayed());
  CHECK(again->results() == done->results());
  CHECK(news() == "-");
  const auto gone = app.deliver("bank");
  REQUIRE(gone.size() == static_cast<std::size_t>(size));
  for (int n = 0; n < size; ++n)
    CHECK(gone[static_cast<std::size_t>(n)] == "a" + std::to_string(n) + " payload");
  CHECK(app.violations() == "0");
}

TEST_CASE("a batch waits behind what its resource has on its way, and behind nobody else's") {
  App app;
  REQUIRE(answer(app.store.execute("r", sent("before"))) == "ok");
  REQUIRE(answer(app.store.execute("r", sent_batch("a", chunk + 2))) == "ok");
  CHECK(app.line() == "0" + std::string(rows_at_once + 2, '1'));
  REQUIRE(answer(app.store.execute("s", sent_batch("b", 2))) == "ok");
  CHECK(app.line() == "0" + std::string(rows_at_once + 2, '1') + "01");
  CHECK(app.deliver("bank").size() == rows_at_once + 5);
  CHECK(app.violations() == "0");
}

TEST_CASE("INV-04 an id of a batch that is recorded is found wherever it stands") {
  const int size = GENERATE(2, chunk, chunk + 1, 2 * chunk + 3);
  App app;
  const auto lease = app.store.acquire("r", by("ann")).value();
  const auto other = app.store.acquire("s", by("ann")).value();
  for (const int at : std::set{0, 1, size / 2, size - 2, size - 1}) {
    CAPTURE(size, at);
    const std::string prefix = "at" + std::to_string(at) + "-";
    const std::string id = prefix + std::to_string(at);
    app.store.execute("t", ActionFields{.id = id, .payload = "another"}).value();
    News news(app.store);
    int runs = 0;
    const auto done = app.store.commit(lease, batch_of(prefix, size), [&] { ++runs; });
    CHECK(answer(done) == "action_conflict");
    CHECK(done.error().facts().action == id);
    CHECK(news() == "-");
    CHECK(runs == 0);
  }
  CHECK(answer(app.store.commit(other, batch_of("c", size))) == "ok");
  CHECK(answer(app.store.commit(lease, batch_of("b", size))) == "ok");
}

TEST_CASE("a batch of which some are recorded is refused before its work runs") {
  App app;
  REQUIRE(answer(app.store.execute("r", batch_of("a", chunk + 1))) == "ok");
  News news(app.store);
  int runs = 0;
  const auto done = app.store.execute("r", batch_of("a", 2 * chunk + 3), [&] { ++runs; });
  CHECK(answer(done) == "batch_partly_recorded");
  CHECK(runs == 0);
  CHECK(news() == "-");
}

TEST_CASE("a row of a batch that the file refuses undoes all of the batch") {
  const bool delivery = GENERATE(false, true);
  const int size = 2 * chunk + 3;
  const int at = GENERATE(0, 4, chunk - 1, chunk, chunk + 1, size - 1);
  CAPTURE(delivery, at);
  App app;
  const auto lease = app.store.acquire("r", by("ann")).value();
  // Somebody has a row where that of the batch belongs.
  const auto taken = std::to_string(app.store.root().value().size + static_cast<unsigned>(at));
  const std::string table = delivery ? "wallock_deliveries" : "wallock_payloads";
  app.raw.must("INSERT INTO " + table + " VALUES (" + taken +
               (delivery ? ", 's', 'mail', 1, 0, 0, 0, 0, 0)"
                         : ", 2, 1, zeroblob(16), NULL, NULL, NULL, x'')"));
  const std::string before = app.all_rows();
  CHECK(answer(app.store.commit(lease, sent_batch("a", size))) == "invariant_violated");
  CHECK(app.all_rows() == before);
  app.raw.must("DROP TRIGGER wallock_deliveries_leave_gate; DELETE FROM " + table +
               " WHERE position = " + taken);
  CHECK(answer(app.store.commit(lease, sent_batch("a", size))) == "ok");
  CHECK(verdict(app.store) == "UNANCHORED");
  CHECK(app.violations() == "0");
}

TEST_CASE("a batch that is refused at any row harms none that shares its transaction") {
  const int bad = GENERATE(0, 5, chunk - 1, chunk, 2 * chunk + 2);
  const bool behind_work = GENERATE(false, true);
  CAPTURE(bad, behind_work);
  Crossroads at(60s, true, "a" + std::to_string(bad));
  auto worked = at.commit("worked", behind_work ? inserting("worked") : Work{});
  auto refused = at.join([&] { return at.store().execute("r", sent_batch("a", 2 * chunk + 3)); });
  auto batch = at.join([&] { return at.store().execute("s", sent_batch("b", 2 * chunk + 3)); });
  auto single = at.commit("single");
  CHECK(at.go() == "ok");
  CHECK(answer(worked.get()) == "ok");
  CHECK(answer(refused.get()) == "invariant_violated");
  CHECK(answer(batch.get()) == "ok");
  CHECK(answer(single.get()) == "ok");
  CHECK(at.raw().integer("SELECT count(*) FROM wallock_payloads") == 2 * chunk + 6);
  CHECK(at.raw().integer("SELECT count(*) FROM wallock_deliveries") == 2 * chunk + 3);
  CHECK(verdict(at.store()) == "UNANCHORED");
}

TEST_CASE("a record that the file refuses leaves its place to the next in the transaction") {
  const int bad = GENERATE(0, 3, chunk - 1);
  CAPTURE(bad);
  Crossroads at(60s, true, {},
                "CREATE TRIGGER refuses BEFORE INSERT ON wallock_lease_queue_events "
                "WHEN NEW.action_id = 'a" +
                    std::to_string(bad) + "' BEGIN SELECT RAISE(ABORT, 'refused'); END");
  auto refused = at.join([&] { return at.store().execute("r", sent_batch("a", chunk)); });
  auto batch = at.join([&] { return at.store().execute("s", sent_batch("b", chunk)); });
  CHECK(at.go() == "ok");
  CHECK(answer(refused.get()) == "invariant_violated");
  CHECK(answer(batch.get()) == "ok");
  CHECK(at.raw().integer("SELECT count(*) FROM wallock_deliveries") == chunk);
  CHECK(verdict(at.store()) == "UNANCHORED");
}

namespace {

// The ledger of a new store, and a connection in a transaction.
struct Ledger {
  TempStore at;
  Coordinator store = at.open();
  std::unique_ptr<sqlite::Connection> connection =
      sqlite::Connection::open(at.path(), sqlite::Access::write, *at.clock, Instant::max()).value();
  sqlite::LedgerStore ledger{ledger::Sha256::create().value()};
  std::string actor = "ann";

  void begin() {
    REQUIRE(answer(connection->execute("BEGIN IMMEDIATE")) == "ok");
    REQUIRE(answer(ledger.refresh(connection->handle())) == "ok");
  }
  void end(const char* how) { REQUIRE(answer(connection->execute(how)) == "ok"); }
  std::string append(const std::vector<sqlite::ActionRecord>& records) {
    LedgerEntry entry{.kind = RecordKind::action_recorded,
                      .resource = ResourceName::parse("r").value(),
                      .token = FencingToken::from_value(7).value(),
                      .actor = actor};
    return answer(ledger.append_actions(connection->handle(), WallTime(), entry, records));
  }
  std::int64_t rows() {
    sqlite::Statement statement("SELECT count(*) FROM wallock_lease_queue_events");
    sqlite::Query query(connection->handle(), statement);
    REQUIRE(query.step().value());
    return query.integer(0);
  }
};

// Names of actions, and records of them.
struct Actions {
  std::vector<ActionId> ids;
  std::vector<sqlite::ActionRecord> records;
  explicit Actions(std::size_t count) {
    for (std::size_t n = 0; n < count; ++n)
      ids.push_back(ActionId::parse("a" + std::to_string(n)).value());
    for (const ActionId& id : ids)
      records.push_back({.id = &id});
  }
};

}  // namespace

TEST_CASE("the tree has none of the records of which the schema refuses one") {
  const std::size_t bad = GENERATE(0u, 1u, 7u, 9u, 10u, 12u, 22u);
  CAPTURE(bad);
  Ledger at;
  at.begin();
  const auto rows = at.rows();
  const auto position = at.ledger.position();
  const auto generation = at.ledger.generation();
  const auto changes = sqlite3_total_changes64(at.connection->handle());
  Actions some(2 * rows_at_once + 3);
  some.records[bad].state = ActionState::executing;  // what an action is not when it is recorded
  CHECK(at.append(some.records) == "invariant_violated");
  CHECK(at.ledger.position() == position);
  CHECK(at.ledger.generation() != generation);
  // Whether anything was written is asked of SQLite.
  CHECK(sqlite3_total_changes64(at.connection->handle()) - changes == at.rows() - rows);
  at.end("ROLLBACK");
  at.ledger.rolled_back();
  at.begin();
  CHECK(at.ledger.position() == position);
  some.records[bad].state = ActionState::sealed;
  CHECK(at.append(some.records) == "ok");
  CHECK(at.ledger.position() == position + some.records.size());
  at.end("COMMIT");
  CHECK(at.rows() == rows + static_cast<std::int64_t>(some.records.size()));
  CHECK(at.store.root().value().size == at.ledger.position());
}

TEST_CASE("records that cannot be framed are refused before any of them is written") {
  Ledger at;
  at.begin();
  const auto position = at.ledger.position();
  const auto rows = at.rows();
  const Actions some(rows_at_once);
  at.actor = std::string(max_name_bytes + 1, 'x');
  CHECK(at.append(some.records) == "invariant_violated");
  CHECK(at.append({}) == "ok");
  CHECK(at.ledger.position() == position);
  CHECK(at.rows() == rows);
  at.actor.pop_back();
  CHECK(at.append(some.records) == "ok");
  CHECK(at.ledger.position() == position + some.records.size());
  at.end("COMMIT");
}

}  // namespace wallock::test
