#include "sqlite/sql_error.hpp"

#include <sqlite3.h>

namespace wallock::sqlite {
namespace {

Errc code_of(int result_code) {
  if (result_code == SQLITE_READONLY_DBMOVED) return Errc::store_replaced;
  if (result_code == SQLITE_IOERR_NOMEM) return Errc::out_of_memory;
  // The library's tables have no foreign keys: it is one that the application put on them.
  if (result_code == SQLITE_CONSTRAINT_FOREIGNKEY) return Errc::foreign_key_refused;
  switch (result_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_INTERRUPT:
      return Errc::busy;
    case SQLITE_FULL:
      return Errc::disk_full;
    case SQLITE_NOMEM:
      return Errc::out_of_memory;
    case SQLITE_IOERR:
      return Errc::io_error;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return Errc::store_unavailable;
    case SQLITE_NOTADB:
      return Errc::not_a_store;
    case SQLITE_TOOBIG:
      return Errc::too_large;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
      return Errc::invariant_violated;
    case SQLITE_AUTH:
      return Errc::work_forbidden;
    default:  // CORRUPT; or ERROR and SCHEMA: a table of ours is gone or is not ours
      return Errc::store_corrupt;
  }
}

}  // namespace

Error sql_error(int result_code) {
  return Error(code_of(result_code), ErrorFacts{.native = result_code});
}

}  // namespace wallock::sqlite
