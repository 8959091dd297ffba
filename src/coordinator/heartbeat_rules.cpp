#include "coordinator/heartbeat_rules.hpp"

#include <algorithm>

namespace wallock::detail {
namespace {

using std::chrono::milliseconds;

Beat lost(LossReason reason) noexcept { return {.kind = Beat::Kind::lost, .reason = reason}; }

// When the next renewal is due; never without a heartbeat or while one is under way.
Instant renewal_due(const Pulse& pulse) noexcept {
  if (!pulse.heartbeat || pulse.asking) return Instant::max();
  if (pulse.refusal) return saturating_add(pulse.refusal->at, retry_pause(pulse.ttl));
  return saturating_add(pulse.lease.requested_at(), pulse.ttl / 3);
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

Duration retry_pause(Duration ttl) noexcept {
  return std::clamp<Duration>(ttl / 50, milliseconds(1), milliseconds(250));
}

Duration attempt_patience(Duration ttl) noexcept {
  return std::clamp<Duration>(ttl / 10, milliseconds(10), milliseconds(250));
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

Beat decide_beat(const Pulse& pulse, Instant now) noexcept {
  if (pulse.refusal && is_final(pulse.refusal->code)) {
    return lost(loss_reason(*pulse.refusal, pulse.lease));
  }
  const Instant end = lost_at(pulse);
  if (now >= std::min(end, pulse.hold_until)) {
    return lost(pulse.hold_until <= end ? LossReason::max_hold : reason_of_silence(pulse));
  }
  const Instant due = renewal_due(pulse);
  if (now >= due) {
    const Instant patience = saturating_add(now, attempt_patience(pulse.ttl));
    return {.kind = Beat::Kind::renew, .until = std::min(end, patience)};
  }
  return {.kind = Beat::Kind::sleep, .until = std::min({due, end, pulse.hold_until})};
}

}  // namespace wallock::detail
