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
      "PRAGMA synchronous = OFF", "PRAGMA page_size = 512", "PRAGMA data_version(1)",
      "PRAGMA user_version", "PRAGMA wal_checkpoint", "SELECT * FROM pragma_table_info('app')",
      "SELECT * FROM wallock_resources", "SELECT 1 FROM WALLOCK_META",
      "SELECT count(*) FROM Wallock_Lease_Queue_Events",
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

TEST_CASE("no other opening of the store can be called from inside its work either") {
  App app;
  auto other = app.at.open();
  const auto lease = app.store.acquire("r", by("ann")).value();
  std::filesystem::create_symlink(app.at.path(), app.at.folder.file("link.db"));
  std::string inside;
  const auto work = [&] {
    inside = answer(other.acquire("s")) + " " +
             answer(Coordinator::open(app.at.path(), app.at.options())) + " " +
             answer(Coordinator::open(app.at.folder.file("link.db"), app.at.options()));
  };
  CHECK(answer(app.store.commit(lease, recorded("a"), work)) == "ok");
  CHECK(inside == "called_inside_work called_inside_work called_inside_work");
  CHECK(answer(other.acquire("s")) == "ok");
}

TEST_CASE("reading is allowed from inside work, and so is another store with work of its own") {
  App app;
  const TempStore elsewhere;
  auto second = elsewhere.open();
  const auto lease = app.store.acquire("r", by("ann")).value();
  std::string inside;
  const auto work = [&](Transaction& transaction) {
    database(transaction).exec("INSERT INTO app (note) VALUES ('x')");
    CHECK(app.store.root().value().size == app.store.audit().value().size());
    CHECK(app.store.leases().value().size() == 1);
    CHECK(effect(app.store.breaker("r")) != "");
    CHECK(app.store.health());
    CHECK(verdict(app.store) == "UNANCHORED");
    const auto nested = [&] { inside = answer(app.store.acquire("t")); };
    CHECK(answer(second.execute("r", recorded("a"), nested)) == "ok");
    inside += " " + answer(app.store.acquire("t"));
    CHECK(answer(second.acquire("t")) == "ok");
  };
  CHECK(answer(app.store.commit(lease, recorded("a"), work)) == "ok");
  CHECK(inside == "called_inside_work called_inside_work");
}

TEST_CASE("a statement that outlives its Coordinator writes nothing and may end at any time") {
  App app;
  const auto lease = app.store.acquire("r", by("ann")).value();
  const auto prepared = [&](const char* sql) {
    std::unique_ptr<SQLite::Statement> kept;
    const auto work = [&](Transaction& transaction) {
      kept = std::make_unique<SQLite::Statement>(database(transaction), sql);
      kept->executeStep();
    };
    CHECK(answer(app.store.execute("s", recorded(sql), work)) == "ok");
    return kept;
  };
  const auto writing = prepared("INSERT INTO app (note) VALUES ('kept')");
  const auto reading = prepared("SELECT note FROM app");
  auto ended = prepared("DELETE FROM app");
  CHECK(answer(app.store.commit(lease, recorded("a"), [&] { ended.reset(); })) == "ok");
  {
    const auto closed = std::move(app.store);
  }
  for (const auto* kept : {&writing, &reading}) {
    (*kept)->tryReset();
    CHECK((*kept)->tryExecuteStep() == SQLITE_MISUSE);
  }
  CHECK(app.raw.integer("SELECT count(*) FROM app") == 0);
  auto again = app.at.open();
  CHECK(answer(again.acquire("r", by("ben"))) == "lease_held");
}

TEST_CASE("a store closes after work with virtual tables, which keep statements of their own") {
  App app;
  if (app.raw.run("CREATE VIRTUAL TABLE words USING fts5(word)") != "ok") return;  // not in SQLite
  const auto lease = app.store.acquire("r", by("ann")).value();
  const auto work = [](Transaction& transaction) {
    auto& db = database(transaction);
    db.exec("INSERT INTO words VALUES ('fence')");
    CHECK(db.execAndGet("SELECT count(*) FROM words('fence')").getInt() == 1);
  };
  CHECK(answer(app.store.commit(lease, recorded("a"), work)) == "ok");
  {
    const auto closed = std::move(app.store);
  }
  CHECK(answer(app.at.open().acquire("s")) == "ok");
}

}  // namespace wallock::test
