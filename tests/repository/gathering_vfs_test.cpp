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

}  // namespace wallock::test
