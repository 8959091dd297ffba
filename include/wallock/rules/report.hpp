// The rule of reports: what the downstream's answer does to the breaker.
#pragma once

#include <string>
#include <utility>

#include "wallock/breaker.hpp"
#include "wallock/rules/breaker_row.hpp"
#include "wallock/rules/fencing.hpp"
#include "wallock/rules/state.hpp"

namespace wallock::rules {

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

namespace detail {

inline ReportDecision reported(ReportEffect effect, RecordKind kind, ResourceState next,
                               const ReportCommand& command) {
  return ReportDecision{
      effect,
      Change{std::move(next), {token_entry(kind, command.resource, command.token, command.actor)}}};
}

// A report on work that no longer counts: recorded, and the resource stays as it is.
inline ReportDecision report_late(const ResourceState& state, const ReportCommand& command) {
  return reported(ReportEffect::late, RecordKind::outcome_late, state, command);
}

inline ReportDecision report_success(const ResourceState& state, BreakerRow row,
                                     const ReportCommand& command) {
  if (row.timeouts == 0) return {ReportEffect::none, Change{state}};
  row.timeouts = 0;
  ResourceState next = state;
  next.breaker = std::move(row);
  return reported(ReportEffect::cleared, RecordKind::timeouts_cleared, std::move(next), command);
}

inline ReportDecision report_timeout(const ResourceState& state, BreakerRow row,
                                     const ReportCommand& command, const BreakerPolicy& policy,
                                     const Moment& at) {
  ResourceState next = state;
  row.timeouts = saturating_increment(row.timeouts);
  if (row.timeouts < policy.trip_after) {
    next.breaker = std::move(row);
    return reported(ReportEffect::counted, RecordKind::timeout_reported, std::move(next), command);
  }
  next = ended(std::move(next));
  next.breaker = tripped(row, policy, at);
  return reported(ReportEffect::tripped, RecordKind::breaker_tripped, std::move(next), command);
}

}  // namespace detail

// The N-th consecutive timeout trips, ends the lease and fences its token; a success clears; a
// failure or a cancellation is neutral; a token at or below the fence, or any while the breaker is
// not CLOSED, is late. unknown_token, breaker_illegal.
[[nodiscard]] inline Result<ReportDecision> decide_report(const ResourceState& state,
                                                          const ReportCommand& command,
                                                          const BreakerPolicy& policy,
                                                          const Moment& at) {
  if (auto known = check_issued(state, command.resource, command.token); !known) {
    return fail(known.error());
  }
  const BreakerRow* const row = legal_breaker(state);
  if (row == nullptr) return fail(breaker_illegal_error(command.resource));
  if (command.token <= fence(state, at) || row->state != BreakerState::closed) {
    return detail::report_late(state, command);
  }
  switch (command.outcome) {
    case DownstreamOutcome::success:
      return detail::report_success(state, *row, command);
    case DownstreamOutcome::timeout:
      return detail::report_timeout(state, *row, command, policy, at);
    case DownstreamOutcome::failure:
    case DownstreamOutcome::cancelled:
      break;
  }
  return ReportDecision{ReportEffect::none, Change{state}};
}

}  // namespace wallock::rules
