#include "coordinator/held_lease.hpp"

#include <utility>

namespace wallock::detail {
namespace {

// False if it threw: nobody is there to catch that, and the other guards of this thread must not
// suffer from it.
bool told(const std::function<void(LossReason)>& on_lost, LossReason reason) noexcept {
  try {
    on_lost(reason);
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

HeldLease::HeldLease(Lease lease, Duration ttl, GuardOptions options)
    : resource_(lease.resource()),
      margin_(options.margin),
      on_lost_(std::move(options.on_lost)),
      pulse_{.lease = std::move(lease),
             .ttl = ttl,
             .margin = margin_of(margin_, ttl),
             .heartbeat = options.heartbeat} {
  pulse_.hold_until = saturating_add(pulse_.lease.requested_at(), options.max_hold);
}

Lease HeldLease::lease() const {
  const std::lock_guard lock(mutex_);
  return pulse_.lease;
}

LossReason HeldLease::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

bool HeldLease::alive() const {
  const std::lock_guard lock(mutex_);
  return reason_ == LossReason::none && !ended_;
}

bool HeldLease::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

HeldLease::Next HeldLease::next() const {
  const std::lock_guard lock(mutex_);
  if (ended_ || reason_ != LossReason::none) return {.agenda = {.loss = Instant::min()}};
  return {.agenda = agenda_of(pulse_), .held_up = turn_ != std::thread::id()};
}

bool HeldLease::lose(Instant now) {
  const std::lock_guard lock(mutex_);
  if (ended_ || reason_ != LossReason::none) return false;
  const Beat beat = decide_beat(pulse_, now);
  if (beat.kind != Beat::Kind::lost) return false;
  reason_ = beat.reason;
  return true;
}

bool HeldLease::watch(Instant now) {
  if (!lose(now)) return false;
  lost_.request_stop();
  return true;
}

void HeldLease::tell() {
  // Another thread may have lost it and be on its way to this: the token comes first.
  lost_.request_stop();
  LossReason reason = LossReason::none;
  {
    std::function<void(LossReason)> on_lost;
    {
      const std::lock_guard lock(mutex_);
      if (!on_lost_) return;
      on_lost = std::exchange(on_lost_, nullptr);
      telling_ = std::this_thread::get_id();
      reason = reason_;
    }
    static_cast<void>(told(on_lost, reason));
  }
  {
    const std::lock_guard lock(mutex_);
    telling_ = std::thread::id();
  }
  changed_.notify_all();
}

void HeldLease::stop() {
  std::function<void(LossReason)> on_lost;  // destroyed without the lock
  std::unique_lock lock(mutex_);
  pulse_.heartbeat = false;
  on_lost = std::exchange(on_lost_, nullptr);
  const std::thread::id own = std::this_thread::get_id();
  changed_.wait(lock, [&] { return telling_ == std::thread::id() || telling_ == own; });
  lock.unlock();
}

Status HeldLease::take_turn(Duration patience) {
  std::unique_lock lock(mutex_);
  if (turn_ == std::this_thread::get_id()) return fail(Errc::called_inside_work);
  const auto is_free = [this] { return turn_ == std::thread::id(); };
  if (!changed_.wait_for(lock, patience, is_free)) return fail(Errc::busy);
  turn_ = std::this_thread::get_id();
  return {};
}

std::optional<HeldLease::Renewal> HeldLease::try_renewal(Instant now, Company company) {
  const std::lock_guard lock(mutex_);
  if (ended_ || reason_ != LossReason::none) return std::nullopt;
  const Beat beat = decide_beat(pulse_, now, company);
  if (beat.kind != Beat::Kind::renew) return std::nullopt;
  if (turn_ != std::thread::id()) {
    // A commit has the turn: whoever gives it back says so.
    passed_over_ = true;
    return std::nullopt;
  }
  Renewal renewal{.lease = pulse_.lease, .ttl = pulse_.ttl, .deadline = beat.until};
  turn_ = std::this_thread::get_id();
  pulse_.asking = true;
  return renewal;
}

bool HeldLease::give_turn_back() {
  bool passed_over = false;
  {
    const std::lock_guard lock(mutex_);
    turn_ = std::thread::id();
    pulse_.asking = false;
    passed_over = std::exchange(passed_over_, false);
  }
  changed_.notify_all();
  return passed_over;
}

void HeldLease::renewed(const Result<Lease>& answer, Instant now) noexcept {
  if (!answer) return refused(answer.error(), now);
  const std::lock_guard lock(mutex_);
  pulse_.asking = false;
  adopt(*answer);
}

void HeldLease::refused(const Error& error, Instant now) noexcept {
  const std::lock_guard lock(mutex_);
  pulse_.asking = false;
  pulse_.refusal = to_refusal(error, now);
}

void HeldLease::committed(const Result<Committed>& answer, AfterCommit after, Instant now) {
  const std::lock_guard lock(mutex_);
  if (answer) {
    if (const auto& kept = answer->lease()) {
      adopt(*kept);
      pulse_.ttl = pulse_.lease.ttl();
      pulse_.margin = margin_of(margin_, pulse_.ttl);
    }
    ended_ = ended_ || (after == AfterCommit::release && !answer->replayed());
    return;
  }
  switch (answer.error().code()) {
    case Errc::stale_token:
    case Errc::lease_lost:
    case Errc::lease_expired:
    case Errc::breaker_open:
    case Errc::breaker_illegal:
      pulse_.refusal = to_refusal(answer.error(), now);
      break;
    default:
      break;  // says nothing about the lease
  }
}

void HeldLease::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
}

// The names stay the same, so that the copy finds its room and nothing is allocated.
void HeldLease::adopt(const Lease& lease) {
  pulse_.lease = lease;
  pulse_.refusal.reset();
}

}  // namespace wallock::detail
