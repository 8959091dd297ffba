// The rule of acquiring: who is granted a resource, and who is answered with an earlier grant.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wallock/audit.hpp"
#include "wallock/rules/breaker_row.hpp"
#include "wallock/rules/fencing.hpp"
#include "wallock/rules/state.hpp"

namespace wallock::rules {

// What the ledger has under an acquire's action id, if anything.
struct PriorRequest {
  RecordKind kind = RecordKind::lease_granted;
  std::optional<ResourceName> resource = {};
  FencingToken token = {};
  std::string actor = {};
};

struct AcquireCommand {
  ResourceName resource;
  HolderId holder;
  InstanceId instance{};
  Duration ttl{};
  std::optional<ActionId> request = {};
  bool yields = false;  // others were in line before: a free resource is theirs
};

struct Grant {
  FencingToken token;
  Instant granted_at;
  Instant expires_at;
  bool adopted = false;  // an earlier grant of the same request: nothing to store
  Change change;
};

namespace detail {

inline bool same_holder(const Tenure& tenure, const AcquireCommand& command) {
  return tenure.holder == command.holder && tenure.instance == command.instance;
}

// True if the prior record is the grant of this very request, whatever became of it.
inline bool same_request(const PriorRequest& prior, const AcquireCommand& command) {
  return prior.kind == RecordKind::lease_granted && prior.resource == command.resource &&
         prior.actor == command.holder.str();
}

// Answers a repeated request. Another instance never takes over the lease of the one before it,
// even under the same holder id: that one may still be at work.
inline Result<Grant> adopt(const ResourceState& state, const AcquireCommand& command,
                           const PriorRequest& prior, const Moment& at) {
  ErrorFacts facts{.field = "action_id",
                   .action = command.request ? command.request->str() : std::string(),
                   .resource = command.resource.str()};
  if (!same_request(prior, command)) return fail(Error(Errc::action_conflict, std::move(facts)));
  const Tenure* const tenure = live_tenure(state, at);
  if (tenure == nullptr || state.issued != prior.token || tenure->request != command.request ||
      !same_holder(*tenure, command)) {
    return fail(Error(Errc::request_spent, std::move(facts)));
  }
  return Grant{.token = state.issued,
               .granted_at = tenure->granted_at,
               .expires_at = tenure->expires_at,
               .adopted = true,
               .change = Change{state}};
}

// Refuses while a living tenure keeps others out, or its own holder: leases are not re-entrant.
inline Status check_free(const ResourceState& state, const AcquireCommand& command,
                         const Moment& at) {
  const Tenure* const tenure = live_tenure(state, at);
  if (tenure == nullptr) return {};
  const auto code = same_holder(*tenure, command) ? Errc::already_held : Errc::lease_held;
  return fail(Error(code, ErrorFacts{.resource = command.resource.str(),
                                     .holder = tenure->holder.str(),
                                     .instance = tenure->instance,
                                     .retry_at = tenure->expires_at}));
}

// Leaves a free resource to those who were in line before.
inline Status check_turn(const AcquireCommand& command) {
  if (!command.yields) return {};
  return fail(Error(Errc::lease_held, ErrorFacts{.resource = command.resource.str()}));
}

inline Grant grant(const ResourceState& state, const AcquireCommand& command, FencingToken token,
                   const Moment& at) {
  const Instant until = saturating_add(at.now, command.ttl);
  Grant result{.token = token,
               .granted_at = at.now,
               .expires_at = until,
               .change = Change{granted(state, token,
                                        Tenure{.holder = command.holder,
                                               .instance = command.instance,
                                               .granted_at = at.now,
                                               .expires_at = until,
                                               .request = command.request})}};
  result.change.entries.push_back(LedgerEntry{.kind = RecordKind::lease_granted,
                                              .resource = command.resource,
                                              .action_id = command.request,
                                              .token = token,
                                              .until = until,
                                              .actor = command.holder.str()});
  if (state.tenure && state.tenure->cut_short) result.change.entries.back().detail = holder_gone;
  return result;
}

}  // namespace detail

// Grants the resource under the next token, or answers with the lease that the same request was
// granted before. breaker_illegal, breaker_open, action_conflict, request_spent, already_held,
// lease_held (without a holder if the command yields a free resource); invalid_token when the
// number line is used up, invariant_violated if it went back.
[[nodiscard]] inline Result<Grant> decide_acquire(const ResourceState& state,
                                                  const AcquireCommand& command,
                                                  const std::optional<PriorRequest>& prior,
                                                  const Moment& at) {
  if (auto closed = check_closed(state, command.resource, at); !closed) {
    return fail(closed.error());
  }
  if (command.request && prior) return detail::adopt(state, command, *prior, at);
  if (auto free = detail::check_free(state, command, at); !free) return fail(free.error());
  if (auto turn = detail::check_turn(command); !turn) return fail(turn.error());
  const auto token = next_token(state, command.resource, at);
  if (!token) return fail(token.error());
  return detail::grant(state, command, *token, at);
}

// Grants all resources in one transaction, or none: the error is that of the first refusal in
// order. `states[n]` belongs to `commands[n]`; the names differ.
[[nodiscard]] inline Result<std::vector<Grant>> decide_acquire_all(
    std::span<const ResourceState> states, std::span<const AcquireCommand> commands, Moment at) {
  std::vector<Grant> grants;
  grants.reserve(commands.size());
  for (std::size_t n = 0; n < commands.size(); ++n) {
    auto grant = decide_acquire(states[n], commands[n], std::nullopt, at);
    if (!grant) return fail(grant.error());
    at.position += grant->change.entries.size();
    grants.push_back(*std::move(grant));
  }
  return grants;
}

}  // namespace wallock::rules
