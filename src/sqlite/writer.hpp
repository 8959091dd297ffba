// Writer: the one place where write transactions begin and end.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include "host/process.hpp"
#include "sqlite/checkpointer.hpp"
#include "sqlite/file_watch.hpp"
#include "sqlite/session.hpp"
#include "wallock/clock.hpp"
#include "wallock/options.hpp"
#include "wallock/transaction.hpp"

namespace wallock::sqlite {

// Whether an operation's answer may be given before it is flushed (Durability::commits).
enum class Flush : std::uint8_t { rides, durable };

// Runs every operation as one BEGIN IMMEDIATE .. COMMIT on the process's one write connection:
// takes the lock before the clock is read, commits if the operation succeeded, rolls back if not,
// and says which of the three outcomes a COMMIT had. A connection that met an I/O error is closed
// and opened anew before the next operation.
//
// Thread safety: all members may be called from several threads at once; operations take turns.
class Writer {
 public:
  // `session` belongs to the store at `path`, which is in order.
  Writer(std::string path, std::unique_ptr<Session> session, Durability durability,
         std::shared_ptr<const Clock> clock);

  // Runs operation(WriteTransaction&) -> Result<T>. Waits for its turn and for the write lock until
  // `deadline`, at least one attempt.
  template <class Operation>
  auto run(Flush flush, Instant deadline, Operation&& operation)
      -> decltype(operation(std::declval<WriteTransaction&>())) {
    Turn turn(*this, deadline);
    if (auto ok = turn.status(); !ok) return fail(ok.error());
    if (auto ok = begin(flush, deadline); !ok) return fail(ok.error());
    WriteTransaction transaction(*session_, clock_->now(), clock_->wall_now());
    auto result = guarded(operation, transaction);
    if (!result) {
      abandon(result.error());
      return result;
    }
    if (auto ok = commit(transaction.now()); !ok) return fail(ok.error());
    return result;
  }

  // Runs the application's work inside the transaction of the calling run(), confined to the
  // application's own tables. work_failed, work_forbidden; disk_full, io_error, out_of_memory or
  // store_corrupt if the work let SQLite's exception about that through.
  [[nodiscard]] Status run_work(WriteTransaction& transaction, FencingToken token,
                                const Work& work);

  // From the last commit on this connection.
  [[nodiscard]] std::uint64_t wal_frames() const noexcept { return checkpointer_.frames(); }
  [[nodiscard]] std::uint64_t checkpoints() const noexcept { return checkpointer_.count(); }

 private:
  // The right to use the session: one thread of the process it was opened in.
  class Turn {
   public:
    Turn(Writer& writer, Instant deadline);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
      if (status_) writer_.turn_.unlock();
    }
    [[nodiscard]] const Status& status() const noexcept { return status_; }

   private:
    Writer& writer_;
    Status status_;
  };

  // The only exception the stores let through is that of an allocation.
  template <class Operation>
  static auto guarded(Operation& operation, WriteTransaction& transaction)
      -> decltype(operation(transaction)) {
    try {
      return operation(transaction);
    } catch (const std::bad_alloc&) {
      return fail(Errc::out_of_memory);
    }
  }

  [[nodiscard]] Status begin(Flush flush, Instant deadline);
  [[nodiscard]] Status commit(Instant now);
  // Ends the transaction after an error.
  void abandon(const Error& error);
  void roll_back();
  [[nodiscard]] Status reopen(Instant deadline);
  [[nodiscard]] bool every_commit_flushes(Flush flush) const noexcept;

  const std::string path_;
  const Durability durability_;
  const std::shared_ptr<const Clock> clock_;
  const host::ProcessMark process_;
  std::timed_mutex turn_;
  std::atomic<std::thread::id> working_{};  // the thread whose work is running
  std::unique_ptr<Session> session_;
  Checkpointer checkpointer_;
  FileWatch watch_;
  bool broken_ = false;  // the connection met an I/O error
};

}  // namespace wallock::sqlite
