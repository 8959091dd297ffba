// The VFS that gathers a transaction's frames passes on all that it is not there for.
#include "sqlite/gathering_vfs.hpp"

#include <array>

#include "repository_support.hpp"

namespace wallock::test {
namespace {

sqlite3_vfs& own() { return *sqlite3_vfs_find(sqlite::gathering_vfs()); }
sqlite3_vfs& usual() { return *sqlite3_vfs_find(nullptr); }

}  // namespace

TEST_CASE("the gathering VFS is one beside the usual one, which stays the default") {
  REQUIRE(sqlite::gathering_vfs() != nullptr);
  CHECK(&own() != &usual());
  CHECK(own().mxPathname == usual().mxPathname);
}

TEST_CASE("the gathering VFS has the usual one's time, sleep, random bytes and errors") {
  sqlite3_int64 before = 0;
  sqlite3_int64 now = 0;
  sqlite3_int64 after = 0;
  REQUIRE(usual().xCurrentTimeInt64(&usual(), &before) == SQLITE_OK);
  REQUIRE(own().xCurrentTimeInt64(&own(), &now) == SQLITE_OK);
  REQUIRE(usual().xCurrentTimeInt64(&usual(), &after) == SQLITE_OK);
  CHECK(before <= now);
  CHECK(now <= after);
  double days = 0;  // float-ok: SQLite's own signature
  REQUIRE(own().xCurrentTime(&own(), &days) == SQLITE_OK);
  CHECK(static_cast<sqlite3_int64>(days) - now / 86'400'000 <= 1);
  CHECK(own().xSleep(&own(), 1) > 0);
  std::array<char, 64> bytes{};
  CHECK(own().xRandomness(&own(), 64, bytes.data()) > 0);
  CHECK(bytes != std::array<char, 64>{});
  CHECK(own().xGetLastError(&own(), 0, nullptr) == usual().xGetLastError(&usual(), 0, nullptr));
}

TEST_CASE("extensions are loaded by way of the gathering VFS as by the usual one") {
  CHECK(own().xDlOpen(&own(), "/nowhere/none.so") == nullptr);
  std::array<char, 200> why{};
  own().xDlError(&own(), 200, why.data());
  CHECK(why[0] != '\0');
  void* const library = own().xDlOpen(&own(), "libm.so.6");
  REQUIRE(library != nullptr);
  CHECK(own().xDlSym(&own(), library, "cos") != nullptr);
  CHECK(own().xDlSym(&own(), library, "wallock_is_not_in_there") == nullptr);
  own().xDlClose(&own(), library);
}

TEST_CASE("a database that is mapped into memory is mapped by way of the gathering VFS") {
  const TempStore at;
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open_v2(at.path().c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                          sqlite::gathering_vfs()) == SQLITE_OK);
  const auto run = [&](const char* sql) {
    return sqlite3_exec(db, sql, nullptr, nullptr, nullptr);
  };
  CHECK(run("PRAGMA mmap_size=1000000; CREATE TABLE app (note TEXT)") == SQLITE_OK);
  CHECK(run("INSERT INTO app SELECT hex(randomblob(2000)) FROM pragma_function_list LIMIT 20") ==
        SQLITE_OK);
  CHECK(run("SELECT sum(length(note)) FROM app") == SQLITE_OK);
  CHECK(sqlite3_close(db) == SQLITE_OK);
  CHECK(RawDatabase(at.path()).text("PRAGMA integrity_check") == "ok");
}

}  // namespace wallock::test
