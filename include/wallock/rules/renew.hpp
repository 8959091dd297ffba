// The rule of renewals: a living lease may be prolonged, a dead one is never revived.
#pragma once

#include <utility>

#include "wallock/audit.hpp"
#include "wallock/rules/breaker_row.hpp"
#include "wallock/rules/fencing.hpp"
#include "wallock/rules/state.hpp"

namespace wallock::rules {

struct RenewCommand {
  ResourceName resource;
  FencingToken token;
  InstanceId instance{};
  Duration ttl{};
};

struct Renewal {
  Instant expires_at;
  Change change;
};

namespace detail {

// True if the token's tenure has not been ended or superseded; it may have expired.
inline bool has_tenure(const ResourceState& state, FencingToken token, InstanceId instance) {
  return state.tenure && state.issued == token && state.tenure->instance == instance;
}

}  // namespace detail

// Moves the end of a living lease to now + ttl. Never revives: lease_expired after the end even if
// nobody took it, lease_lost once superseded, released or revoked; unknown_token, breaker_illegal,
// breaker_open.
[[nodiscard]] inline Result<Renewal> decide_renew(const ResourceState& state,
                                                  const RenewCommand& command, const Moment& at) {
  const auto refuse = [&](Errc code) {
    return fail(token_error(code, command.resource, command.token, fence(state, at)));
  };
  if (auto known = check_issued(state, command.resource, command.token); !known) {
    return fail(known.error());
  }
  if (auto legal = check_legal(state, command.resource); !legal) return fail(legal.error());
  if (!detail::has_tenure(state, command.token, command.instance)) return refuse(Errc::lease_lost);
  if (!is_live(state, at)) return refuse(Errc::lease_expired);
  if (auto closed = check_closed(state, command.resource, at); !closed) {
    return fail(closed.error());
  }
  Renewal renewal{saturating_add(at.now, command.ttl), Change{state}};
  renewal.change.next.tenure->expires_at = renewal.expires_at;
  renewal.change.entries.push_back(LedgerEntry{.kind = RecordKind::lease_renewed,
                                               .resource = command.resource,
                                               .token = command.token,
                                               .until = renewal.expires_at,
                                               .actor = state.tenure->holder.str()});
  return renewal;
}

}  // namespace wallock::rules
