#include "sqlite/writer.hpp"

#include <SQLiteCpp/Exception.h>
#include <sqlite3.h>

#include <optional>

#include "sqlite/sql_error.hpp"

namespace wallock::sqlite {
namespace {

// After these a connection may have lost its view of the file: it is not used again.
bool breaks_connection(const Error& error) {
  return error.code() == Errc::io_error || error.code() == Errc::outcome_unknown ||
         error.code() == Errc::store_corrupt || error.code() == Errc::store_unavailable;
}

// A COMMIT that failed while its frames may be in the file: nobody can say now whether a crash
// would bring it back. ENOSPC and failed writes leave no complete commit behind.
bool is_unknown(int result) {
  return (result & 0xff) == SQLITE_IOERR && result != SQLITE_IOERR_WRITE &&
         result != SQLITE_IOERR_NOMEM;
}

// What a COMMIT that answered `error` means to the caller. Only the application's tables have
// constraints that are checked so late (deferred foreign keys).
Error commit_error(const Error& error) {
  const int result = error.facts().native;
  if (is_unknown(result)) return Error(Errc::outcome_unknown, ErrorFacts{.native = result});
  if ((result & 0xff) == SQLITE_CONSTRAINT) return work_error(result);
  return error;
}

// What work that let SQLite's exception through failed of: the store, or its own SQL.
Error work_exception(const SQLite::Exception& exception) {
  const int result = exception.getExtendedErrorCode();
  switch (result & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_CORRUPT:
      return sql_error(result);
    default:
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

class WorkTransaction final : public Transaction {
 public:
  WorkTransaction(FencingToken token, SQLite::Database& database) noexcept
      : Transaction(token, &database) {}
};

}  // namespace

Writer::Writer(std::string path, std::unique_ptr<Session> session, Durability durability,
               std::shared_ptr<const Clock> clock)
    : path_(std::move(path)),
      durability_(durability),
      clock_(std::move(clock)),
      session_(std::move(session)),
      checkpointer_(path_, *clock_),
      watch_(path_) {
  checkpointer_.watch(*session_);
}

Writer::Turn::Turn(Writer& writer, Instant deadline) : writer_(writer) {
  if (writer.process_.forked()) {
    status_ = fail(Errc::forked_handle);
  } else if (writer.working_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
    status_ = fail(Errc::called_inside_work);
  } else if (!writer.turn_.try_lock() &&
             !writer.turn_.try_lock_for(saturating_sub(deadline, writer.clock_->now()))) {
    status_ = fail(Errc::busy);
  }
}

bool Writer::every_commit_flushes(Flush flush) const noexcept {
  switch (durability_) {
    case Durability::every_answer:
      return true;
    case Durability::commits:
      return flush == Flush::durable;
    case Durability::relaxed:
      return false;
  }
  return true;
}

Status Writer::begin(Flush flush, Instant deadline) {
  if (broken_) {
    if (auto ok = reopen(deadline); !ok) return ok;
  }
  Connection& connection = *session_->connection;
  connection.set_deadline(deadline);
  if (auto ok = connection.set_flushing(every_commit_flushes(flush)); !ok) return ok;
  if (auto ok = Query(connection.handle(), session_->begin).run(); !ok) {
    abandon(ok.error());
    return ok;
  }
  if (auto ok = session_->ledger.refresh(connection.handle()); !ok) {
    abandon(ok.error());
    return ok;
  }
  return {};
}

Status Writer::commit(Instant now) {
  sqlite3* const db = session_->connection->handle();
  if (!watch_.intact(db, now)) {
    roll_back();
    return fail(Errc::store_replaced);
  }
  const auto done = Query(db, session_->commit).run();
  if (done) {
    session_->ledger.committed(db);
    checkpointer_.after_commit(*session_);
    return {};
  }
  const Error error = commit_error(done.error());
  abandon(error);
  return fail(error);
}

void Writer::abandon(const Error& error) {
  roll_back();
  if (breaks_connection(error)) broken_ = true;
}

void Writer::roll_back() {
  sqlite3* const db = session_->connection->handle();
  // Some errors end the transaction by themselves: ask, never assume.
  if (sqlite3_get_autocommit(db) == 0) {
    if (auto undone = Query(db, session_->rollback).run(); !undone) broken_ = true;
  }
  session_->ledger.rolled_back();
}

Status Writer::reopen(Instant deadline) {
  auto hasher = ledger::Sha256::create();
  if (!hasher) return fail(hasher.error());
  auto connection = Connection::open(path_, Access::write, *clock_, deadline);
  if (!connection) return fail(connection.error());
  session_ = std::make_unique<Session>(*std::move(connection), *std::move(hasher));
  checkpointer_.watch(*session_);
  broken_ = false;
  return {};
}

Status Writer::run_work(WriteTransaction& transaction, FencingToken token, const Work& work) {
  if (!work) return {};
  Connection& connection = *session_->connection;
  WorkTransaction inside(token, connection.database());
  working_ = std::this_thread::get_id();
  connection.confine(true);
  connection.allow_commit(false);
  std::optional<Error> failure;
  try {
    const Status done = work(inside);
    if (!done) failure = work_error(done.error().facts().native);
  } catch (const SQLite::Exception& exception) {
    failure = work_exception(exception);
  } catch (...) {
    // What it says may hold the application's data: only that it failed goes on (INV-09).
    failure = Error(Errc::work_failed);
  }
  reset_open_statements(connection.handle());
  connection.allow_commit(true);
  connection.confine(false);
  working_ = std::thread::id();
  const bool refused = connection.take_refusal();
  const bool ended = sqlite3_get_autocommit(transaction.db()) != 0;
  if (refused || (!failure && ended)) return fail(Errc::work_forbidden);
  if (failure) return fail(*failure);
  return {};
}

}  // namespace wallock::sqlite
