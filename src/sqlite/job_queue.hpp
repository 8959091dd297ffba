// JobQueue: the line of a process's threads in front of its one write connection.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

#include "sqlite/job.hpp"
#include "wallock/clock.hpp"

namespace wallock::sqlite {

// Jobs in the order in which they came or joined.
class JobList {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const std::shared_ptr<Job>& front() const noexcept { return first_; }

 private:
  friend class JobQueue;
  std::shared_ptr<Job> first_;
  Job* last_ = nullptr;
  std::size_t size_ = 0;
};

// One thread leads at a time: it begins a transaction, runs its own job and those that came
// meanwhile, and commits for all of them (group commit: one flush). Then it wakes the next in line
// to lead. A job with the application's work is run by its own thread, which takes the lead over
// and keeps it; so nobody waits for another thread to come back.
//
// All members may be called from all threads at once; those for the leader by the leader only.
class JobQueue {
 public:
  // What the owner of a job has to do next.
  enum class Call : std::uint8_t {
    lead,      // begin a transaction with the job, and more
    carry_on,  // run the job in the open transaction, and go on with it
    done,      // take the answer
    too_late,  // the time is over and the job never ran: it is out of the line
    leave,     // the time is over, the job ran and work of the application holds up its COMMIT
  };

  explicit JobQueue(const Clock& clock) noexcept : clock_(clock) {}

  // Gets in line; leads at once if nobody does.
  void enter(const std::shared_ptr<Job>& job) noexcept;
  // Sleeps until there is something to do for the job's owner, or the time is over.
  [[nodiscard]] Call await(Job& job, Instant deadline) noexcept;

  // For the leader: the next job that may share its transaction, or nothing. One that needs a flush
  // must not join a transaction that is not flushed. It is run here (running), unless it has work
  // and another owner: then its owner was told to carry on, and leads from now on.
  [[nodiscard]] std::shared_ptr<Job> take(bool flushed) noexcept;
  // For the leader: true if a job in line needs a flush.
  [[nodiscard]] bool wants_flush() noexcept;
  // For the leader: its job ran and shares the fate of the transaction.
  void keep(JobList& list, std::shared_ptr<Job> job) noexcept;
  // For the leader: takes the first job out of the list, to run it once more. Nothing if the list
  // is empty; jobs whose owners left are dropped.
  [[nodiscard]] std::shared_ptr<Job> take_again(JobList& list) noexcept;
  // For the leader: the job has its answer; wakes its owner.
  void finish(Job& job) noexcept;
  // For the leader, at the end: the next in line leads, if anybody is there.
  void hand_over() noexcept;

  // How many are in line.
  [[nodiscard]] std::size_t waiting() const noexcept;

  // In a forked child, of the job whose work forked: nobody else is there to be told.
  static void leave_as_child(Job& job) noexcept { set(job, Phase::done); }

  // While work of the application runs, owners of executed jobs may leave when their time is over.
  void set_working(bool working) noexcept { working_ = working; }

 private:
  [[nodiscard]] std::optional<Call> call_of(Phase phase) const noexcept;
  [[nodiscard]] std::optional<Call> give_up(Job& job) noexcept;
  void unlink(Job& job) noexcept;
  static void push(JobList& list, std::shared_ptr<Job> job) noexcept;
  static std::shared_ptr<Job> pop(JobList& list) noexcept;
  static void set(Job& job, Phase phase) noexcept;
  static void tell(Job& job, Phase phase) noexcept;

  const Clock& clock_;
  mutable std::mutex mutex_;
  JobList waiting_;
  bool led_ = false;
  std::atomic<bool> working_{false};
};

}  // namespace wallock::sqlite
