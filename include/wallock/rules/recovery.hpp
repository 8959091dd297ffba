// The rules of recovery: the one probe of an OPEN breaker, and what its verdict does.
#pragma once

#include <string>
#include <utility>

#include "wallock/audit.hpp"
#include "wallock/breaker.hpp"
#include "wallock/rules/breaker_row.hpp"
#include "wallock/rules/fencing.hpp"
#include "wallock/rules/state.hpp"
#include "wallock/utf8.hpp"

namespace wallock::rules {

struct BeginRecoveryCommand {
  ResourceName resource;
  HolderId holder;
  InstanceId instance{};
  Duration ttl{};
};

struct ProbeDecision {
  ProbeGrant grant;
  Change change;
};

struct CompleteRecoveryCommand {
  ResourceName resource;
  FencingToken token;
  RecoveryVerdict verdict;
  std::string actor = {};
};

// Closing wants evidence: 1 to 1024 bytes of UTF-8 without a NUL. A failed probe may go without.
// invalid_evidence.
[[nodiscard]] inline Status check_evidence(const RecoveryVerdict& verdict) {
  const std::string& evidence = verdict.evidence;
  if ((verdict.recovered && evidence.empty()) || evidence.size() > max_detail_bytes ||
      has_nul(evidence) || !is_valid_utf8(evidence)) {
    return fail(invalid(Errc::invalid_evidence, "evidence", max_detail_bytes));
  }
  return {};
}

namespace detail {

// Allows a probe of the row as it stands now.
inline Status check_probe_allowed(const BreakerRow& row, const ResourceName& resource,
                                  const Moment& at) {
  ErrorFacts facts{.resource = resource.str()};
  if (row.state == BreakerState::closed) return fail(Error(Errc::breaker_not_open, facts));
  if (row.forced) return fail(breaker_open_error(row, resource, at));
  if (row.probe) {
    facts.holder = row.probe->holder.str();
    facts.retry_at = row.probe->expires_at;
    return fail(Error(Errc::lease_held, facts));
  }
  const Instant due = probe_due(row, at);
  facts.retry_at = due;
  if (at.now < due) return fail(Error(Errc::recovery_not_due, facts));
  return {};
}

// OPEN -> PROBING. The probe's token is the latest issued and fenced from the start, so that no
// commit can ever pass under it.
inline ResourceState probing(ResourceState state, BreakerRow row, const ProbeGrant& grant,
                             const Moment& at) {
  row.state = BreakerState::probing;
  row.since = at.now;
  row.epoch = at.epoch;
  row.probe = grant;
  state.issued = grant.token;
  state.breaker = std::move(row);
  return ended(std::move(state));
}

// PROBING -> CLOSED: all counts start again, save the generation.
inline BreakerRow recovered(const BreakerRow& row, const Moment& at) {
  return BreakerRow{.generation = row.generation, .since = at.now, .epoch = at.epoch};
}

}  // namespace detail

// Grants the one probe. breaker_not_open while CLOSED, breaker_open while forced (field "forced"),
// recovery_not_due before its time, lease_held while another probe lives, breaker_illegal;
// invalid_token when the number line is used up, invariant_violated if it went back.
[[nodiscard]] inline Result<ProbeDecision> decide_begin_recovery(
    const ResourceState& state, const BeginRecoveryCommand& command, const BreakerPolicy& policy,
    const Moment& at) {
  const BreakerRow* const stored = legal_breaker(state);
  if (stored == nullptr) return fail(breaker_illegal_error(command.resource));
  BreakerRow row = effective(*stored, policy, at);
  if (auto allowed = detail::check_probe_allowed(row, command.resource, at); !allowed) {
    return fail(allowed.error());
  }
  auto entries = fall_back_entries(*stored, row, command.resource);
  const auto token = next_token(state, command.resource, at, entries.size());
  if (!token) return fail(token.error());
  const ProbeGrant grant{*token, command.holder, command.instance,
                         saturating_add(at.now, command.ttl)};
  entries.push_back(LedgerEntry{.kind = RecordKind::probe_granted,
                                .resource = command.resource,
                                .token = grant.token,
                                .until = grant.expires_at,
                                .actor = command.holder.str()});
  return ProbeDecision{
      grant, Change{detail::probing(state, std::move(row), grant, at), std::move(entries)}};
}

// Closes the breaker, or falls back to OPEN with a longer interval. invalid_evidence, probe_lost
// if the probe is not the row's own or its time ran out, breaker_illegal.
[[nodiscard]] inline Result<Change> decide_complete_recovery(const ResourceState& state,
                                                             const CompleteRecoveryCommand& command,
                                                             const BreakerPolicy& policy,
                                                             const Moment& at) {
  const RecoveryVerdict& verdict = command.verdict;
  if (auto ok = check_evidence(verdict); !ok) return fail(ok.error());
  const BreakerRow* const row = legal_breaker(state);
  if (row == nullptr) return fail(breaker_illegal_error(command.resource));
  const ProbeGrant* const probe = live_probe(*row, at);
  if (probe == nullptr || probe->token != command.token) {
    return fail(token_error(Errc::probe_lost, command.resource, command.token, state.max_fence));
  }
  Change change{state};
  change.next.breaker =
      verdict.recovered ? detail::recovered(*row, at) : fallen_back(*row, policy, at.now, at.epoch);
  const auto kind = verdict.recovered ? RecordKind::breaker_recovered : RecordKind::probe_failed;
  change.entries.push_back(
      token_entry(kind, command.resource, command.token, command.actor, verdict.evidence));
  return change;
}

}  // namespace wallock::rules
