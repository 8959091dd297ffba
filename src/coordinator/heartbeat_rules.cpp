#include "coordinator/heartbeat_rules.hpp"

#include <algorithm>

namespace wallock::detail {
namespace {

using std::chrono::milliseconds;

Beat lost(LossReason reason) noexcept { return {.kind = Beat::Kind::lost, .reason = reason}; }

Instant renewal_due(const Pulse& pulse) noexcept {
  if (!pulse.heartbeat || pulse.asking) return Instant::max();
  if (pulse.refusal) return saturating_add(pulse.refusal->at, retry_pause(pulse.ttl));
  return saturating_add(pulse.lease.requested_at(), pulse.ttl / 3);
}

// The refusal that no later answer will take back; null if there is none.
const Refusal* final_refusal(const Pulse& pulse) noexcept {
  if (!pulse.refusal) return nullptr;
  const Refusal& refusal = *pulse.refusal;
  return is_final(refusal.code) ? &refusal : nullptr;
}

LossReason reason_of_silence(const Pulse& pulse) noexcept {
  return pulse.refusal || pulse.asking ? LossReason::store_unavailable : LossReason::expired;
}

}  // namespace

Duration margin_of(std::optional<Duration> given, Duration ttl) noexcept {
  return given ? std::min(*given, ttl / 2) : ttl / 10;
}

Instant lost_at(const Pulse& pulse) noexcept {
  return saturating_add(pulse.lease.safe_until(), -pulse.margin);
}

Duration head_start(Duration ttl) noexcept { return ttl / 10; }

Duration retry_pause(Duration ttl) noexcept {
  return std::clamp<Duration>(ttl / 50, milliseconds(1), milliseconds(250));
}

Duration attempt_patience(Duration ttl) noexcept {
  return std::clamp<Duration>(ttl / 10, milliseconds(10), milliseconds(250));
}

Duration look_after(Duration left) noexcept {
  if (left == Duration::max()) return left;
  return std::clamp<Duration>(left / 8, milliseconds(100), std::chrono::seconds(1));
}

Refusal to_refusal(const Error& error, Instant at) noexcept {
  return {.code = error.code(), .fence = error.facts().fence, .at = at};
}

bool is_final(Errc code) noexcept { return error_class(code) != ErrorClass::transient; }

LossReason loss_reason(const Refusal& refusal, const Lease& lease) noexcept {
  switch (refusal.code) {
    case Errc::forked_handle:
      return LossReason::forked;
    case Errc::lease_expired:
      return LossReason::expired;
    case Errc::lease_lost:
    case Errc::stale_token: {
      // A fence at the token tells nothing: so it is after a revocation, and after a grant that
      // followed in the ledger's next row. That takes an expired lease.
      const bool above = refusal.fence && *refusal.fence > lease.token();
      return above || refusal.at >= lease.expires_at() ? LossReason::superseded
                                                       : LossReason::revoked;
    }
    case Errc::breaker_open:
    case Errc::breaker_illegal:
      return LossReason::revoked;
    default:
      return LossReason::store_unavailable;
  }
}

// The pause after a failure is not cut short.
Agenda agenda_of(const Pulse& pulse) noexcept {
  if (final_refusal(pulse) != nullptr) return {.loss = Instant::min()};
  const Instant renewal = renewal_due(pulse);
  const bool may_be_early = !pulse.refusal && renewal != Instant::max();
  return {.loss = std::min(lost_at(pulse), pulse.hold_until),
          .renewal = renewal,
          .head_start = may_be_early ? head_start(pulse.ttl) : Duration::zero(),
          .patience = attempt_patience(pulse.ttl)};
}

Beat decide_beat(const Pulse& pulse, Instant now, Company company) noexcept {
  if (const Refusal* const refusal = final_refusal(pulse)) {
    return lost(loss_reason(*refusal, pulse.lease));
  }
  const Instant end = lost_at(pulse);
  const auto [loss, renewal, start, patience] = agenda_of(pulse);
  if (now >= loss) {
    return lost(pulse.hold_until <= end ? LossReason::max_hold : reason_of_silence(pulse));
  }
  const Instant due = company == Company::others ? saturating_add(renewal, -start) : renewal;
  if (now >= due) {
    return {.kind = Beat::Kind::renew, .until = std::min(end, saturating_add(now, patience))};
  }
  return {.kind = Beat::Kind::sleep, .until = std::min(due, loss)};
}

}  // namespace wallock::detail
