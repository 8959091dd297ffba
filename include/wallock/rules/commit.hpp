// The rule of commits: may this token write, and what becomes of its lease.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "wallock/audit.hpp"
#include "wallock/options.hpp"
#include "wallock/rules/breaker_row.hpp"
#include "wallock/rules/fencing.hpp"
#include "wallock/rules/state.hpp"

namespace wallock::rules {

struct CommitCommand {
  ResourceName resource;
  FencingToken token;
  HolderId holder;
  InstanceId instance{};
  AfterCommit after = AfterCommit::nothing;
  Duration ttl{};             // for keep
  std::uint64_t actions = 1;  // records that the commit appends before the entries below
};

struct CommitDecision {
  // For keep: the holder's next token and its end.
  std::optional<FencingToken> next_token = {};
  Instant expires_at{};
  Change change;  // entries: what follows the action records (the release, the next grant)
};

namespace detail {

inline CommitDecision commit_and_release(const ResourceState& state, const CommitCommand& command) {
  return CommitDecision{.change = Change{ended(spent(state, command.token)),
                                         {token_entry(RecordKind::lease_released, command.resource,
                                                      command.token, command.holder.str())}}};
}

// The grant record follows the action records, so that is where its token lies.
inline Result<CommitDecision> commit_and_keep(const ResourceState& state,
                                              const CommitCommand& command, const Moment& at) {
  const auto token = next_token(state, command.resource, at, command.actions);
  if (!token) return fail(token.error());
  const Instant until = saturating_add(at.now, command.ttl);
  ResourceState next = granted(spent(state, command.token), *token,
                               Tenure{.holder = command.holder,
                                      .instance = command.instance,
                                      .granted_at = at.now,
                                      .expires_at = until});
  return CommitDecision{.next_token = *token,
                        .expires_at = until,
                        .change = Change{std::move(next),
                                         {LedgerEntry{.kind = RecordKind::lease_granted,
                                                      .resource = command.resource,
                                                      .token = *token,
                                                      .until = until,
                                                      .actor = command.holder.str()}}}};
}

}  // namespace detail

// The governing equation: ALLOW iff token > fence and the breaker is CLOSED. stale_token,
// unknown_token, breaker_open, breaker_illegal; with keep also invalid_token when the number line
// is used up, invariant_violated if it went back. An expired holder whom nobody superseded may
// commit; the fence decides, not the clock.
[[nodiscard]] inline Result<CommitDecision> decide_commit(const ResourceState& state,
                                                          const CommitCommand& command,
                                                          const Moment& at) {
  if (auto known = check_issued(state, command.resource, command.token); !known) {
    return fail(known.error());
  }
  if (auto closed = check_closed(state, command.resource, at); !closed) {
    return fail(closed.error());
  }
  const FencingToken highest = fence(state, at);
  if (command.token <= highest) {
    return fail(token_error(Errc::stale_token, command.resource, command.token, highest));
  }
  // The number is the resource's latest token, but was it granted to this holder? A lease of
  // another store, or one that was made up, must not write under it.
  if (state.tenure &&
      (state.tenure->instance != command.instance || state.tenure->holder != command.holder)) {
    return fail(token_error(Errc::unknown_token, command.resource, command.token, highest));
  }
  switch (command.after) {
    case AfterCommit::keep:
      return detail::commit_and_keep(state, command, at);
    case AfterCommit::release:
      return detail::commit_and_release(state, command);
    case AfterCommit::nothing:
      break;
  }
  return CommitDecision{.change = Change{spent(state, command.token)}};
}

// For a commit with keep that is answered as a replay: the tenure it kept if that is still the one
// it granted, by the record right behind its last action, to this holder and instance, and alive;
// else null. So a holder that never saw its first answer goes on under the token it was given.
[[nodiscard]] inline const Tenure* kept_tenure(const ResourceState& state,
                                               std::uint64_t last_action, const HolderId& holder,
                                               InstanceId instance, const Moment& at) {
  const Tenure* const tenure = live_tenure(state, at);
  if (tenure == nullptr) return nullptr;
  const bool kept = state.issued > fence(state, at) && state.issued.position() == last_action + 1 &&
                    tenure->holder == holder && tenure->instance == instance;
  return kept ? tenure : nullptr;
}

}  // namespace wallock::rules
