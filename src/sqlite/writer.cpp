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

// Deferred foreign keys are checked when the transaction commits; here it may be shared, and the
// work whose rows break them must be the one that fails.
Status check_foreign_keys(sqlite3* db) noexcept {
  int broken = 0;
  int highest = 0;
  sqlite3_db_status(db, SQLITE_DBSTATUS_DEFERRED_FKS, &broken, &highest, 0);
  if (broken != 0) return fail(work_error(SQLITE_CONSTRAINT_FOREIGNKEY));
  return {};
}

class WorkTransaction final : public Transaction {
 public:
  WorkTransaction(FencingToken token, SQLite::Database& database) noexcept
      : Transaction(token, &database) {}
};

}  // namespace

Writer::Writer(std::string path, std::unique_ptr<Session> session, Durability durability,
               std::shared_ptr<const Clock> clock, host::Turnstile* turnstile)
    : path_(std::move(path)),
      durability_(durability),
      clock_(std::move(clock)),
      turnstile_(turnstile),
      queue_(*clock_),
      session_(std::move(session)),
      checkpointer_(path_, *clock_),
      watch_(path_) {
  checkpointer_.watch(*session_);
}

// Half of the time at most: whatever holds the turnstile up, the write lock is still asked for.
void Writer::Turn::enter(const Clock& clock, Instant deadline) noexcept {
  if (turnstile_ == nullptr || taken_) return;
  taken_ = turnstile_->enter(Duration::zero()) ||
           turnstile_->enter(saturating_sub(deadline, clock.now()) / 2);
}

void Writer::Turn::leave() noexcept {
  if (taken_) turnstile_->leave();
  taken_ = false;
}

