// Heartbeats: the two threads that keep a coordinator's guarded leases alive and watch their ends.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "coordinator/heartbeat_roster.hpp"
#include "wallock/clock.hpp"
#include "wallock/lease_repository.hpp"
#include "wallock/result.hpp"

namespace wallock::detail {

// One thread renews and may have to wait for the store; the other one only looks at the clock, so
// that a store that hangs never delays the news that a lease is lost. Both start with the first
// guard that needs them and serve all guards. A pass looks at the guards that something is due for,
// and those that are due at about the same time are renewed in one transaction.
//
// Both rest in real time, which does not count a suspension of the machine as the leases' clock
// does. So the watching thread looks at that one now and then (look_after), and wakes the renewing
// one after a suspension: an idle guard costs a wake-up a second.
//
// Thread safety: all members may be called from all threads at once, watch() from one at a time.
// Lifetime: the threads keep it alive; shutdown() ends them and must precede the store's end.
class Heartbeats : public std::enable_shared_from_this<Heartbeats> {
 public:
  // A clock that others move may jump at any moment; both threads look at it every millisecond
  // then. The machine's own runs with real time, and jumps only over a suspension.
  enum class MovedBy : bool { machine, others };
  Heartbeats(LeaseRepository& store, std::shared_ptr<const Clock> clock, MovedBy moved_by);
  // The machine's own, or one that others move.
  Heartbeats(LeaseRepository& store, std::shared_ptr<const Clock> clock);
  Heartbeats(const Heartbeats&) = delete;
  Heartbeats& operator=(const Heartbeats&) = delete;

  // Starts the watching thread, and the renewing one if `renewing`, unless they run.
  // no_thread with errno if the system gives none (transient).
  [[nodiscard]] Status start(bool renewing);

  // Ends both threads and waits for them: for a renewal that is under way (attempt_patience), and
  // for an on_lost. Called by one of the threads itself, it does not wait for that one.
  void shutdown() noexcept;

  // Serves a lease from now on, until remove() or its loss. Throws std::bad_alloc.
  void add(std::shared_ptr<HeldLease> held);
  // Never renews or watches it again from the next pass on.
  void remove(const HeldLease& held) noexcept;
  // To be called when anything about the lease has changed: has the threads look at it in time, if
  // they meant to later.
  void look_at(const HeldLease& held) noexcept;

  // One pass of the watching thread: tells every lease that is lost. Answers when to look again.
  Instant watch();
  // One pass of the renewing thread: at most one call to the store, for the most pressing renewals.
  // Answers when to look again.
  Instant renew();

 private:
  using Pass = Instant (Heartbeats::*)();

  template <class Change>
  void change(Change change);
  void run(Pass pass) noexcept;
  [[nodiscard]] Duration longest_rest(Pass pass, Duration left) const noexcept;
  [[nodiscard]] bool rest(Pass pass, Instant until, std::uint64_t& seen) noexcept;
  void follow_clock(Instant now);
  [[nodiscard]] RenewalBatch take_due(Instant now);
  [[nodiscard]] Instant next_renewal(Instant now);
  std::thread launch(Pass pass);

  LeaseRepository& store_;
  const std::shared_ptr<const Clock> clock_;
  const MovedBy moved_by_;
  Duration ahead_;  // the clock, of real time; of the watching thread

  std::mutex mutex_;
  std::condition_variable woken_;
  HeartbeatRoster leases_;
  std::uint64_t wakes_ = 0;
  bool stopping_ = false;
  std::thread watcher_;
  std::thread renewer_;
};

}  // namespace wallock::detail
