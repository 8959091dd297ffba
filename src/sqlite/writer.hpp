// Writer: the one place where write transactions begin and end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/flush_line.hpp"
#include "host/process.hpp"
#include "host/turnstile.hpp"
#include "host/waiting_line.hpp"
#include "sqlite/checkpointer.hpp"
#include "sqlite/file_watch.hpp"
#include "sqlite/flusher.hpp"
#include "sqlite/job_queue.hpp"
#include "sqlite/session.hpp"
#include "wallock/clock.hpp"
#include "wallock/options.hpp"
#include "wallock/transaction.hpp"

namespace wallock::sqlite {

// Runs every operation in a BEGIN IMMEDIATE .. COMMIT of the process's one write connection: takes
// the lock before the clock is read, commits if the operation succeeded, undoes it if not, and says
// which of the three outcomes a COMMIT had. A connection that met an I/O error, or could not roll
// back, is closed at once, and opened anew before the next operation.
//
// Operations that come while another thread's transaction is under way share the next one, and its
// flush (group commit, JobQueue). Each still stands alone: one that fails leaves nothing behind and
// takes nobody with it. What was written before it stays, because a failing operation that wrote is
// undone to a savepoint, or, where that would be dearer, the whole transaction is undone and its
// operations run one by one. No answer leaves before the COMMIT that it rests on.
//
// Where flushes are shared, transactions are committed without one, and one process flushes for all
// while the next transactions are under way. An answer that must be durable waits for the flush of
// everything that it can rest on, whoever wrote it; also that of a writer that flushes for itself
// and wrote nothing.
//
// Thread safety: all members may be called from several threads at once.
class Writer {
 public:
  // What writers of several processes share; outlives the writer.
  struct Shared {
    host::Turnstile* turnstile = nullptr;   // null: no turns
    host::FlushLine* flush_line = nullptr;  // what is known of flushes; null: nobody tells
    bool flushes_apart = false;             // or every transaction flushes for itself
    host::WaitingLine* waiting = nullptr;   // who waits for a resource that was freed; null: nobody
    std::unique_ptr<Flusher> flusher;
  };

  // `session` belongs to the store at `path`, which is in order.
  Writer(std::string path, std::unique_ptr<Session> session, Durability durability,
         std::shared_ptr<const Clock> clock, Shared shared);

  // Runs operation(WriteTransaction&) -> Result<T> or Status. Waits for its turn and for the write
  // lock until `deadline`, at least one attempt. busy if the time was over before it ran;
  // outcome_unknown if it ran and work of another thread held up its COMMIT until then.
  //
  // The operation may run on another thread of the process, unless it has work, and once more if
  // the transaction that it shared was undone.
  template <class Operation>
  auto run(Demands demands, Instant deadline, Operation&& operation)
      -> decltype(operation(std::declval<WriteTransaction&>())) {
    if (auto ok = check_caller(); !ok) return fail(ok.error());
    const auto job =
        std::make_shared<JobOf<std::remove_reference_t<Operation>>>(operation, demands);
    if (auto ok = take_part(job, deadline); !ok) return fail(ok.error());
    return job->take_answer();
  }

  // Runs the application's work inside the transaction of the calling run(), confined to the
  // application's own tables; errors as of run_confined.
  [[nodiscard]] Status run_work(WriteTransaction& transaction, FencingToken token,
                                const Work& work);

  // Returns once everything that was visible in the database when it was called and must be durable
  // is so. For those who answer from what they read. outcome_unknown if a flush failed; else as
  // run().
  [[nodiscard]] Status await_visible(Instant deadline);

  [[nodiscard]] bool shares_flushes() const noexcept { return shared_.flushes_apart; }
  // From the last commit on this connection.
  [[nodiscard]] std::uint64_t wal_frames() const noexcept { return checkpointer_.frames(); }
  [[nodiscard]] std::uint64_t checkpoints() const noexcept { return checkpointer_.count(); }
  // Committed, and the jobs that shared them; jobs in line.
  [[nodiscard]] std::uint64_t transactions() const noexcept { return transactions_; }
  [[nodiscard]] std::uint64_t operations() const noexcept { return operations_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return queue_.waiting(); }

