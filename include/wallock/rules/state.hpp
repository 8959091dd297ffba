// What every rule reads: a resource as stored, and the moment it is looked at.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "wallock/audit.hpp"
#include "wallock/breaker.hpp"
#include "wallock/lease.hpp"
#include "wallock/name.hpp"
#include "wallock/result.hpp"
#include "wallock/time.hpp"
#include "wallock/token.hpp"

namespace wallock::rules {

// Who holds a resource, and until when.
struct Tenure {
  HolderId holder;
  InstanceId instance{};
  Instant granted_at;
  Instant expires_at;
  std::optional<ActionId> request = {};  // the acquire's own action id
  bool cut_short = false;                // by the death of its opening; never stored

  friend bool operator==(const Tenure&, const Tenure&) = default;
};

// A resource as one transaction reads it. `issued` is the latest token granted; a tenure, if any,
// is always that token's.
struct ResourceState {
  FencingToken max_fence;  // the highest token that may no longer write
  FencingToken issued;
  std::optional<Tenure> tenure = {};
  // Empty if the row is missing or not legal: reads as not closed (INV-05).
  std::optional<BreakerRow> breaker = {};

  friend bool operator==(const ResourceState&, const ResourceState&) = default;
};

// A resource that no row speaks of yet.
[[nodiscard]] inline ResourceState fresh_resource() {
  return ResourceState{.max_fence = {}, .issued = {}, .breaker = BreakerRow{}};
}

// The moment of a decision, read inside its transaction after the write lock is held.
struct Moment {
  Instant now;
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;  // that the next ledger record will take

  // The token of the n-th record that this transaction appends.
  [[nodiscard]] std::optional<FencingToken> token(std::uint64_t n = 0) const noexcept {
    return FencingToken::of(epoch, position + n);
  }
};

// The highest token that may no longer write, by the row or because it belongs to an earlier epoch:
// a raised epoch fences every token before it without touching a row. An epoch that fell, or that
// is beyond the number line, is none of a sound store: it fences all that was issued.
[[nodiscard]] inline FencingToken fence(const ResourceState& state, const Moment& at) {
  const auto first = FencingToken::of(at.epoch, 0);
  if (!first || state.issued.epoch() > at.epoch) return std::max(state.max_fence, state.issued);
  return std::max(state.max_fence, first->predecessor());
}

// The tenure while it keeps others out, else null. It is the state's own: no longer than that.
[[nodiscard]] inline const Tenure* live_tenure(const ResourceState& state, const Moment& at) {
  if (!state.tenure) return nullptr;
  const Tenure& tenure = *state.tenure;
  const bool lives = state.issued.epoch() == at.epoch && at.now < tenure.expires_at;
  return lives ? &tenure : nullptr;
}

[[nodiscard]] inline bool is_live(const ResourceState& state, const Moment& at) {
  return live_tenure(state, at) != nullptr;
}

// The resource as it stands once it is known that the opening which holds its lease, or probes its
// breaker, is gone: what that opening had ends now instead of at the end of its ttl. Only asked for
// when somebody else wants it; the fence keeps out whoever was taken for dead and is not.
[[nodiscard]] inline ResourceState without_dead_holder(ResourceState state, const Moment& at) {
  if (auto& tenure = state.tenure; tenure && is_live(state, at)) {
    tenure->expires_at = at.now;
    tenure->cut_short = true;
  }
  if (state.breaker && state.breaker->probe) {
    ProbeGrant& probe = *state.breaker->probe;
    probe.expires_at = std::min(probe.expires_at, at.now);
  }
  return state;
}

// The opening that keeps others out of the resource now, if any.
[[nodiscard]] inline std::optional<InstanceId> occupant(const ResourceState& state,
                                                        const Moment& at) {
  if (const Tenure* const tenure = live_tenure(state, at)) return tenure->instance;
  if (state.breaker && state.breaker->probe) return state.breaker->probe->instance;
  return std::nullopt;
}

// What a rule answers when it changes something: the row to store and the records to append, in
// order, in the same transaction.
struct Change {
  ResourceState next;
  std::vector<LedgerEntry> entries = {};
};

// An error about a resource's token, with everything the caller may want to know.
[[nodiscard]] inline Error token_error(Errc code, const ResourceName& resource, FencingToken token,
                                       FencingToken fence) {
  return Error(code, ErrorFacts{.resource = resource.str(), .token = token, .fence = fence});
}

// Refuses a token that this resource never issued.
[[nodiscard]] inline Status check_issued(const ResourceState& state, const ResourceName& resource,
                                         FencingToken token) {
  if (!token) return fail(invalid(Errc::invalid_token, "token"));
  if (token > state.issued) {
    return fail(token_error(Errc::unknown_token, resource, token, state.issued));
  }
  return {};
}

}  // namespace wallock::rules
