// The settings that the library's own connections must have, read back from SQLite.
#include "repository_support.hpp"
#include "sqlite/connection.hpp"
#include "sqlite/statement.hpp"

namespace wallock::test {
namespace {

std::int64_t setting(sqlite::Connection& connection, const std::string& name) {
  const std::string sql = "PRAGMA " + name;
  sqlite::Statement statement(sql);
  sqlite::Query query(connection.handle(), statement);
  REQUIRE(query.step().value());
  return query.integer(0);
}

int option(sqlite::Connection& connection, int which) {
  int value = -1;
  sqlite3_db_config(connection.handle(), which, -1, &value);
  return value;
}

}  // namespace

TEST_CASE("every connection of the library has the settings that safety depends on") {
  TempStore at;
  {
    auto store = at.open();
  }
  const auto access = GENERATE(sqlite::Access::read, sqlite::Access::write, sqlite::Access::create);
  auto opened = sqlite::Connection::open(at.path(), access, *at.clock, at.clock->now());
  REQUIRE(opened);
  sqlite::Connection& connection = **opened;
  CHECK(setting(connection, "wal_autocheckpoint") == 0);
  CHECK(setting(connection, "recursive_triggers") == 1);
  CHECK(setting(connection, "foreign_keys") == 1);
  CHECK(setting(connection, "trusted_schema") == 0);
  CHECK(setting(connection, "cell_size_check") == 1);
  CHECK(setting(connection, "temp_store") == 2);
  CHECK(setting(connection, "journal_size_limit") == 64 << 20);
  CHECK(option(connection, SQLITE_DBCONFIG_DEFENSIVE) == 1);
  CHECK(option(connection, SQLITE_DBCONFIG_DQS_DML) == 0);
  CHECK(option(connection, SQLITE_DBCONFIG_DQS_DDL) == 0);
  CHECK(option(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER) == 1);
  if (access == sqlite::Access::read) return;
  CHECK(setting(connection, "synchronous") == 2);
  CHECK(connection.set_flushing(false));
  CHECK(setting(connection, "synchronous") == 1);
  CHECK(connection.set_flushing(true));
  CHECK(setting(connection, "synchronous") == 2);
}

TEST_CASE("a connection that only reads cannot write, and one that writes makes no file") {
  TempStore at;
  CHECK(answer(sqlite::Connection::open(at.path(), sqlite::Access::write, *at.clock,
                                        at.clock->now())) == "store_unavailable");
  CHECK_FALSE(std::filesystem::exists(at.path()));
  {
    auto store = at.open();
  }
  auto reader =
      sqlite::Connection::open(at.path(), sqlite::Access::read, *at.clock, at.clock->now());
  REQUIRE(reader);
  CHECK(answer((*reader)->execute("CREATE TABLE x (y)")) == "store_unavailable");
}

TEST_CASE("a file that cannot be put into WAL mode is refused") {
  TempStore at;
  auto memory =
      sqlite::Connection::open(":memory:", sqlite::Access::create, *at.clock, at.clock->now());
  REQUIRE(memory);
  CHECK(answer((*memory)->use_wal()) == "setting_refused");
}

}  // namespace wallock::test
