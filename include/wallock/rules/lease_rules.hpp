// The lease rules: who may acquire, renew, commit and release. docs/leases.md tells them in prose.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "wallock/options.hpp"
#include "wallock/rules/breaker_rules.hpp"
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
};

struct Grant {
  FencingToken token;
  Instant granted_at;
  Instant expires_at;
  bool adopted = false;  // an earlier grant of the same request: nothing to store
  Change change;
};

// Grants the resource under the next token, or answers with the lease that the same request was
// granted before. breaker_illegal, breaker_open, action_conflict, request_spent, already_held,
// lease_held; invalid_token when the number line is used up.
[[nodiscard]] Result<Grant> decide_acquire(const ResourceState& state,
                                           const AcquireCommand& command,
                                           const std::optional<PriorRequest>& prior,
                                           const Moment& at);

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

// Moves the end of a living lease to now + ttl. Never revives: lease_expired after the end even if
// nobody took it, lease_lost once superseded, released or revoked; unknown_token, breaker_illegal,
// breaker_open.
[[nodiscard]] Result<Renewal> decide_renew(const ResourceState& state, const RenewCommand& command,
                                           const Moment& at);

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

// The governing equation: ALLOW iff token > fence and the breaker is CLOSED. stale_token,
// unknown_token, breaker_open, breaker_illegal. An expired holder whom nobody superseded may
// commit; the fence decides, not the clock.
[[nodiscard]] Result<CommitDecision> decide_commit(const ResourceState& state,
                                                   const CommitCommand& command, const Moment& at);

struct ReleaseCommand {
  ResourceName resource;
  FencingToken token;
  InstanceId instance{};
};

struct ReleaseDecision {
  ReleaseEffect effect = ReleaseEffect::already_ended;
  Change change;  // nothing to store if it has no entries
};

// Ends the lease and fences its token. Only unknown_token is an error: releasing what one no
// longer has is an ordinary answer.
[[nodiscard]] Result<ReleaseDecision> decide_release(const ResourceState& state,
                                                     const ReleaseCommand& command,
                                                     const Moment& at);

// Ends somebody else's lease, if it is still the one expected. lease_lost if the resource has
// another token by now or no lease.
[[nodiscard]] Result<Change> decide_revoke(const ResourceState& state, const ResourceName& resource,
                                           FencingToken expected, const std::string& reason,
                                           const Moment& at);

}  // namespace wallock::rules
