// The rule of renewals: a living lease may be prolonged, a dead one is never revived.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wallock/audit.hpp"
#include "wallock/digest.hpp"
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

// The token's tenure if it has not been ended or superseded, else null; it may have expired. It is
// the state's own.
inline const Tenure* own_tenure(const ResourceState& state, FencingToken token,
                                InstanceId instance) {
  if (!state.tenure) return nullptr;
  const Tenure& tenure = *state.tenure;
  return state.issued == token && tenure.instance == instance ? &tenure : nullptr;
}

inline ResourceState prolonged(ResourceState state, Instant until) {
  if (state.tenure) state.tenure->expires_at = until;
  return state;
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
  const Tenure* const tenure = detail::own_tenure(state, command.token, command.instance);
  if (tenure == nullptr) return refuse(Errc::lease_lost);
  if (!is_live(state, at)) return refuse(Errc::lease_expired);
  if (auto closed = check_closed(state, command.resource, at); !closed) {
    return fail(closed.error());
  }
  const Instant until = saturating_add(at.now, command.ttl);
  Renewal renewal{until, Change{detail::prolonged(state, until)}};
  renewal.change.entries.push_back(LedgerEntry{.kind = RecordKind::lease_renewed,
                                               .resource = command.resource,
                                               .token = command.token,
                                               .until = until,
                                               .actor = tenure->holder.str()});
  return renewal;
}

// What several renewals of one transaction record together instead of one by one: the text that
// their common record has the SHA-256 of. A line for each, in the order of their tokens:
//     <token> <until> <resource>\n
// Both numbers are decimal, the token's value and the nanoseconds of the boot clock. No name holds
// the end of a line. `renewals` are the records that decide_renew gave, each of a lease of its own.
[[nodiscard]] inline std::string renewal_list(std::span<const LedgerEntry> renewals) {
  std::vector<const LedgerEntry*> order;
  order.reserve(renewals.size());
  for (const LedgerEntry& renewal : renewals)
    order.push_back(&renewal);
  std::ranges::sort(order, {}, [](const LedgerEntry* entry) { return entry->token; });
  std::string text;
  for (const LedgerEntry* const entry : order) {
    text += std::to_string(entry->token.value());
    text += ' ';
    text += std::to_string(entry->until.value_or(Instant()).time_since_epoch().count());
    text += ' ';
    if (entry->resource) text += entry->resource->str();
    text += '\n';
  }
  return text;
}

// The one record of two or more renewals in a transaction: of no resource and under no token, with
// the last of their ends, their number and the SHA-256 of their list.
[[nodiscard]] inline LedgerEntry shared_renewal(std::span<const LedgerEntry> renewals,
                                                const Digest& list) {
  LedgerEntry shared{
      .kind = RecordKind::lease_renewed,
      .detail = "count=" + std::to_string(renewals.size()) + " sha256=" + to_string(list)};
  for (const LedgerEntry& renewal : renewals)
    shared.until = std::max(shared.until, renewal.until);
  return shared;
}

}  // namespace wallock::rules