 private:
  using Steady = std::chrono::steady_clock;
  // The transaction that is open, and the jobs that share it. Belongs to whoever leads.
  struct Batch {
    bool takes_all = false;    // or only what needs no flush
    bool durable = false;      // some job needs a flush
    bool succeeded = false;    // some job: it may have written
    bool worked = false;       // work of the application ran, which must not run again
    std::int64_t changes = 0;  // of the connection before it
    Instant deadline;
    Steady::time_point began = {};
    JobList jobs = {};
  };

  [[nodiscard]] Status check_caller() const noexcept;
  [[nodiscard]] Status take_part(const std::shared_ptr<Job>& job, Instant deadline) noexcept;

  // The course of a transaction. Each ends it and hands over, or leaves it to another thread.
  void lead(const std::shared_ptr<Job>& job, Instant deadline) noexcept;
  void go_on() noexcept;
  [[nodiscard]] bool is_long() const noexcept;
  void end_batch() noexcept;
  void undo_batch(std::shared_ptr<Job> failed) noexcept;

  // Runs a job in the open transaction; false if it ended the batch.
  [[nodiscard]] bool run_in_batch(std::shared_ptr<Job> job) noexcept;
  enum class Ran : std::uint8_t {
    succeeded,
    refused,
    broke,   // the job has a failure, and the transaction must be undone
    forked,  // the job's work came back in a forked child, too
  };
  [[nodiscard]] Ran run_job(Job& job, bool guarded) noexcept;
  // The transaction cannot go on, and not because of the job: says why.
  [[nodiscard]] static Ran broke_of(Job& job, const Error& error) noexcept {
    job.refuse(error);
    return Ran::broke;
  }
  [[nodiscard]] bool undo_job(const LedgerStore::Mark& mark) noexcept;
  void run_alone(Job& job) noexcept;
  void answer_all(JobList jobs, const Status& status) noexcept;
  [[nodiscard]] JobList answer_riders(JobList jobs) noexcept;
  // Lets the next in line lead. A connection that is given up goes first: it must not keep locked
  // until the next call what it could not undo.
  void hand_over() noexcept;

  // The turn among the writers of all processes, if it can be had.
  void take_turn(Instant deadline) noexcept;
  void leave_turn() noexcept;

  [[nodiscard]] Status begin(bool flushed, Instant deadline) noexcept;
  [[nodiscard]] Status begin_transaction(bool flushed, Instant deadline);
  [[nodiscard]] Status repair_log() noexcept;
  [[nodiscard]] bool is_log_suspect() const noexcept;
  void suspect_log() noexcept;
  void mend_log() noexcept;
  [[nodiscard]] Status commit(bool durable) noexcept;
  void call_waiters() noexcept;
  // What everything rests on that was seen until now.
  [[nodiscard]] host::FlushLine::Ticket seen() const noexcept;
  [[nodiscard]] Status await_flush(host::FlushLine::Ticket ticket) noexcept;
  // Ends the transaction after an error.
  void abandon(const Error& error) noexcept;
  void roll_back() noexcept;
  void checkpoint() noexcept;
  [[nodiscard]] bool has_written() const noexcept;
  [[nodiscard]] Status reopen(Instant deadline);
  [[nodiscard]] bool is_flushed(Flush flush) const noexcept;

  const std::string path_;
  const Durability durability_;
  const std::shared_ptr<const Clock> clock_;
  const Shared shared_;
  const host::ProcessMark process_;
  JobQueue queue_;
  std::atomic<std::uint64_t> transactions_{0};
  std::atomic<std::uint64_t> operations_{0};

  // From here on: of the thread that leads.
  Batch batch_;
  std::vector<ResourceName> freed_;  // by the transaction
  bool has_turn_ = false;
  std::unique_ptr<Session> session_;  // null between two transactions if it is broken
  Checkpointer checkpointer_;
  FileWatch watch_;
  bool broken_ = false;   // the connection met an I/O error
  bool flushes_ = false;  // the transaction flushes itself
  bool flushed_ = false;  // it wrote, and did
};

}  // namespace wallock::sqlite
