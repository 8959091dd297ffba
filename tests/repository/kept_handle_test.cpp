// What is done to the connection through a handle that a work kept, and by VACUUM within one.
#include "repository_support.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {
namespace {

struct App {
  TempStore at;
  Coordinator store = at.open();
  RawDatabase raw = at.raw();
  SQLite::Database* kept = nullptr;
  App() {
    raw.must("CREATE TABLE app (note TEXT)");
    const auto keep = [this](Transaction& transaction) { kept = &database(transaction); };
    REQUIRE(answer(store.execute("first", recorded("first"), keep)) == "ok");
  }
};

}  // namespace

TEST_CASE("a transaction begun on a handle that a work kept is undone, and told as forbidden") {
  const std::string begun = GENERATE(as<std::string>(), "BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT s");
  CAPTURE(begun);
  App app;
  News news(app.store);
  app.kept->exec(begun);
  app.kept->exec("INSERT INTO app VALUES ('outside of any commit')");
  const auto refused = app.store.execute("r", sent("a"));
  CHECK(answer(refused) == "work_forbidden");
  CHECK(refused.error().error_class() == ErrorClass::deterministic);
  CHECK(news() == "-");
  CHECK(answer(app.store.execute("r", sent("a"))) == "ok");  // told once
  CHECK(app.raw.integer("SELECT count(*) FROM app") == 0);
  CHECK(verdict(app.store) == "UNANCHORED");
}

TEST_CASE("work that takes the confinement away and exchanges the transaction is forbidden work") {
  App app;
  News news(app.store);
  const std::string begun = GENERATE(as<std::string>(), "BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT s");
  CAPTURE(begun);
  const auto work = [&](Transaction& transaction) {
    auto& db = database(transaction);
    sqlite3_set_authorizer(db.getHandle(), nullptr, nullptr);
    db.exec("ROLLBACK");
    db.exec(begun);
    db.exec("INSERT INTO app VALUES ('in a transaction of its own')");
  };
  CHECK(answer(app.store.execute("r", sent("a"), work)) == "work_forbidden");
  CHECK(news() == "-");
  CHECK(app.raw.integer("SELECT count(*) FROM app") == 0);
  CHECK(answer(app.store.execute("r", sent("a"))) == "ok");
  CHECK(verdict(app.store) == "UNANCHORED");
}

TEST_CASE("VACUUM within work is forbidden work, and changes nothing") {
  App app;
  News news(app.store);
  const std::string sql =
      GENERATE(as<std::string>(), "VACUUM", "VACUUM main", "VACUUM INTO 'copy.db'");
  const auto work = [&](Transaction& transaction) {
    database(transaction).exec("INSERT INTO app VALUES ('before')");
    database(transaction).exec(sql);
  };
  CHECK(answer(app.store.execute("r", sent("a"), work)) == "work_forbidden");
  CHECK(news() == "-");
  CHECK(app.raw.integer("SELECT count(*) FROM app") == 0);
  CHECK(answer(app.store.execute("r", sent("a"), [](Transaction& transaction) {
          database(transaction).exec("no such SQL");
        })) == "work_failed");
}

}  // namespace wallock::test
