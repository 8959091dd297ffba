// The rules of ending a lease: by its holder, or by somebody else.
#pragma once

#include <string>

#include "wallock/audit.hpp"
#include "wallock/lease.hpp"
#include "wallock/rules/fencing.hpp"
#include "wallock/rules/renew.hpp"
#include "wallock/rules/state.hpp"

namespace wallock::rules {

struct ReleaseCommand {
  ResourceName resource;
  FencingToken token;
  InstanceId instance{};
};

struct ReleaseDecision {
  ReleaseEffect effect = ReleaseEffect::already_ended;
  Change change;  // nothing to store if it has no entries
};

// Ends the lease and fences its token, whatever the breaker says. Only unknown_token is an error:
// releasing what one no longer has is an ordinary answer.
[[nodiscard]] inline Result<ReleaseDecision> decide_release(const ResourceState& state,
                                                            const ReleaseCommand& command,
                                                            const Moment& at) {
  if (auto known = check_issued(state, command.resource, command.token); !known) {
    return fail(known.error());
  }
  const Tenure* const tenure = detail::own_tenure(state, command.token, command.instance);
  if (tenure == nullptr) return ReleaseDecision{ReleaseEffect::already_ended, Change{state}};
  const auto effect = is_live(state, at) ? ReleaseEffect::released : ReleaseEffect::expired;
  return ReleaseDecision{effect, Change{ended(state),
                                        {token_entry(RecordKind::lease_released, command.resource,
                                                     command.token, tenure->holder.str())}}};
}

// Ends somebody else's lease, if it is still the one expected; one whose time is over too, as long
// as nobody took it. lease_lost if the resource has another token by now or no lease.
[[nodiscard]] inline Result<Change> decide_revoke(const ResourceState& state,
                                                  const ResourceName& resource,
                                                  FencingToken expected, const std::string& reason,
                                                  const Moment& at) {
  if (!state.tenure || state.issued != expected) {
    return fail(token_error(Errc::lease_lost, resource, expected, fence(state, at)));
  }
  return Change{ended(state),
                {token_entry(RecordKind::lease_revoked, resource, expected,
                             state.tenure->holder.str(), reason)}};
}

}  // namespace wallock::rules
