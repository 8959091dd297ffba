// The outbox rules: what a claim and a settlement do to the row of a delivery.
#pragma once

#include <cstdint>
#include <optional>

#include "wallock/delivery.hpp"
#include "wallock/rules/state.hpp"

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
  Instant due;                // not claimed before
  std::uint32_t attempt = 0;  // claims so far
  FencingToken claim_token = {};
  Instant claim_expires_at = {};

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

// Hands the row out under a claim token of its own, or takes it out (way dead) if its attempts or
// its age ran out. The row must be claimable: ready and due, or claimed and past its end;
// claim_lost otherwise.
[[nodiscard]] Result<DeliveryDecision> decide_claim(const DeliveryRow& row,
                                                    const ClaimCommand& command,
                                                    const DeliveryPolicy& policy,
                                                    FencingToken claim_token, const Moment& at);

struct SettleCommand {
  FencingToken claim_token;
  DeliveryOutcome outcome;
};

// The time before the next attempt: full jitter over first * 2^(attempt - 1), at most max_backoff.
// `random` is uniform over 64 bits.
[[nodiscard]] Duration backoff(const DeliveryPolicy& policy, std::uint32_t attempt,
                               std::uint64_t random);

// Carries out the outcome if the claim token is still the row's own; claim_lost otherwise, also
// for a row that is gone (empty).
[[nodiscard]] Result<DeliveryDecision> decide_settle(const std::optional<DeliveryRow>& row,
                                                     const SettleCommand& command,
                                                     const DeliveryPolicy& policy,
                                                     std::uint64_t random, const Moment& at);

}  // namespace wallock::rules
