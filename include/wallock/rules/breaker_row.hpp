// The breaker's row, read at a moment: what it means now, and what it becomes.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "wallock/breaker.hpp"
#include "wallock/rules/fencing.hpp"
#include "wallock/rules/growth.hpp"
#include "wallock/rules/state.hpp"

namespace wallock::rules {

// The interval after `failed_probes` failures: first * 2^failed, at most max. Never overflows.
[[nodiscard]] inline Duration open_interval(const BreakerPolicy& policy,
                                            std::uint32_t failed_probes) {
  return doubled(policy.first_interval, failed_probes, policy.max_interval);
}

// When an OPEN row may be probed. A row of an earlier epoch counts from the start of this boot: its
// own `since` is meaningless now, and a restart never shortens OPEN.
[[nodiscard]] inline Instant probe_due(const BreakerRow& row, const Moment& at) {
  return saturating_add(row.epoch == at.epoch ? row.since : Instant{}, row.interval);
}

// The row's probe while it may still be completed, else null. It is the row's own.
[[nodiscard]] inline const ProbeGrant* live_probe(const BreakerRow& row, const Moment& at) {
  if (!row.probe) return nullptr;
  const ProbeGrant& probe = *row.probe;
  return row.epoch == at.epoch && at.now < probe.expires_at ? &probe : nullptr;
}

// CLOSED -> OPEN: one more trip.
[[nodiscard]] inline BreakerRow tripped(const BreakerRow& row, const BreakerPolicy& policy,
                                        const Moment& at) {
  return BreakerRow{.state = BreakerState::open,
                    .timeouts = row.timeouts,
                    .generation = saturating_increment(row.generation),
                    .interval = open_interval(policy, 0),
                    .since = at.now,
                    .epoch = at.epoch};
}

// PROBING -> OPEN: one more failed probe, a longer interval.
[[nodiscard]] inline BreakerRow fallen_back(BreakerRow row, const BreakerPolicy& policy,
                                            Instant since, std::uint64_t epoch) {
  row.state = BreakerState::open;
  row.failed_probes = saturating_increment(row.failed_probes);
  row.interval = open_interval(policy, row.failed_probes);
  row.since = since;
  row.epoch = epoch;
  row.probe.reset();
  return row;
}

// The row as it stands now: a probe whose time ran out, or that belongs to an earlier epoch, has
// fallen back to OPEN with a longer interval. An illegal row stays as it is.
[[nodiscard]] inline BreakerRow effective(const BreakerRow& row, const BreakerPolicy& policy,
                                          const Moment& at) {
  // Only a row that is probing has a probe, if it is legal.
  if (!is_legal(row) || !row.probe || live_probe(row, at) != nullptr) return row;
  const Instant ended_at = row.epoch == at.epoch ? row.probe->expires_at : Instant{};
  return fallen_back(row, policy, ended_at, at.epoch);
}

// The record of a fall-back that effective() found and a rule is about to store; empty if there was
// none.
[[nodiscard]] inline std::vector<LedgerEntry> fall_back_entries(const BreakerRow& stored,
                                                                const BreakerRow& now,
                                                                const ResourceName& resource) {
  if (!stored.probe || now.probe) return {};
  return {token_entry(RecordKind::probe_failed, resource, stored.probe->token, {}, "time ran out")};
}

// The breaker's row, or null if it is missing or not legal (INV-05). It is the state's own.
[[nodiscard]] inline const BreakerRow* legal_breaker(const ResourceState& state) {
  if (!state.breaker) return nullptr;
  const BreakerRow& row = *state.breaker;
  return is_legal(row) ? &row : nullptr;
}

[[nodiscard]] inline Error breaker_illegal_error(const ResourceName& resource) {
  return Error(Errc::breaker_illegal, ErrorFacts{.resource = resource.str()});
}

// breaker_illegal (security) if the row is missing or not legal.
[[nodiscard]] inline Status check_legal(const ResourceState& state, const ResourceName& resource) {
  if (legal_breaker(state) != nullptr) return {};
  return fail(breaker_illegal_error(resource));
}

// breaker_open about a row that is not CLOSED: "forced" as the field, or when to ask again.
[[nodiscard]] inline Error breaker_open_error(const BreakerRow& row, const ResourceName& resource,
                                              const Moment& at) {
  ErrorFacts facts{.resource = resource.str()};
  if (row.forced) {
    facts.field = "forced";
  } else if (const ProbeGrant* const probe = live_probe(row, at)) {
    facts.holder = probe->holder.str();
    facts.retry_at = probe->expires_at;
  } else if (row.state == BreakerState::open) {
    facts.retry_at = probe_due(row, at);
  }
  return Error(Errc::breaker_open, std::move(facts));
}

// Allows ordinary work: breaker_illegal if the row is missing or illegal, breaker_open unless
// CLOSED.
[[nodiscard]] inline Status check_closed(const ResourceState& state, const ResourceName& resource,
                                         const Moment& at) {
  const BreakerRow* const row = legal_breaker(state);
  if (row == nullptr) return fail(breaker_illegal_error(resource));
  if (row->state == BreakerState::closed) return {};
  return fail(breaker_open_error(*row, resource, at));
}

}  // namespace wallock::rules
