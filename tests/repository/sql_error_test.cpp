// What SQLite's result codes become: the class of the error tells a caller what to do.
#include "sqlite/sql_error.hpp"

#include <sqlite3.h>

#include "repository_support.hpp"

namespace wallock::test {

TEST_CASE("SQLite's result codes become the errors whose class tells what to do") {
  struct Row {
    int result;
    Errc code;
  };
  const Row rows[] = {
      {SQLITE_BUSY, Errc::busy},
      {SQLITE_BUSY_SNAPSHOT, Errc::busy},
      {SQLITE_BUSY_RECOVERY, Errc::busy},
      {SQLITE_LOCKED_SHAREDCACHE, Errc::busy},
      {SQLITE_PROTOCOL, Errc::busy},
      {SQLITE_INTERRUPT, Errc::busy},
      {SQLITE_FULL, Errc::disk_full},
      {SQLITE_NOMEM, Errc::out_of_memory},
      {SQLITE_IOERR_NOMEM, Errc::out_of_memory},
      {SQLITE_IOERR, Errc::io_error},
      {SQLITE_IOERR_FSYNC, Errc::io_error},
      {SQLITE_READONLY, Errc::store_unavailable},
      {SQLITE_READONLY_DBMOVED, Errc::store_replaced},
      {SQLITE_CANTOPEN_ISDIR, Errc::store_unavailable},
      {SQLITE_PERM, Errc::store_unavailable},
      {SQLITE_NOTADB, Errc::not_a_store},
      {SQLITE_TOOBIG, Errc::too_large},
      {SQLITE_CONSTRAINT_TRIGGER, Errc::invariant_violated},
      {SQLITE_CONSTRAINT_FOREIGNKEY, Errc::foreign_key_refused},
      {SQLITE_MISUSE, Errc::invariant_violated},
      {SQLITE_RANGE, Errc::invariant_violated},
      {SQLITE_AUTH, Errc::work_forbidden},
      {SQLITE_CORRUPT_VTAB, Errc::store_corrupt},
      {SQLITE_ERROR, Errc::store_corrupt},
      {SQLITE_SCHEMA, Errc::store_corrupt},
  };
  for (const Row& row : rows) {
    CAPTURE(row.result);
    const Error error = sqlite::sql_error(row.result);
    CHECK(error.code() == row.code);
    CHECK(error.facts().native == row.result);
  }
}

}  // namespace wallock::test
