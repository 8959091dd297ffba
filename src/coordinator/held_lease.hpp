// HeldLease: the state of one guarded lease, shared by its guard and the heartbeat threads.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "coordinator/heartbeat_rules.hpp"
#include "wallock/lease.hpp"
#include "wallock/lease_guard.hpp"
#include "wallock/result.hpp"

namespace wallock::detail {

// What a guard holds: a pulse, whether it is lost, and whose turn it is to ask the store about it.
// Knows neither the store nor a clock: both answers and times are told.
//
// Only one call to the store about a lease is under way at a time: a commit gives the lease another
// token, so a renewal beside it would be refused for a token that nobody holds any more.
//
// Thread safety: all members may be called from all threads at once. No lock is held while the
// application's callbacks run.
class HeldLease {
 public:
  // Starts with the lease just acquired, for which `ttl` was asked.
  HeldLease(Lease lease, Duration ttl, GuardOptions options);
  HeldLease(const HeldLease&) = delete;
  HeldLease& operator=(const HeldLease&) = delete;

  [[nodiscard]] const ResourceName& resource() const noexcept { return resource_; }
  [[nodiscard]] Lease lease() const;
  [[nodiscard]] LossReason reason() const;
  [[nodiscard]] std::stop_token lost() const noexcept { return lost_.get_token(); }
  // Neither lost nor ended.
  [[nodiscard]] bool alive() const;
  // True once the store has confirmed that the lease is over by its holder's will.
  [[nodiscard]] bool ended() const;

  // What to look at it for, and when: a loss at once if it is lost or ended already, and then no
  // renewal. `held_up`: somebody has the turn, so that a renewal has to wait.
  struct Next {
    Agenda agenda;
    bool held_up = false;
  };
  [[nodiscard]] Next next() const;
  // Loses the lease if the rules say so; true if this call did. lose() says nothing to anybody yet,
  // watch() runs stop callbacks.
  bool lose(Instant now);
  bool watch(Instant now);
  // Stops the token, and calls on_lost, if it was not called and the lease not stopped; after the
  // lease was lost.
  void tell();
  // From its return on, no renewal begins, and on_lost neither runs nor will; only an on_lost that
  // calls this itself is not waited for.
  void stop();

  // Asks for the turn. take_turn waits for it at most `patience` of real time; called_inside_work
  // if this thread has it already, busy if the time is over. try_renewal takes it for a renewal if
  // one is due and the turn is free, with the lease to renew. Throws std::bad_alloc, then without.
  struct Renewal {
    Lease lease;
    Duration ttl;
    Instant deadline;
  };
  [[nodiscard]] Status take_turn(Duration patience);
  [[nodiscard]] std::optional<Renewal> try_renewal(Instant now, Company company = Company::none);
  // Gives the turn back; true if a renewal was tried in vain meanwhile.
  bool give_turn_back();

  // What the store answered, told by who has the turn.
  void renewed(const Result<Lease>& answer, Instant now) noexcept;
  void refused(const Error& error, Instant now) noexcept;
  void committed(const Result<Committed>& answer, AfterCommit after, Instant now);
  void end();

 private:
  void adopt(const Lease& lease);

  const ResourceName resource_;
  const std::optional<Duration> margin_;  // as given
  std::function<void(LossReason)> on_lost_;
  std::stop_source lost_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::thread::id turn_ = {};     // who has the turn
  std::thread::id telling_ = {};  // who runs on_lost
  bool passed_over_ = false;
  Pulse pulse_;
  LossReason reason_ = LossReason::none;
  bool ended_ = false;
};

}  // namespace wallock::detail
