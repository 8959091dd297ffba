// The breaker's rules: what a report, a probe or an operator does to the row, and what the row
// means at a moment.
#pragma once

#include <string>

#include "wallock/breaker.hpp"
#include "wallock/rules/state.hpp"

namespace wallock::rules {

// The interval after `failed_probes` failures: first * 2^failed, at most max. Never overflows.
[[nodiscard]] Duration open_interval(const BreakerPolicy& policy, std::uint32_t failed_probes);

// When an OPEN row may be probed. A row of an earlier epoch counts from the start of this boot: its
// own `since` is meaningless now, and OPEN is never shortened.
[[nodiscard]] Instant probe_due(const BreakerRow& row, const Moment& at);

// The row as it stands now: a probe whose time ran out, or that belongs to an earlier epoch, has
// fallen back to OPEN with a longer interval.
[[nodiscard]] BreakerRow effective(const BreakerRow& row, const BreakerPolicy& policy,
                                   const Moment& at);

// Allows ordinary work: breaker_illegal if the row is missing or illegal, breaker_open unless
// CLOSED.
[[nodiscard]] Status check_closed(const ResourceState& state, const ResourceName& resource,
                                  const Moment& at);

struct ReportCommand {
  ResourceName resource;
  FencingToken token;
  DownstreamOutcome outcome = DownstreamOutcome::success;
  std::string actor = {};
};

struct ReportDecision {
  ReportEffect effect = ReportEffect::none;
  Change change;  // nothing to store if it has no entries
};

// The N-th consecutive timeout trips; a success clears; a token at or below the fence is late.
// unknown_token, breaker_illegal.
[[nodiscard]] Result<ReportDecision> decide_report(const ResourceState& state,
                                                   const ReportCommand& command,
                                                   const BreakerPolicy& policy, const Moment& at);

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

// Grants the one probe. breaker_not_open while CLOSED, breaker_open while forced (field "forced"),
// recovery_not_due before its time, lease_held while another probe lives, breaker_illegal.
[[nodiscard]] Result<ProbeDecision> decide_begin_recovery(const ResourceState& state,
                                                          const BeginRecoveryCommand& command,
                                                          const BreakerPolicy& policy,
                                                          const Moment& at);

struct CompleteRecoveryCommand {
  ResourceName resource;
  FencingToken token;
  RecoveryVerdict verdict;
  std::string actor = {};
};

// Closes the breaker, or falls back to OPEN with a longer interval. invalid_evidence, probe_lost,
// breaker_illegal.
[[nodiscard]] Result<Change> decide_complete_recovery(const ResourceState& state,
                                                      const CompleteRecoveryCommand& command,
                                                      const BreakerPolicy& policy,
                                                      const Moment& at);

// Opens the breaker until decide_clear_forced, whatever it was; works on a missing or illegal row
// too. Changes nothing if it is forced already.
[[nodiscard]] Change decide_force_open(const ResourceState& state, const ResourceName& resource,
                                       const std::string& reason, const BreakerPolicy& policy,
                                       const Moment& at);

// Ends the force; the breaker stays OPEN and wants explicit recovery. Changes nothing if it was not
// forced. breaker_illegal.
[[nodiscard]] Result<Change> decide_clear_forced(const ResourceState& state,
                                                 const ResourceName& resource, const Moment& at);

}  // namespace wallock::rules
