// A delivery in each state, for the tests of the outbox rules.
#pragma once

#include "rules_support.hpp"
#include "wallock/rules/delivery_rules.hpp"

namespace wallock::test {

inline constexpr DeliveryPolicy delivery_policy{
    .max_attempts = 3, .max_age = 1h, .first_backoff = 1s, .max_backoff = 10s};

// Committed at 50 s, never claimed, due from 60 s on.
inline rules::DeliveryRow ready_row() {
  return rules::DeliveryRow{
      .position = 40, .resource = resource(), .born = boot(50s), .due = boot(60s)};
}

// Waits behind an earlier delivery.
inline rules::DeliveryRow blocked_row() {
  rules::DeliveryRow row = ready_row();
  row.state = rules::QueueState::blocked;
  return row;
}

// Claimed once, under token 900, until 110 s.
inline rules::DeliveryRow claimed_row() {
  rules::DeliveryRow row = ready_row();
  row.state = rules::QueueState::claimed;
  row.attempt = 1;
  row.claim_token = token(900);
  row.due = boot(110s);
  return row;
}

inline rules::DeliveryRow tried(rules::DeliveryRow row, std::uint32_t attempt) {
  row.attempt = attempt;
  return row;
}

using Way = rules::DeliveryDecision::Way;

}  // namespace wallock::test