bool Writer::is_flushed(Flush flush) const noexcept {
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

Status Writer::check_caller() const noexcept {
  if (process_.forked()) return fail(Errc::forked_handle);
  if (working_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
    return fail(Errc::called_inside_work);
  }
  return {};
}

Status Writer::take_part(const std::shared_ptr<Job>& job, Instant deadline) noexcept {
  Turn turn(turnstile_);
  queue_.enter(job);
  for (;;) {
    switch (queue_.await(*job, deadline)) {
      case JobQueue::Call::lead:
        lead(job, deadline, turn);
        break;
      case JobQueue::Call::carry_on:
        if (run_in_batch(job)) go_on();
        break;
      case JobQueue::Call::done:
        return {};
      case JobQueue::Call::too_late:
        return fail(Errc::busy);
      case JobQueue::Call::leave:
        return fail(Errc::outcome_unknown);
    }
  }
}

void Writer::lead(const std::shared_ptr<Job>& job, Instant deadline, Turn& turn) noexcept {
  turn.enter(*clock_, deadline);
  const bool flushed =
      is_flushed(job->demands().flush) || (is_flushed(Flush::durable) && queue_.wants_flush());
  if (const auto ok = begin(flushed, deadline); !ok) {
    job->refuse(ok.error());
    queue_.finish(*job);
    turn.leave();
    queue_.hand_over();
    return;
  }
  batch_ = Batch{.takes_all = flushed || !is_flushed(Flush::durable), .deadline = deadline};
  if (run_in_batch(job)) go_on();
}

void Writer::go_on() noexcept {
  // Enough to make the flush cheap; nobody waits long for those who came after it.
  constexpr std::size_t most_jobs = 256;
  while (batch_.jobs.size() < most_jobs) {
    auto job = queue_.take(batch_.takes_all);
    if (!job) break;
    if (job->demands().has_work && !job->is_own()) return;  // its owner leads now
    if (!run_in_batch(std::move(job))) return;
  }
  end_batch();
}

bool Writer::run_in_batch(std::shared_ptr<Job> job) noexcept {
  // What others wrote must outlive this job's failure, if they could not be run again.
  const bool has_work = job->demands().has_work;
  const bool guarded = batch_.succeeded && (batch_.worked || has_work);
  batch_.worked = batch_.worked || has_work;
  switch (run_job(*job, guarded)) {
    case Ran::succeeded:
      batch_.succeeded = true;
      [[fallthrough]];
    case Ran::refused:
      queue_.keep(batch_.jobs, std::move(job));
      return true;
    case Ran::broke:
      break;
  }
  undo_batch(std::move(job));
  return false;
}

// Whether a failed job wrote is asked of SQLite, not of the job: a write that was forgotten here
// would be committed with the others.
Writer::Ran Writer::run_job(Job& job, bool guarded) noexcept {
  sqlite3* const db = session_->connection->handle();
  std::optional<LedgerStore::Mark> mark;
  if (guarded) {
    if (!Query(db, session_->savepoint).run()) return Ran::broke;
    mark = session_->ledger.mark();
  }
  const auto changes = sqlite3_total_changes64(db);
  WriteTransaction transaction(*session_, clock_->now(), clock_->wall_now());
  const bool succeeded = job.execute(transaction);
  if (sqlite3_get_autocommit(db) != 0) return Ran::broke;
  if (succeeded) {
    if (guarded && !Query(db, session_->release).run()) return Ran::broke;
    return Ran::succeeded;
  }
  if (guarded) return undo_job(*mark) ? Ran::refused : Ran::broke;
  const bool wrote = transaction.has_worked() || sqlite3_total_changes64(db) != changes;
  return wrote ? Ran::broke : Ran::refused;
}

bool Writer::undo_job(const LedgerStore::Mark& mark) noexcept {
  sqlite3* const db = session_->connection->handle();
  session_->ledger.go_back(mark);
  return Query(db, session_->rollback_to).run() && Query(db, session_->release).run();
}

void Writer::answer_all(const Status& status) noexcept {
  while (const auto job = queue_.take_again(batch_.jobs)) {
    if (!status) job->refuse(status.error());
    queue_.finish(*job);
  }
}

void Writer::end_batch() noexcept {
  Status done;
  if (batch_.succeeded) {
    done = commit();
    operations_.fetch_add(batch_.jobs.size(), std::memory_order_relaxed);
    transactions_.fetch_add(1, std::memory_order_relaxed);
  } else {
    roll_back();
  }
  answer_all(done);
  if (done) checkpoint();
  queue_.hand_over();
}

// The failed job took the transaction with it. Those who shared it and can be run again are, each
// alone: what they were answered rests on what is gone.
void Writer::undo_batch(std::shared_ptr<Job> failed) noexcept {
  if (failed->failure() != nullptr) {
    abandon(*failed->failure());
  } else {
    roll_back();
  }
  if (batch_.succeeded && !failed->demands().has_work) {
    queue_.keep(batch_.jobs, std::move(failed));
  } else {
    if (failed->failure() == nullptr) failed->refuse(Error(Errc::work_forbidden));
    queue_.finish(*failed);
    if (!batch_.succeeded) answer_all({});
  }
  while (const auto job = queue_.take_again(batch_.jobs)) {
    if (job->demands().has_work) {
      job->refuse(Error(Errc::busy));
    } else {
      run_alone(*job);
    }
    queue_.finish(*job);
  }
  queue_.hand_over();
}

void Writer::run_alone(Job& job) noexcept {
  if (const auto ok = begin(is_flushed(job.demands().flush), batch_.deadline); !ok) {
    job.refuse(ok.error());
    return;
  }
  switch (run_job(job, false)) {
    case Ran::succeeded:
      if (const auto ok = commit(); !ok) job.refuse(ok.error());
      break;
    case Ran::refused:
      roll_back();
      break;
    case Ran::broke:
      if (job.failure() == nullptr) job.refuse(Error(Errc::invariant_violated));
      abandon(*job.failure());
      break;
  }
}

Status Writer::begin(bool flushed, Instant deadline) noexcept {
  try {
    if (broken_) {
      if (auto ok = reopen(deadline); !ok) return ok;
    }
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory);
  }
  Connection& connection = *session_->connection;
  connection.set_deadline(deadline);
  if (auto ok = connection.set_flushing(flushed); !ok) return ok;
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

Status Writer::commit() noexcept {
  sqlite3* const db = session_->connection->handle();
  if (!watch_.intact(db, clock_->now())) {
    roll_back();
    return fail(Errc::store_replaced);
  }
  const auto done = Query(db, session_->commit).run();
  if (done) {
    session_->ledger.committed(db);
    return {};
  }
  const Error error = commit_error(done.error());
  abandon(error);
  return fail(error);
}

void Writer::checkpoint() noexcept {
  try {
    checkpointer_.after_commit(*session_);
  } catch (const std::bad_alloc&) {
    return;  // the log stays longer, until the next commit
  }
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

Status Writer::run_work(WriteTransaction& transaction, FencingToken token, const Work& work) {
  if (!work) return {};
  Connection& connection = *session_->connection;
  WorkTransaction inside(token, connection.database());
  transaction.set_worked();
  working_ = std::this_thread::get_id();
  queue_.set_working(true);
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
  queue_.set_working(false);
  working_ = std::thread::id();
  const bool refused = connection.take_refusal();
  const bool ended = sqlite3_get_autocommit(transaction.db()) != 0;
  if (refused || (!failure && ended)) return fail(Errc::work_forbidden);
  if (failure) return fail(*failure);
  return check_foreign_keys(connection.handle());
}

}  // namespace wallock::sqlite
