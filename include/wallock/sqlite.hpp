// Opt-in: the SQLite database behind a Transaction, for the application's own SQL.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include "wallock/transaction.hpp"

namespace wallock {

// The connection that the commit runs on. Use it for ordinary statements on the application's own
// tables; statements made from it must be destroyed before the work returns. SQLite::Exception
// thrown by it may be let through: the commit then rolls back and answers work_failed.
[[nodiscard]] inline SQLite::Database& database(Transaction& transaction) {
  return *static_cast<SQLite::Database*>(transaction.native_handle());
}

}  // namespace wallock
