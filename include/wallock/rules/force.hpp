// The rules of force: an operator holds the breaker open, and lets go of it.
#pragma once

#include <string>
#include <utility>

#include "wallock/audit.hpp"
#include "wallock/breaker.hpp"
#include "wallock/rules/breaker_row.hpp"
#include "wallock/rules/fencing.hpp"
#include "wallock/rules/state.hpp"

namespace wallock::rules {

namespace detail {

// Any legal row -> OPEN and forced. A probe is cut off; an OPEN row keeps its interval.
inline BreakerRow forced(BreakerRow row, const BreakerPolicy& policy, const Moment& at) {
  if (row.state == BreakerState::closed) {
    row = tripped(row, policy, at);
  } else if (row.state == BreakerState::probing) {
    row.state = BreakerState::open;
    row.since = at.now;
    row.epoch = at.epoch;
    row.probe.reset();
  }
  row.forced = true;
  return row;
}

}  // namespace detail

// Opens the breaker until decide_clear_forced, whatever it was; works on a missing or illegal row
// too. Ends the lease and fences its token. Changes nothing if it is forced already.
[[nodiscard]] inline Change decide_force_open(const ResourceState& state,
                                              const ResourceName& resource,
                                              const std::string& reason,
                                              const BreakerPolicy& policy, const Moment& at) {
  Change change{ended(state)};
  BreakerRow row{.generation = state.breaker ? state.breaker->generation : 0};
  if (const BreakerRow* const stored = legal_breaker(state)) {
    if (stored->forced) return Change{state};
    row = effective(*stored, policy, at);
    change.entries = fall_back_entries(*stored, row, resource);
  }
  change.next.breaker = detail::forced(std::move(row), policy, at);
  change.entries.push_back(
      token_entry(RecordKind::forced_open, resource, state.issued, {}, reason));
  return change;
}

// Ends the force; the breaker stays OPEN and wants explicit recovery. Changes nothing if it was not
// forced. breaker_illegal.
[[nodiscard]] inline Result<Change> decide_clear_forced(const ResourceState& state,
                                                        const ResourceName& resource,
                                                        const Moment& /*at*/) {
  const BreakerRow* const stored = legal_breaker(state);
  if (stored == nullptr) return fail(breaker_illegal_error(resource));
  Change change{state};
  if (!stored->forced) return change;
  BreakerRow row = *stored;
  row.forced = false;
  change.next.breaker = std::move(row);
  change.entries.push_back(token_entry(RecordKind::forced_cleared, resource, state.issued, {}));
  return change;
}

}  // namespace wallock::rules
