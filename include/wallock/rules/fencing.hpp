// What a grant, a commit and an ending do to a resource's tokens.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "wallock/audit.hpp"
#include "wallock/rules/state.hpp"

namespace wallock::rules {

// The token that the n-th record of this transaction grants. invalid_token (deterministic) when the
// number line is used up, invariant_violated (security) if it would not be greater than every token
// that the resource has seen: a ledger that went back must not issue a number twice.
[[nodiscard]] inline Result<FencingToken> next_token(const ResourceState& state,
                                                     const ResourceName& resource, const Moment& at,
                                                     std::uint64_t n = 0) {
  const auto token = at.token(n);
  if (!token) return fail(invalid(Errc::invalid_token, "token"));
  if (*token <= std::max(state.issued, state.max_fence)) {
    return fail(token_error(Errc::invariant_violated, resource, *token, state.issued));
  }
  return *token;
}

// The resource once `token` was granted: every token before it is fenced.
[[nodiscard]] inline ResourceState granted(ResourceState state, FencingToken token, Tenure tenure) {
  state.max_fence = std::max(state.max_fence, token.predecessor());
  state.issued = token;
  state.tenure = std::move(tenure);
  return state;
}

// The resource once `token` wrote: it may not write again.
[[nodiscard]] inline ResourceState spent(ResourceState state, FencingToken token) {
  state.max_fence = std::max(state.max_fence, token);
  return state;
}

// The resource once its tenure ended: every token issued so far is fenced.
[[nodiscard]] inline ResourceState ended(ResourceState state) {
  state.max_fence = std::max(state.max_fence, state.issued);
  state.tenure.reset();
  return state;
}

// A record about a resource's token, made by `actor`.
[[nodiscard]] inline LedgerEntry token_entry(RecordKind kind, const ResourceName& resource,
                                             FencingToken token, std::string actor,
                                             std::string detail = {}) {
  return LedgerEntry{.kind = kind,
                     .resource = resource,
                     .token = token,
                     .actor = std::move(actor),
                     .detail = std::move(detail)};
}

}  // namespace wallock::rules
