// Job: one operation on its way through the writer, and its answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "host/futex.hpp"
#include "sqlite/session.hpp"

namespace wallock::sqlite {

// Whether an operation's answer may be given before it is flushed (Durability::commits).
enum class Flush : std::uint8_t { rides, durable };

// What the writer must know of an operation before it runs it.
struct Demands {
  Flush flush = Flush::durable;
  bool has_work = false;  // runs code of the application: on its own thread, at most once
};

// Where a job stands. A job's owner sleeps until it is told to lead or to carry on, or until the
// job is done.
enum class Phase : std::uint32_t {
  waiting,   // in line
  leading,   // the owner begins the next transaction
  carrying,  // the owner goes on with the transaction that is open: its own work comes next
  running,   // somebody is at it
  executed,  // in a transaction that is not committed yet
  done,      // answered
  left,      // the owner went away without an answer
};

// Shared between its owner and whoever leads.
class Job {
 public:
  explicit Job(Demands demands) noexcept : demands_(demands) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  virtual ~Job() = default;

  [[nodiscard]] const Demands& demands() const noexcept { return demands_; }
  // True in the thread that the job came from.
  [[nodiscard]] bool is_own() const noexcept { return owner_ == std::this_thread::get_id(); }

  // Runs the operation and keeps its answer; says whether the operation succeeded. No exception.
  // Not once the owner has left: the operation lives in its frame.
  [[nodiscard]] virtual bool execute(WriteTransaction& transaction) noexcept = 0;
  // Replaces the answer.
  virtual void refuse(const Error& error) noexcept = 0;
  // Why the operation failed; null if it did not.
  [[nodiscard]] virtual const Error* failure() const noexcept = 0;

 private:
  friend class JobQueue;

  const Demands demands_;
  const std::thread::id owner_ = std::this_thread::get_id();
  host::SharedWord phase_{static_cast<std::uint32_t>(Phase::waiting)};
  std::shared_ptr<Job> next_;  // in line, or in the batch
};

// `Operation` is called with a WriteTransaction& and answers a Result<T> or a Status.
template <class Operation>
class JobOf final : public Job {
 public:
  using Answer = std::invoke_result_t<Operation&, WriteTransaction&>;

  JobOf(Operation& operation, Demands demands) noexcept : Job(demands), operation_(operation) {}

  bool execute(WriteTransaction& transaction) noexcept override {
    try {
      answer_.emplace(operation_(transaction));
    } catch (const std::bad_alloc&) {
      // The only exception that the stores let through.
      answer_.emplace(fail(Errc::out_of_memory));
    }
    return failure() == nullptr;
  }
  void refuse(const Error& error) noexcept override {
    try {
      answer_.emplace(fail(error));
    } catch (const std::bad_alloc&) {
      // What names an option or a setting changed nothing, and out_of_memory says no less.
      answer_.emplace(fail(Errc::out_of_memory));
    }
  }

  [[nodiscard]] const Error* failure() const noexcept override {
    return answer_ && !*answer_ ? &answer_->error() : nullptr;
  }

  // Once done.
  [[nodiscard]] Answer take_answer() {
    return answer_ ? *std::move(answer_) : Answer(fail(Errc::outcome_unknown));
  }

 private:
  Operation& operation_;
  std::optional<Answer> answer_;
};

}  // namespace wallock::sqlite
