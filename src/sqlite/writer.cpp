#include "sqlite/writer.hpp"

#include <sqlite3.h>

#include <optional>
#include <utility>

#include "sqlite/work_runner.hpp"

namespace wallock::sqlite {

Writer::Writer(std::string path, std::unique_ptr<Session> session, Durability durability,
               std::shared_ptr<const Clock> clock, Shared shared)
    : path_(std::move(path)),
      durability_(durability),
      clock_(std::move(clock)),
      shared_(std::move(shared)),
      queue_(*clock_),
      session_(std::move(session)),
      checkpointer_(path_, *clock_),
      watch_(path_) {
  checkpointer_.watch(*session_);
}

// Half of the time at most: whatever holds the turnstile up, the write lock is still asked for.
void Writer::take_turn(Instant deadline) noexcept {
  if (shared_.turnstile == nullptr) return;
  has_turn_ = shared_.turnstile->enter(saturating_sub(deadline, clock_->now()) / 2);
}

void Writer::leave_turn() noexcept {
  if (std::exchange(has_turn_, false)) shared_.turnstile->leave();
}

void Writer::hand_over() noexcept {
  if (shared_.flush_line == nullptr && is_log_suspect()) mend_log();
  if (broken_) session_.reset();
  leave_turn();
  queue_.hand_over();
}

bool Writer::is_flushed(Flush flush) const noexcept {
  if (durability_ == Durability::commits) return flush == Flush::durable;
  return durability_ != Durability::relaxed;
}

Status Writer::check_caller() const noexcept {
  if (process_.forked()) return fail(Errc::forked_handle);
  if (WorkScope::is_inside(path_)) return fail(Errc::called_inside_work);
  return {};
}

Status Writer::take_part(const std::shared_ptr<Job>& job, Instant deadline) noexcept {
  queue_.enter(job);
  for (;;) {
    switch (queue_.await(*job, deadline)) {
      case JobQueue::Call::lead:
        lead(job, deadline);
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

void Writer::lead(const std::shared_ptr<Job>& job, Instant deadline) noexcept {
  take_turn(deadline);
  // With flushes apart it is not decided here what is flushed.
  const bool flushed =
      !shared_.flushes_apart &&
      (is_flushed(job->demands().flush) || (is_flushed(Flush::durable) && queue_.wants_flush()));
  if (const auto ok = begin(flushed, deadline); !ok) {
    job->refuse(ok.error());
    queue_.finish(*job);
    hand_over();
    return;
  }
  const bool takes_all = flushed || shared_.flushes_apart || !is_flushed(Flush::durable);
  batch_ = Batch{.takes_all = takes_all,
                 .changes = sqlite3_total_changes64(session_->connection->handle()),
                 .deadline = deadline,
                 .began = Steady::now()};
  if (run_in_batch(job)) go_on();
}

void Writer::go_on() noexcept {
  // Enough to make the flush cheap; nobody waits long for those who came after it.
  constexpr std::size_t most_jobs = 256;
  while (batch_.jobs.size() < most_jobs && !is_long()) {
    auto job = queue_.take(batch_.takes_all);
    if (!job) break;
    if (job->demands().has_work) return;  // its owner leads now
    if (!run_in_batch(std::move(job))) return;
  }
  end_batch();
}

// Where flushes are under way beside each other, a long transaction would keep their lanes empty:
// all that share it wait for one flush, and none of them comes with anything new meanwhile.
bool Writer::is_long() const noexcept {
  // So many pay for a flush.
  constexpr std::size_t few_jobs = 8;
  if (!shared_.flushes_apart || batch_.jobs.size() < few_jobs) return false;
  const auto distance = shared_.flush_line->distance();
  return distance && Steady::now() - batch_.began >= *distance;
}

bool Writer::run_in_batch(std::shared_ptr<Job> job) noexcept {
  // What others wrote must outlive this job's failure, if they could not be run again.
  const bool has_work = job->demands().has_work;
  const bool guarded = batch_.succeeded && (batch_.worked || has_work);
  batch_.worked = batch_.worked || has_work;
  batch_.durable = batch_.durable || is_flushed(job->demands().flush);
  switch (run_job(*job, guarded)) {
    case Ran::succeeded:
      batch_.succeeded = true;
      [[fallthrough]];
    case Ran::refused:
      queue_.keep(batch_.jobs, std::move(job));
      return true;
    case Ran::broke:
      break;
    case Ran::forked:
      // The transaction is the parent's, and so are its locks, its turn and its line of jobs.
      job->refuse(Error(Errc::forked_handle));
      queue_.leave_as_child(*job);
      return false;
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
    if (const auto ok = Query(db, session_->savepoint).run(); !ok) return broke_of(job, ok.error());
    mark = session_->ledger.mark();
  }
  const auto changes = sqlite3_total_changes64(db);
  WriteTransaction transaction(*session_, clock_->now(), clock_->wall_now(), freed_);
  const bool succeeded = job.execute(transaction);
  if (process_.forked()) return Ran::forked;
  if (sqlite3_get_autocommit(db) != 0) {
    return succeeded ? broke_of(job, Error(Errc::work_forbidden)) : Ran::broke;
  }
  if (succeeded) {
    if (!guarded) return Ran::succeeded;
    const auto ok = Query(db, session_->release).run();
    return ok ? Ran::succeeded : broke_of(job, ok.error());
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

void Writer::answer_all(JobList jobs, const Status& status) noexcept {
  while (const auto job = queue_.take_again(jobs)) {
    if (!status) job->refuse(status.error());
    queue_.finish(*job);
  }
}

// Answers those who need no flush, and gives the others back.
JobList Writer::answer_riders(JobList jobs) noexcept {
  JobList rest;
  while (auto job = queue_.take_again(jobs)) {
    if (is_flushed(job->demands().flush)) {
      queue_.keep(rest, std::move(job));
    } else {
      queue_.finish(*job);
    }
  }
  return rest;
}

void Writer::end_batch() noexcept {
  Status done;
  if (batch_.succeeded) {
    done = commit(batch_.durable && has_written());
    operations_.fetch_add(batch_.jobs.size(), std::memory_order_relaxed);
    transactions_.fetch_add(1, std::memory_order_relaxed);
  } else {
    roll_back();
  }
  JobList jobs = std::exchange(batch_.jobs, {});
  if (!done || !batch_.durable || flushed_) {
    answer_all(std::move(jobs), done);
    if (done) checkpoint();
    hand_over();
    return;
  }
  // Whatever these answers rest on was announced by now.
  const auto ticket = seen();
  jobs = answer_riders(std::move(jobs));
  checkpoint();
  hand_over();
  // From here on the next transaction may be under way.
  if (!jobs.empty()) answer_all(std::move(jobs), await_flush(ticket));
}

host::FlushLine::Ticket Writer::seen() const noexcept {
  return shared_.flush_line != nullptr ? shared_.flush_line->announced() : 0;
}

Status Writer::await_flush(host::FlushLine::Ticket ticket) noexcept {
  using Outcome = host::FlushLine::Outcome;
  host::FlushLine* const line = shared_.flush_line;
  const auto flush = [this, line](std::size_t lane) noexcept {
    return shared_.flusher->flush(lane, line);
  };
  // Without a line nobody tells what is flushed.
  const bool flushed = line != nullptr ? line->wait(ticket, flush) == Outcome::flushed
                                       : flush(0) == Flusher::Flushed::flushed;
  return flushed ? Status() : fail(Errc::outcome_unknown);
}

Status Writer::await_visible(Instant deadline) {
  if (durability_ == Durability::relaxed) return {};
  auto flushed = await_flush(seen());
  // Work has a transaction under way, which settled what can be settled.
  if (flushed || WorkScope::is_inside(path_)) return flushed;
  // A transaction settles what a writer that died announced, and repairs the log.
  return run({.flush = Flush::durable}, deadline, [](WriteTransaction&) -> Status { return {}; });
}

// The failed job took the transaction with it. Those who shared it and can be run again are, each
// alone: what they were answered rests on what is gone.
void Writer::undo_batch(std::shared_ptr<Job> failed) noexcept {
  abandon(*failed->failure());
  if (batch_.succeeded && !failed->demands().has_work) {
    queue_.keep(batch_.jobs, std::move(failed));
  } else {
    queue_.finish(*failed);
    if (!batch_.succeeded) answer_all(std::exchange(batch_.jobs, {}), {});
  }
  while (const auto job = queue_.take_again(batch_.jobs)) {
    if (job->demands().has_work) {
      job->refuse(Error(Errc::busy));
    } else {
      run_alone(*job);
    }
    queue_.finish(*job);
  }
  hand_over();
}

void Writer::run_alone(Job& job) noexcept {
  const bool durable = is_flushed(job.demands().flush);
  if (const auto ok = begin(durable && !shared_.flushes_apart, batch_.deadline); !ok) {
    job.refuse(ok.error());
    return;
  }
  // No job with work runs alone: nothing forks.
  const Ran ran = run_job(job, false);
  if (ran == Ran::broke) return abandon(*job.failure());
  if (ran == Ran::succeeded) {
    if (const auto ok = commit(durable); !ok) return job.refuse(ok.error());
  } else {
    roll_back();
  }
  if (!durable || flushed_) return;
  const auto flushed = await_flush(seen());
  if (!flushed) job.refuse(flushed.error());
}

Status Writer::run_work(WriteTransaction& transaction, FencingToken token, const Work& work) {
  if (!work) return {};
  transaction.set_worked();
  queue_.set_working(true);
  const WorkScope scope(path_);
  const Status done = run_confined(*session_->connection, token, work);
  queue_.set_working(false);
  if (process_.forked()) return fail(Errc::forked_handle);
  return done;
}

}  // namespace wallock::sqlite
