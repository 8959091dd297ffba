// The writer's transactions: how one begins, commits and is undone, and what an error leaves
// behind.
#include <sqlite3.h>

#include <new>

#include "sqlite/sql_error.hpp"
#include "sqlite/work_runner.hpp"
#include "sqlite/writer.hpp"

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
// constraints that are checked so late (deferred foreign keys), and what work breaks of them is
// noticed right after it: what is left was broken by a write of the library's own.
Error commit_error(const Error& error) {
  const int result = error.facts().native;
  if (is_unknown(result)) return Error(Errc::outcome_unknown, ErrorFacts{.native = result});
  if (error.code() == Errc::invariant_violated) return work_error(result);
  return error;
}

}  // namespace

Status Writer::begin(bool flushed, Instant deadline) noexcept {
  try {
    // A hasher that failed once says so for good: the next transaction has another one.
    if (!broken_ && !session_->ledger.hasher().ok()) broken_ = true;
    if (broken_) {
      if (auto ok = reopen(deadline); !ok) return ok;
    }
    auto ok = begin_transaction(flushed, deadline);
    if (!ok) abandon(ok.error());
    return ok;
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory);
  }
}

Status Writer::begin_transaction(bool flushed, Instant deadline) {
  freed_.clear();
  flushes_ = flushed;
  flushed_ = false;
  Connection& connection = *session_->connection;
  connection.set_deadline(deadline);
  // Somebody kept the handle of a work and began one there.
  if (sqlite3_get_autocommit(connection.handle()) == 0) return fail(Errc::work_forbidden);
  if (auto ok = connection.set_flushing(flushed); !ok) return ok;
  if (auto ok = Query(connection.handle(), session_->begin).run(); !ok) return ok;
  if (auto ok = repair_log(); !ok) return ok;
  return session_->ledger.refresh(connection.handle());
}

// The write lock is held: nobody else writes to the log.
Status Writer::repair_log() noexcept {
  host::FlushLine* const line = shared_.flush_line;
  if (line != nullptr) line->settle();
  if (!is_log_suspect()) return {};
  if (!shared_.flusher->write_again()) {
    return fail(Error(Errc::io_error, ErrorFacts{.native = SQLITE_IOERR_FSYNC}));
  }
  if (line != nullptr) line->repaired();
  return {};
}

// Whoever has a line is told of every flush that failed, in whichever process.
bool Writer::is_log_suspect() const noexcept {
  const host::FlushLine* const line = shared_.flush_line;
  return line != nullptr ? line->is_broken() : shared_.flusher->is_suspect();
}

// A flush of this transaction's own failed. What had ridden with it is in no later flush's care:
// the next transaction writes the log again, whoever begins it.
void Writer::suspect_log() noexcept {
  if (shared_.flush_line != nullptr) {
    shared_.flush_line->broke();
  } else {
    shared_.flusher->suspect();
  }
}

// Nobody else could be told: an empty transaction writes it again at once.
void Writer::mend_log() noexcept {
  if (begin(false, batch_.deadline)) roll_back();
}

Status Writer::commit(bool durable) noexcept {
  sqlite3* const db = session_->connection->handle();
  if (!watch_.intact(db, clock_->now())) {
    roll_back();
    return fail(Errc::store_replaced);
  }
  host::FlushLine* const line = durable && shared_.flushes_apart ? shared_.flush_line : nullptr;
  const auto ticket = line != nullptr ? line->announce() : 0;
  const auto writes = checkpointer_.writes();
  const auto done = Query(db, session_->commit).run();
  if (done) {
    if (line != nullptr) line->written(ticket);
    flushed_ = flushes_ && checkpointer_.writes() != writes;
    session_->ledger.committed(db);
    call_waiters();
    return {};
  }
  const Error error = commit_error(done.error());
  if (error.code() == Errc::outcome_unknown && !shared_.flushes_apart) suspect_log();
  abandon(error);
  return fail(error);
}

// Before the flush, which the next holder's answer waits for as well: meanwhile he wakes up.
void Writer::call_waiters() noexcept {
  if (shared_.waiting == nullptr) return;
  for (const ResourceName& resource : freed_)
    shared_.waiting->call_first(resource.str());
}

// Changes of the schema are not counted: those that there are come from work.
bool Writer::has_written() const noexcept {
  return batch_.worked || sqlite3_total_changes64(session_->connection->handle()) != batch_.changes;
}

void Writer::checkpoint() noexcept {
  checkpointer_.after_commit(*session_);
  if (sqlite3_get_autocommit(session_->connection->handle()) == 0) broken_ = true;
}

void Writer::abandon(const Error& error) noexcept {
  roll_back();
  if (breaks_connection(error)) broken_ = true;
}

void Writer::roll_back() noexcept {
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

}  // namespace wallock::sqlite
