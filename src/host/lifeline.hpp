// Lifeline: has the kernel tell others of this process's death.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "host/futex.hpp"

namespace wallock::host {

class Membership;
struct MembershipLayout;

// Membership tells who is dead when it is asked; to ask often costs time, to ask seldom delays. So
// every opening that wants leases has a word in its place of the table that the kernel changes when
// the process ends, waking one who sleeps on it: robust_list of futex(2). The word says "look
// again", and no more: whether the opening is dead is for the membership alone to tell, a moment
// later, because the kernel walks that list before it drops the locks.
//
// The kernel keeps such a list for a thread, not for a process. So it is a thread's that does
// nothing and lasts as long as the sidecar; it takes no signal of the application's. The list's one
// node and its head are in the memory of that thread's process. In shared memory is only the word,
// with the thread's number, which is nothing to anybody but the kernel at the end of that very
// thread: no other process's end, in whatever container, can change it.
//
// Where there are no robust lists or no more threads, the word stays 0: ask often.
// Thread safety: start() may be called from all threads at once. In a forked child nothing happens.
class Lifeline {
 public:
  // Both outlive it. Starts nothing.
  Lifeline(MembershipLayout& layout, const Membership& members) noexcept;
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;
  // Ends the thread and waits for it; the word is 0 then.
  ~Lifeline();

  // Starts the thread, the first time that it is called. One load later on.
  void start() noexcept;

 private:
  struct List;
  void run() noexcept;

  SharedWord& word_;
  const Membership& members_;
  std::atomic<bool> is_started_{false};
  std::atomic<bool> is_over_{false};
  std::unique_ptr<List> list_;
  std::thread thread_ = {};
};

// What an opening's word was when somebody looked.
struct Pulse {
  SharedWord* word = nullptr;
  std::uint32_t seen = 0;

  // The kernel will tell.
  [[nodiscard]] bool beats() const noexcept;
  // The kernel told: the process is at its end, and its locks go in a moment.
  [[nodiscard]] bool has_stopped() const noexcept;
};

}  // namespace wallock::host
