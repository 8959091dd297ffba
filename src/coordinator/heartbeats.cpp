#include "coordinator/heartbeats.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "coordinator/boundary.hpp"
#include "host/process.hpp"

namespace wallock::detail {
namespace {

using std::chrono::milliseconds;

// How much the clock is ahead of the one that the threads rest on.
Duration ahead_of_rest(Instant now) noexcept {
  return now.time_since_epoch() - std::chrono::steady_clock::now().time_since_epoch();
}

void end(std::thread& thread) noexcept {
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();
  } else {
    thread.join();
  }
}

}  // namespace

Heartbeats::Heartbeats(LeaseRepository& store, std::shared_ptr<const Clock> clock)
    : Heartbeats(store, clock, clock == system_clock() ? MovedBy::machine : MovedBy::others) {}

Heartbeats::Heartbeats(LeaseRepository& store, std::shared_ptr<const Clock> clock, MovedBy moved_by)
    : store_(store),
      clock_(std::move(clock)),
      moved_by_(moved_by),
      ahead_(moved_by == MovedBy::machine ? ahead_of_rest(clock_->now()) : Duration::zero()) {}

Status Heartbeats::start(bool renewing) {
  const std::lock_guard lock(mutex_);
  const host::BlockedSignals blocked;
  try {
    if (!watcher_.joinable()) watcher_ = launch(&Heartbeats::watch);
    if (renewing && !renewer_.joinable()) renewer_ = launch(&Heartbeats::renew);
  } catch (const std::system_error& error) {
    return fail(Error(Errc::no_thread, ErrorFacts{.native = error.code().value()}));
  }
  return {};
}

std::thread Heartbeats::launch(Pass pass) {
  return std::thread([self = shared_from_this(), pass] { self->run(pass); });
}

void Heartbeats::shutdown() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_all();
  end(renewer_);
  end(watcher_);
}

void Heartbeats::add(std::shared_ptr<HeldLease> held) {
  change([&] { leases_.add(std::move(held)); });
}

void Heartbeats::remove(const HeldLease& held) noexcept {
  // Outlives the lock: the last reference runs the application's destructors.
  HeartbeatRoster::Entries::node_type removed;
  const std::lock_guard lock(mutex_);
  removed = leases_.remove(held);
}

void Heartbeats::look_at(const HeldLease& held) noexcept {
  change([&] { leases_.refile(held); });
}

// Wakes the threads if one of them has something to do earlier than it meant to.
template <class Change>
void Heartbeats::change(Change change) {
  {
    const std::lock_guard lock(mutex_);
    const Instant loss = leases_.next_loss();
    const Instant renewal = leases_.next_renewal(Instant::min());
    change();
    const bool earlier =
        leases_.next_loss() < loss || leases_.next_renewal(Instant::min()) < renewal;
    if (!earlier) return;
    ++wakes_;
  }
  woken_.notify_all();
}

void Heartbeats::run(Pass pass) noexcept {
  constexpr Duration pause_after_failure = milliseconds(10);
  std::uint64_t seen = 0;
  Instant next = Instant::min();
  while (rest(pass, next, seen)) {
    const auto answer = at_boundary([&]() -> Result<Instant> { return (this->*pass)(); });
    next = answer ? *answer : saturating_add(clock_->now(), pause_after_failure);
  }
}

// In real time, for a pass that has something to do in `left` on the clock.
Duration Heartbeats::longest_rest(Pass pass, Duration left) const noexcept {
  constexpr Duration whole_rest = std::chrono::hours(1);
  if (moved_by_ == MovedBy::others) return milliseconds(1);
  return pass == &Heartbeats::watch ? std::min(look_after(left), whole_rest) : whole_rest;
}

// Rests until then, the next wake or the longest rest. False once shutdown() was called.
bool Heartbeats::rest(Pass pass, Instant until, std::uint64_t& seen) noexcept {
  const Duration left =
      until == Instant::max() ? Duration::max() : saturating_sub(until, clock_->now());
  std::unique_lock lock(mutex_);
  // A wait of no length costs a wake-up all the same.
  if (left > Duration::zero()) {
    woken_.wait_for(lock, std::min(left, longest_rest(pass, left)),
                    [&] { return stopping_ || wakes_ != seen; });
  }
  seen = wakes_;
  return !stopping_;
}

// The renewing thread, which looks at no clock while it rests, is told of a suspension.
void Heartbeats::follow_clock(Instant now) {
  // The two clocks are read one after the other: their difference is never quite the same.
  constexpr Duration least = milliseconds(20);
  if (moved_by_ == MovedBy::others) return;
  const Duration ahead = ahead_of_rest(now);
  if (ahead - ahead_ < least) return;
  ahead_ = ahead;
  {
    const std::lock_guard lock(mutex_);
    ++wakes_;
  }
  woken_.notify_all();
}

Instant Heartbeats::watch() {
  const Instant now = clock_->now();
  follow_clock(now);
  Instant next = Instant::max();
  HeartbeatRoster::Entries lost;
  {
    const std::lock_guard lock(mutex_);
    lost = leases_.take_lost(now);
    next = leases_.next_loss();
  }
  for (const auto& [key, entry] : lost) {
    if (entry.held->reason() != LossReason::none) entry.held->tell();
  }
  return next;
}

Instant Heartbeats::renew() {
  const Instant now = clock_->now();
  RenewalBatch batch = take_due(now);
  if (batch.empty()) return next_renewal(now);
  const auto answers =
      at_boundary([&] { return store_.renew_all(batch.requests(), batch.deadline()); });
  batch.answer(answers, clock_->now());
  // A refusal is the watching thread's to tell.
  change([&] {
    for (const auto& held : batch.leases())
      leases_.refile(*held);
  });
  return Instant::min();
}

RenewalBatch Heartbeats::take_due(Instant now) {
  // Enough to make a transaction worth it; others wait no longer than some milliseconds for it.
  constexpr std::size_t most_together = 256;
  const std::lock_guard lock(mutex_);
  return leases_.take_due(now, most_together);
}

Instant Heartbeats::next_renewal(Instant now) {
  const std::lock_guard lock(mutex_);
  return leases_.next_renewal(now);
}

}  // namespace wallock::detail
