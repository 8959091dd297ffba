#include "coordinator/heartbeats.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "coordinator/boundary.hpp"
#include "host/process.hpp"

namespace wallock::detail {
namespace {

using std::chrono::milliseconds;

// The threads rest on a condition variable, in real time, while leases live on the clock. For the
// machine's own clock the two differ only when the machine was suspended, so looking up now and
// then is enough. A clock that others move may jump at any moment.
Duration longest_rest(const std::shared_ptr<const Clock>& clock) {
  return clock == system_clock() ? milliseconds(100) : milliseconds(1);
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
    : store_(store), clock_(std::move(clock)), longest_rest_(longest_rest(clock_)) {}

Status Heartbeats::start(bool renewing) {
  const std::lock_guard lock(mutex_);
  const host::BlockedSignals blocked;
  try {
    if (!watcher_.joinable()) watcher_ = launch(&Heartbeats::watch);
    if (renewing && !renewer_.joinable()) renewer_ = launch(&Heartbeats::renew);
  } catch (const std::system_error& error) {
    return fail(Error(Errc::store_unavailable, ErrorFacts{.native = error.code().value()}));
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
  {
    const std::lock_guard lock(mutex_);
    const HeldLease* const key = held.get();
    leases_.emplace(key, std::move(held));
  }
  wake();
}

void Heartbeats::remove(const HeldLease& held) noexcept {
  // Outlives the lock: the last reference runs the application's destructors.
  decltype(leases_)::node_type removed;
  const std::lock_guard lock(mutex_);
  removed = leases_.extract(&held);
}

void Heartbeats::wake() noexcept {
  {
    const std::lock_guard lock(mutex_);
    ++wakes_;
  }
  woken_.notify_all();
}

void Heartbeats::run(Pass pass) noexcept {
  constexpr Duration pause_after_failure = milliseconds(10);
  std::uint64_t seen = 0;
  Instant next = Instant::min();
  while (rest(next, seen)) {
    const auto answer = at_boundary([&]() -> Result<Instant> { return (this->*pass)(); });
    next = answer ? *answer : saturating_add(clock_->now(), pause_after_failure);
  }
}

// Rests until then, the next wake() or the longest rest. False once shutdown() was called.
bool Heartbeats::rest(Instant until, std::uint64_t& seen) noexcept {
  const Duration left = saturating_sub(until, clock_->now());
  std::unique_lock lock(mutex_);
  woken_.wait_for(lock, std::clamp(left, Duration::zero(), longest_rest_),
                  [&] { return stopping_ || wakes_ != seen; });
  seen = wakes_;
  return !stopping_;
}

Instant Heartbeats::watch() {
  const Instant now = clock_->now();
  Instant next = Instant::max();
  decltype(leases_) lost;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = leases_.begin(); at != leases_.end();) {
      const auto held = at++;
      const Beat beat = held->second->beat(now);
      if (beat.kind == Beat::Kind::lost || !held->second->alive()) {
        lost.insert(leases_.extract(held));
      } else {
        next = std::min(next, beat.until);
      }
    }
  }
  for (const auto& [key, held] : lost) {
    held->watch(now);
    if (held->reason() != LossReason::none) held->tell();
  }
  return next;
}

Instant Heartbeats::renew() {
  const Due due = most_pressing(clock_->now());
  if (!due.held) return due.next;
  const auto renewal = due.held->try_renewal(clock_->now());
  if (!renewal) return Instant::min();
  const auto answer =
      at_boundary([&] { return store_.renew(renewal->lease, renewal->ttl, renewal->deadline); });
  due.held->renewed(answer, clock_->now());
  static_cast<void>(due.held->give_turn_back());
  // The watcher tells what the answer means: a loss at once, a later end otherwise.
  if (!answer) wake();
  return Instant::min();
}

Heartbeats::Due Heartbeats::most_pressing(Instant now) {
  Due due;
  Instant first_end = Instant::max();
  const std::lock_guard lock(mutex_);
  for (const auto& [key, held] : leases_) {
    const Beat beat = held->beat(now);
    if (beat.kind == Beat::Kind::sleep) {
      due.next = std::min(due.next, beat.until);
    } else if (beat.kind == Beat::Kind::renew && (!due.held || beat.until < first_end)) {
      first_end = beat.until;
      due.held = held;
    }
  }
  return due;
}

}  // namespace wallock::detail
