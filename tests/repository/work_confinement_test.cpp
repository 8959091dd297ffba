// What the application's work may not do, and that a refusal leaves nothing behind.
#include "repository_support.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {
namespace {

Work running(const std::string& sql) {
  return [sql](Transaction& transaction) { database(transaction).exec(sql); };
}

struct App {
  TempStore at;
  Coordinator store = at.open();
  RawDatabase raw = at.raw();
  App() {
    raw.must("CREATE TABLE app (id INTEGER PRIMARY KEY, wallock_token INTEGER, note TEXT UNIQUE)");
    raw.must("CREATE VIEW leases AS SELECT resource, max_fence FROM wallock_resources");
    raw.must("CREATE VIEW app_view AS SELECT note FROM app");
    raw.must(
        "CREATE TABLE sneaky (n); CREATE TRIGGER sneaky_insert AFTER INSERT ON sneaky BEGIN "
        "DELETE FROM wallock_dead_letters; END");
  }
};

}  // namespace

TEST_CASE("work that reaches for the library's tables or the transaction is forbidden") {
  App app;
  const auto lease = app.store.acquire("r", by("ann")).value();
  const std::string sql = GENERATE(
      as<std::string>(), "COMMIT", "ROLLBACK", "BEGIN", "BEGIN IMMEDIATE", "END", "SAVEPOINT s",
      "RELEASE s", "ROLLBACK TO s", "ATTACH ':memory:' AS other", "DETACH main",
      "PRAGMA synchronous = OFF", "PRAGMA user_version", "PRAGMA wal_checkpoint",
      "SELECT * FROM pragma_table_info('app')", "SELECT * FROM wallock_resources",
      "SELECT 1 FROM WALLOCK_META", "SELECT count(*) FROM Wallock_Lease_Queue_Events",
      "SELECT count(*) FROM main.wallock_breakers", "SELECT count(*) FROM \"wallock_payloads\"",
      "SELECT (SELECT max(epoch) FROM wallock_meta)", "SELECT * FROM leases",
      "INSERT INTO wallock_migrations VALUES ('x', 1)",
      "UPDATE wallock_resources SET max_fence = 0", "UPDATE wallock_BREAKERS SET state = 0",
      "DELETE FROM wallock_deliveries",
      "INSERT INTO app (note) SELECT resource FROM wallock_resources",
      "REPLACE INTO wallock_migrations VALUES ('x', 1)", "INSERT INTO sneaky VALUES (1)",
      "CREATE TABLE wallock_mine (x)", "CREATE TEMP TABLE Wallock_resources (x)",
      "CREATE VIEW wallock_v AS SELECT 1", "CREATE INDEX mine ON wallock_resources (holder)",
      "CREATE INDEX wallock_i ON app (note)",
      "CREATE TRIGGER mine AFTER INSERT ON wallock_resources BEGIN SELECT 1; END",
      "CREATE TEMP TRIGGER mine AFTER UPDATE ON wallock_resources BEGIN SELECT 1; END",
      "CREATE TRIGGER wallock_t AFTER INSERT ON app BEGIN SELECT 1; END",
      "DROP TABLE wallock_dead_letters", "DROP INDEX wallock_events_action_id",
      "DROP TRIGGER wallock_events_no_update", "ALTER TABLE wallock_meta RENAME TO gone",
      "ALTER TABLE wallock_meta ADD COLUMN x", "ALTER TABLE app RENAME TO wallock_app",
      "CREATE TEMP TABLE t (x); ALTER TABLE t RENAME TO wallock_resources",
      "REINDEX wallock_events_action_id", "ANALYZE wallock_resources",
      "CREATE VIRTUAL TABLE wallock_f USING fts5(x)", "SELECT load_extension('x')");
  CAPTURE(sql);
  const auto schema = [&] {
    return app.raw.text("SELECT group_concat(type || name || sql) FROM sqlite_schema");
  };
  const auto before = schema();
  News news(app.store);
  const auto refused = app.store.commit(
      lease, sent("a"), running("INSERT INTO app (note) VALUES ('before'); " + sql));
  CHECK(answer(refused) == "work_forbidden");
  const auto swallowed = app.store.commit(lease, sent("a"), [&](Transaction& transaction) {
    try {
      database(transaction).exec("INSERT INTO app (note) VALUES ('before')");
      database(transaction).exec(sql);
    } catch (const SQLite::Exception&) {  // a work that looks away is refused all the same
    }
  });
  CHECK(answer(swallowed) == "work_forbidden");
  CHECK(answer(app.store.execute("s", sent("a"), running(sql))) == "work_forbidden");
  CHECK(news() == "-");
  CHECK(schema() == before);
  CHECK(app.raw.integer("SELECT count(*) FROM app") == 0);
  CHECK(app.raw.text("PRAGMA synchronous") == "2");

  const auto fine =
      app.store.commit(lease, sent("a"), running("INSERT INTO app (note) VALUES ('after')"));
  CHECK(answer(fine) == "ok");
  CHECK(app.raw.integer("SELECT count(*) FROM app") == 1);
  CHECK(verdict(app.store) == "UNANCHORED");
}

TEST_CASE("work may do with its own tables what it likes") {
  App app;
  const auto lease = app.store.acquire("r", by("ann")).value();
  const auto work = [&](Transaction& transaction) {
    CHECK(transaction.token() == lease.token());
    auto& db = database(transaction);
    SQLite::Statement insert(db, "INSERT INTO app (wallock_token, note) VALUES (?, 'a')");
    insert.bind(1, static_cast<std::int64_t>(transaction.token().value()));
    insert.exec();
    db.exec("UPDATE app SET wallock_token = wallock_token + 0 WHERE wallock_token > 0");
    db.exec("CREATE TABLE more (x); CREATE INDEX more_x ON more (x); INSERT INTO more VALUES (7)");
    db.exec("ALTER TABLE more ADD COLUMN y; ALTER TABLE more RENAME COLUMN x TO wallock_x");
    db.exec("DELETE FROM app WHERE id < 0; SELECT note FROM app_view; SELECT upper('x')");
    db.exec("CREATE TEMP TABLE scratch (x); DROP TABLE scratch");
    db.exec(
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5) "
        "INSERT INTO more SELECT i, i FROM n");
  };
  REQUIRE(answer(app.store.commit(lease, recorded("a"), work)) == "ok");
  CHECK(app.raw.integer("SELECT wallock_token FROM app") ==
        static_cast<std::int64_t>(lease.token().value()));
  CHECK(app.raw.integer("SELECT sum(wallock_x) FROM more") == 22);
}

TEST_CASE("the coordinator cannot be called from inside its own commit") {
  App app;
  const auto lease = app.store.acquire("r", by("ann")).value();
  std::string inside;
  const auto work = [&] {
    inside = answer(app.store.acquire("s")) + " " + answer(app.store.release(lease)) + " " +
             answer(app.store.commit(lease, recorded("b"))) + " " +
             answer(app.store.execute("s", recorded("b"))) + " " +
             answer(app.store.claim({.destination = "bank"})) + " " +
             answer(app.store.force_open("r", "x"));
  };
  CHECK(answer(app.store.commit(lease, recorded("a"), work)) == "ok");
  CHECK(inside ==
        "called_inside_work called_inside_work called_inside_work called_inside_work "
        "called_inside_work called_inside_work");
  CHECK(answer(app.store.acquire("s")) == "ok");
}

}  // namespace wallock::test
