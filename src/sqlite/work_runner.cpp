#include "sqlite/work_runner.hpp"

#include <SQLiteCpp/Exception.h>
#include <sqlite3.h>

#include <new>
#include <optional>
#include <string_view>

#include "sqlite/sql_error.hpp"

namespace wallock::sqlite {
namespace {

thread_local const WorkScope* innermost = nullptr;

class WorkTransaction final : public Transaction {
 public:
  WorkTransaction(FencingToken token, SQLite::Database& database) noexcept
      : Transaction(token, &database) {}
};

// What work that let SQLite's exception through failed of: the store, or its own SQL.
Error work_exception(const SQLite::Exception& exception) {
  // Exceptions of SQLiteCpp's own, about a missing row or a wrong column, have no code of SQLite's.
  const int result = exception.getExtendedErrorCode();
  switch (result & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_CORRUPT:
      return sql_error(result);
    case SQLITE_ERROR:
      // Refused by SQLite itself, before the authorizer is asked.
      if (std::string_view(exception.what()).starts_with("cannot VACUUM")) {
        return Error(Errc::work_forbidden);
      }
      return work_error(result);
    default:
      return work_error(result > 0 ? result : 0);
  }
}

std::optional<Error> run(const Work& work, Transaction& transaction) noexcept {
  try {
    const Status done = work(transaction);
    if (!done) return work_error(done.error().facts().native);
    return std::nullopt;
  } catch (const SQLite::Exception& exception) {
    return work_exception(exception);
  } catch (const std::bad_alloc&) {
    return Error(Errc::out_of_memory);
  } catch (...) {
    // What it says may hold the application's data: only that it failed goes on (INV-09).
    return Error(Errc::work_failed);
  }
}

// Cursors that the application left open would pin this snapshot and block the next transaction.
void reset_open_statements(sqlite3* db) noexcept {
  for (sqlite3_stmt* s = sqlite3_next_stmt(db, nullptr); s != nullptr;
       s = sqlite3_next_stmt(db, s)) {
    if (sqlite3_stmt_busy(s) != 0) sqlite3_reset(s);
  }
}

// Deferred foreign keys are checked when the transaction commits; there it may be shared, and the
// work whose rows break them must be the one that fails.
Status check_foreign_keys(sqlite3* db) noexcept {
  int broken = 0;
  int highest = 0;
  sqlite3_db_status(db, SQLITE_DBSTATUS_DEFERRED_FKS, &broken, &highest, 0);
  if (broken != 0) return fail(work_error(SQLITE_CONSTRAINT_FOREIGNKEY));
  return {};
}

}  // namespace

WorkScope::WorkScope(const std::string& path) noexcept : path_(path), outer_(innermost) {
  innermost = this;
}

WorkScope::~WorkScope() { innermost = outer_; }

bool WorkScope::is_inside(const std::string& path) noexcept {
  for (const WorkScope* scope = innermost; scope != nullptr; scope = scope->outer_) {
    if (scope->path_ == path) return true;
  }
  return false;
}

Status run_confined(Connection& connection, FencingToken token, const Work& work) noexcept {
  sqlite3* const db = connection.handle();
  WorkTransaction inside(token, connection.database());
  connection.confine(true);
  connection.allow_commit(false);
  static_cast<void>(connection.take_rollback());
  const auto failure = run(work, inside);
  reset_open_statements(db);
  connection.allow_commit(true);
  connection.confine(false);
  const bool refused = connection.take_refusal();
  // Also if it began another one after it.
  const bool ended = connection.take_rollback() || sqlite3_get_autocommit(db) != 0;
  if (refused || (!failure && ended)) return fail(Errc::work_forbidden);
  if (failure) return fail(*failure);
  return check_foreign_keys(db);
}

}  // namespace wallock::sqlite
