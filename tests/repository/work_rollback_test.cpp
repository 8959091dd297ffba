// The application's work and its commit land together or not at all.
#include <optional>
#include <stdexcept>

#include "repository_support.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {
namespace {

struct App {
  TempStore at;
  Coordinator store = at.open();
  RawDatabase raw = at.raw();
  App() { raw.must("CREATE TABLE app (id INTEGER PRIMARY KEY, note TEXT UNIQUE)"); }
  std::int64_t rows() { return raw.integer("SELECT count(*) FROM app"); }
};

void insert(Transaction& transaction, const std::string& note) {
  database(transaction).exec("INSERT INTO app (note) VALUES ('" + note + "')");
}

}  // namespace

TEST_CASE("work that fails takes everything with it, the token included") {
  App app;
  const auto lease = app.store.acquire("r", by("ann")).value();
  News news(app.store);
  const Work works[] = {
      [](Transaction& t) {
        insert(t, "x");
        throw std::runtime_error("secret");
      },
      [](Transaction& t) {
        insert(t, "x");
        throw 7;
      },
      [](Transaction& t) {
        insert(t, "x");
        static_cast<void>(database(t).execAndGet("SELECT 1 WHERE 0"));  // no code of SQLite's
      },
  };
  for (const Work& work : works) {
    const auto failed = app.store.commit(lease, sent("a"), work, {.after = AfterCommit::keep});
    CHECK(answer(failed) == "work_failed");
    CHECK(failed.error().facts() == ErrorFacts{});
    CHECK(answer(app.store.execute("s", sent("a"), work)) == "work_failed");
  }
  const auto starving = app.store.commit(lease, sent("a"), [](Transaction& t) {
    insert(t, "x");
    throw std::bad_alloc();
  });
  CHECK(answer(starving) == "out_of_memory");
  const auto native = [&](const Work& work) {
    const auto failed = app.store.commit(lease, sent("a"), work);
    CHECK(answer(failed) == "work_failed");
    return failed.error().facts().native;
  };
  CHECK(native([](Transaction& t) {
          insert(t, "x");
          insert(t, "x");
        }) == SQLITE_CONSTRAINT_UNIQUE);
  CHECK(native([](Transaction& t) { database(t).exec("SELECT nothing FROM nowhere"); }) ==
        SQLITE_ERROR);
  const auto coded = app.store.commit(lease, sent("a"), [](Transaction& t) -> Status {
    insert(t, "x");
    return fail(work_error(4711));
  });
  CHECK(answer(coded) == "work_failed");
  CHECK(coded.error().facts().native == 4711);
  CHECK(app.rows() == 0);
  CHECK(news() == "-");
  CHECK(app.store.health().value().deliveries == 0);
  CHECK(answer(app.store.commit(lease, sent("a"), [](Transaction& t) { insert(t, "x"); })) == "ok");
  CHECK(app.rows() == 1);
}

TEST_CASE("work whose own statement ended the transaction lands nothing of what follows") {
  App app;
  app.raw.must("INSERT INTO app (note) VALUES ('there')");
  const auto lease = app.store.acquire("r", by("ann")).value();
  News news(app.store);
  const auto reckless = [](Transaction& transaction) {
    auto& db = database(transaction);
    insert(transaction, "before");
    for (const char* sql : {"INSERT OR ROLLBACK INTO app (note) VALUES ('there')",
                            "INSERT INTO app (note) VALUES ('after')",
                            "INSERT INTO app (note) VALUES ('after too')"}) {
      try {
        db.exec(sql);
      } catch (const SQLite::Exception&) {  // it looks away
      }
    }
  };
  CHECK(answer(app.store.commit(lease, sent("a"), reckless)) == "work_forbidden");
  CHECK(answer(app.store.execute("s", sent("a"), reckless)) == "work_forbidden");
  CHECK(app.raw.text("SELECT group_concat(note) FROM app") == "there");
  const auto honest = [](Transaction& transaction) {
    database(transaction).exec("INSERT OR ROLLBACK INTO app (note) VALUES ('there')");
  };
  CHECK(answer(app.store.commit(lease, sent("a"), honest)) == "work_failed");
  CHECK(news() == "-");
  CHECK(answer(app.store.commit(lease, sent("a"))) == "ok");
}

TEST_CASE("a constraint that only COMMIT checks is the work's failure") {
  App app;
  app.raw.must("CREATE TABLE child (parent REFERENCES app (id) DEFERRABLE INITIALLY DEFERRED)");
  const auto lease = app.store.acquire("r", by("ann")).value();
  News news(app.store);
  const auto orphan = [](Transaction& transaction) {
    database(transaction).exec("INSERT INTO child VALUES (99)");
  };
  const auto failed = app.store.commit(lease, sent("a"), orphan);
  CHECK(answer(failed) == "work_failed");
  CHECK(answer(app.store.execute("s", sent("a"), orphan)) == "work_failed");
  CHECK(app.raw.integer("SELECT count(*) FROM child") == 0);
  CHECK(news() == "-");
  const auto adopted = [](Transaction& transaction) {
    database(transaction).exec("INSERT INTO child VALUES (1)");
    insert(transaction, "parent");
  };
  CHECK(answer(app.store.commit(lease, sent("a"), adopted)) == "ok");
}

TEST_CASE("a cursor that work leaves open blocks nobody") {
  App app;
  app.raw.must("INSERT INTO app (note) VALUES ('a'), ('b'), ('c')");
  auto lease = app.store.acquire("r", by("ann")).value();
  std::optional<SQLite::Statement> kept;
  for (int i = 0; i < 3; ++i) {
    const auto work = [&](Transaction& transaction) {
      if (!kept) kept.emplace(database(transaction), "SELECT note FROM app ORDER BY id");
      if (!kept->executeStep()) throw std::runtime_error("no row");
      if (kept->getColumn(0).getString() != "a") throw std::runtime_error("not from the start");
    };
    const auto done = app.store.commit(lease, recorded("a" + std::to_string(i)), work,
                                       {.after = AfterCommit::keep});
    REQUIRE(answer(done) == "ok");
    lease = *done->lease();
    app.raw.must("INSERT INTO app (note) VALUES ('d" + std::to_string(i) + "')");
  }
  kept.reset();
}

TEST_CASE("a statement that an earlier work prepared is no way around the confinement") {
  App app;
  const auto lease = app.store.acquire("r", by("ann")).value();
  std::optional<SQLite::Statement> kept;
  CHECK(answer(app.store.commit(lease, recorded("a"), [&](Transaction& transaction) {
          kept.emplace(database(transaction), "SELECT max_fence FROM wallock_resources");
        })) == "work_forbidden");
  CHECK_FALSE(kept);
  REQUIRE(answer(app.store.commit(lease, recorded("a"),
                                  [&](Transaction& transaction) {
                                    kept.emplace(database(transaction),
                                                 "INSERT INTO app (note) VALUES (?)");
                                    kept->bind(1, "first");
                                    kept->exec();
                                  },
                                  {.after = AfterCommit::release})) == "ok");
  REQUIRE(answer(app.store.execute("r", recorded("b"), [&] {
            kept->reset();
            kept->bind(1, "second");
            kept->exec();
          })) == "ok");
  CHECK(app.raw.text("SELECT group_concat(note) FROM app") == "first,second");
  kept.reset();
}

}  // namespace wallock::test
