#include "sqlite/work_policy.hpp"

#include <sqlite3.h>

namespace wallock::sqlite {
namespace {

// Names compare without case in SQLite, and keep the case they were written in.
bool is_ours(const char* name) noexcept {
  return name != nullptr && sqlite3_strnicmp(name, "wallock_", 8) == 0;
}

// What full-text and spatial tables ask of their database.
bool is_harmless_question(const char* pragma) noexcept {
  return sqlite3_stricmp(pragma, "data_version") == 0 || sqlite3_stricmp(pragma, "page_size") == 0;
}

}  // namespace

bool work_may(int action, const char* first, const char* second, const char* database) noexcept {
  switch (action) {
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
      return false;
    case SQLITE_PRAGMA:  // first: its name, second: what it is to be set to
      return second == nullptr && is_harmless_question(first);
    case SQLITE_FUNCTION:  // second: the function's name
      return second == nullptr || (sqlite3_stricmp(second, "load_extension") != 0 &&
                                   // Part of ALTER TABLE .. RENAME TO, which does not tell the new
                                   // name: a table could become one of ours, or hide one.
                                   sqlite3_stricmp(second, "sqlite_rename_table") != 0);
    case SQLITE_ALTER_TABLE:  // first: the database, second: the table
      return !is_ours(second);
    case SQLITE_READ:
    case SQLITE_UPDATE:  // second: the column, which the application may call as it likes
      return !is_ours(first);
    default:
      // Everywhere else the names that matter stand in the first two arguments: the table and its
      // column, or the new object and the table it belongs to.
      return !is_ours(first) && !is_ours(second) && !is_ours(database);
  }
}

}  // namespace wallock::sqlite
