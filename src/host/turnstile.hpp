// Turnstile: writers of all processes take turns, first come first served.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "host/membership.hpp"
#include "wallock/clock.hpp"
#include "wallock/time.hpp"

namespace wallock::host {

struct TurnstileLayout;

// In front of SQLite's write lock, for fairness only: SQLite's own waiting lets a process that
// commits in a loop starve the others for seconds. A word says whose turn it is; who comes while
// others wait stands behind them. Only whoever leaves may come back before them, until its stint is
// over: a turn that changes hands costs a wake-up, which takes longer than a short transaction. The
// first in line looks every few milliseconds whether the holder's process is alive, and takes the
// turn of one that died.
//
// No robust mutex of the C library, although the kernel marks those at once when their owner dies:
// it goes by thread ids, and every container numbers from 1. A waiter that is killed under the
// holder's own number makes the lock a dead owner's while the holder lives; the holder's unlock
// then fails and leaves addresses of one process in the list of another. Nor would the words of
// such a mutex be safe to share with a process that is not trusted with this one's memory.
//
// Not recursive. A turn is given back by whoever has it, from any thread. Threads of one process
// wait in the same line as the others. In a forked child nobody has a turn.
class Turnstile {
 public:
  static constexpr Duration usual_stint = std::chrono::microseconds(200);

  // All three outlive it. `clock` is the machine's, the same in all processes. A stint, in real
  // time, begins with the first turn that ends while somebody waits.
  Turnstile(TurnstileLayout& layout, const Membership& members, const Clock& clock,
            Duration stint = usual_stint) noexcept
      : layout_(layout), members_(members), clock_(clock), stint_(stint) {}
  Turnstile(const Turnstile&) = delete;
  Turnstile& operator=(const Turnstile&) = delete;

  // Waits for the turn, at most `patience` of real time; at least one attempt.
  // False: no turn, for whatever reason; go on without, bounded otherwise, and do not leave().
  [[nodiscard]] bool enter(Duration patience) noexcept;
  void leave() noexcept;

 private:
  [[nodiscard]] bool take() noexcept;
  [[nodiscard]] bool is_taken() const noexcept;
  [[nodiscard]] bool goes_on() const noexcept;
  [[nodiscard]] bool take_from_dead() noexcept;
  [[nodiscard]] bool wait_in_line(Duration patience) noexcept;
  [[nodiscard]] bool wait_beside(Duration patience) noexcept;

  TurnstileLayout& layout_;
  const Membership& members_;
  const Clock& clock_;
  const Duration stint_;
  // When the stint is over, of the steady clock; 0 while nobody waits. A hint: all may be late.
  std::atomic<std::int64_t> stint_until_{0};
};

}  // namespace wallock::host
