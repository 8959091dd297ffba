// The outbox rules: what a claim and a settlement do to the row of a delivery.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "wallock/audit.hpp"
#include "wallock/delivery.hpp"
#include "wallock/rules/growth.hpp"
#include "wallock/rules/state.hpp"
#include "wallock/state_machine.hpp"

namespace wallock::rules {

// The numbers are stored: they never change their meaning.
enum class QueueState : std::uint8_t {
  ready = 0,    // may be claimed once due
  blocked = 1,  // waits behind an earlier delivery of its resource
  claimed = 2,  // somebody is delivering it
};

// The mutable part of an action's way out: one small row, gone when the way ends.
struct DeliveryRow {
  std::uint64_t position = 0;  // of the action's record
  ResourceName resource;
  QueueState state = QueueState::ready;
  Instant born;               // when it was committed, or the machine restarted since
  Instant due;                // not claimed before; of a claimed row the end of its claim
  std::uint32_t attempt = 0;  // claims so far
  FencingToken claim_token = {};

  friend bool operator==(const DeliveryRow&, const DeliveryRow&) = default;
};

// Which way a row goes, with the record that tells it.
struct DeliveryDecision {
  enum class Way : std::uint8_t { keep, sealed, dead };
  Way way = Way::keep;  // keep: store `next`; otherwise the row leaves the outbox
  DeliveryRow next;
  LedgerEntry entry;
};

struct ClaimCommand {
  HolderId holder;
  Duration ttl{};
};

struct SettleCommand {
  FencingToken claim_token;
  DeliveryOutcome outcome;
};

// The time before the next attempt: full jitter over first * 2^(attempt - 1), at most max_backoff.
// `random` is uniform over 64 bits.
[[nodiscard]] inline Duration backoff(const DeliveryPolicy& policy, std::uint32_t attempt,
                                      std::uint64_t random) {
  const std::uint32_t doublings = attempt == 0 ? 0 : attempt - 1;
  const Duration most = doubled(policy.first_backoff, doublings, policy.max_backoff);
  const auto choices = static_cast<std::uint64_t>(most.count()) + 1;
  return Duration(static_cast<Duration::rep>(random % choices));
}

namespace detail {

inline Error claim_lost(FencingToken token) {
  return Error(Errc::claim_lost, ErrorFacts{.token = token});
}

// A claim of an earlier epoch is over at once: its end was read on the clock of another boot.
inline bool is_claimable(const DeliveryRow& row, const Moment& at) {
  if (row.state == QueueState::blocked) return false;
  const bool lapsed = row.state == QueueState::claimed && row.claim_token.epoch() != at.epoch;
  return lapsed || row.due <= at.now;
}

// Which limit the row has reached, or nothing.
inline std::optional<std::string_view> exhausted(const DeliveryRow& row,
                                                 const DeliveryPolicy& policy, const Moment& at) {
  if (row.attempt >= policy.max_attempts) return "max_attempts";
  if (saturating_sub(at.now, row.born) > policy.max_age) return "max_age";
  return std::nullopt;
}

// The action's state, as its row tells it: it executes from its first claim on.
inline ActionState action_state(const DeliveryRow& row) {
  return row.attempt == 0 ? ActionState::validated : ActionState::executing;
}

// A decision that leaves the action in `state`; invariant_violated if its machine has no such
// transition (INV-06).
inline Result<DeliveryDecision> decided(DeliveryDecision::Way way, RecordKind kind,
                                        DeliveryRow next, FencingToken token,
                                        std::optional<ActionState> state) {
  if (!state) return fail(token_error(Errc::invariant_violated, next.resource, token, {}));
  LedgerEntry entry{.kind = kind,
                    .resource = next.resource,
                    .token = token,
                    .state = state,
                    .subject = next.position};
  return DeliveryDecision{way, std::move(next), std::move(entry)};
}

inline Result<DeliveryDecision> dead(const DeliveryRow& row, FencingToken token,
                                     std::string_view reason) {
  auto decision = decided(DeliveryDecision::Way::dead, RecordKind::delivery_dead, row, token,
                          next_state(action_state(row), ActionEvent::invariant_violation));
  if (decision) decision->entry.detail = reason;
  return decision;
}

inline Result<DeliveryDecision> sealed(const DeliveryRow& row) {
  return decided(DeliveryDecision::Way::sealed, RecordKind::delivery_sealed, row, row.claim_token,
                 next_state(action_state(row), ActionEvent::seal_merkle));
}

inline Result<DeliveryDecision> retried(const DeliveryRow& row, Duration wait, const Moment& at) {
  // No transition, but only an action that executes can be tried again.
  const auto state = row.attempt == 0 ? std::nullopt : std::optional(ActionState::executing);
  DeliveryRow next = row;
  next.state = QueueState::ready;
  next.due = saturating_add(at.now, wait);
  next.claim_token = {};
  return decided(DeliveryDecision::Way::keep, RecordKind::delivery_retried, std::move(next),
                 row.claim_token, state);
}

inline Duration retry_wait(const DeliveryRow& row, const SettleCommand& command,
                           const DeliveryPolicy& policy, std::uint64_t random) {
  const auto& asked = command.outcome.retry_after();
  return asked ? *asked : backoff(policy, row.attempt, random);
}

}  // namespace detail

// Hands the row out under a claim token of its own, or takes it out (way dead) if its attempts or
// its age ran out. The row must be claimable: due, and not blocked; claim_lost otherwise.
// invariant_violated (security) unless the claim token is greater than the claim's before it.
[[nodiscard]] inline Result<DeliveryDecision> decide_claim(const DeliveryRow& row,
                                                           const ClaimCommand& command,
                                                           const DeliveryPolicy& policy,
                                                           FencingToken claim_token,
                                                           const Moment& at) {
  if (!detail::is_claimable(row, at)) return fail(detail::claim_lost(claim_token));
  if (const auto reason = detail::exhausted(row, policy, at)) {
    auto decision = detail::dead(row, row.claim_token, *reason);
    if (decision) decision->entry.actor = command.holder.str();
    return decision;
  }
  if (claim_token <= row.claim_token) {
    return fail(token_error(Errc::invariant_violated, row.resource, claim_token, row.claim_token));
  }
  DeliveryRow next = row;
  next.state = QueueState::claimed;
  next.attempt = saturating_increment(row.attempt);
  next.claim_token = claim_token;
  next.due = saturating_add(at.now, command.ttl);
  // A repeated claim leaves the action where its first one brought it.
  const auto state = row.attempt == 0 ? next_state(ActionState::validated, ActionEvent::execute_ok)
                                      : ActionState::executing;
  auto decision = detail::decided(DeliveryDecision::Way::keep, RecordKind::delivery_claimed,
                                  std::move(next), claim_token, state);
  if (decision) {
    decision->entry.until = decision->next.due;
    decision->entry.actor = command.holder.str();
  }
  return decision;
}

// Takes a claimable row out (way dead, "damaged") whose content is gone or cannot be read, or whose
// own fields cannot be right: decide_claim found its claim token at or above the one to come. The
// record tells the row's token unless that is such a one.
[[nodiscard]] inline Result<DeliveryDecision> decide_damaged(const DeliveryRow& row,
                                                             const ClaimCommand& command,
                                                             FencingToken claim_token) {
  auto decision = detail::dead(
      row, row.claim_token < claim_token ? row.claim_token : FencingToken(), "damaged");
  if (decision) decision->entry.actor = command.holder.str();
  return decision;
}

// Carries out the outcome if the claim token is still the row's own; claim_lost otherwise, also
// for a row that is gone (empty). The end of the claim does not matter as long as nobody else
// claimed. invariant_violated (security) for a row that was never claimed.
[[nodiscard]] inline Result<DeliveryDecision> decide_settle(const std::optional<DeliveryRow>& row,
                                                            const SettleCommand& command,
                                                            const DeliveryPolicy& policy,
                                                            std::uint64_t random,
                                                            const Moment& at) {
  if (!row || row->state != QueueState::claimed || row->claim_token != command.claim_token) {
    return fail(detail::claim_lost(command.claim_token));
  }
  switch (command.outcome.kind()) {
    case DeliveryOutcome::Kind::delivered:
      return detail::sealed(*row);
    case DeliveryOutcome::Kind::reject:
      return detail::dead(*row, row->claim_token, "rejected");
    case DeliveryOutcome::Kind::retry:
      break;
  }
  if (const auto reason = detail::exhausted(*row, policy, at)) {
    return detail::dead(*row, row->claim_token, *reason);
  }
  return detail::retried(*row, detail::retry_wait(*row, command, policy, random), at);
}

}  // namespace wallock::rules
