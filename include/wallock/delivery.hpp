// Delivery: an action on its way out of the outbox, and what became of the attempt.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "wallock/digest.hpp"
#include "wallock/lease.hpp"
#include "wallock/name.hpp"
#include "wallock/print.hpp"
#include "wallock/time.hpp"
#include "wallock/token.hpp"

namespace wallock {

// How often and how long delivery is tried.
struct DeliveryPolicy {
  // Claims before the action is moved to the dead letters: 1 to 1000.
  std::uint32_t max_attempts = 12;
  // Time since the commit (or the last restart of the machine) after which it is: 1 s to 30 days.
  Duration max_age = std::chrono::hours(72);
  // Before attempt n + 1 at most first_backoff * 2^(n-1), with full jitter: 1 ms to 24 h.
  Duration first_backoff = std::chrono::seconds(1);
  // The cap of that: first_backoff to 24 h.
  Duration max_backoff = std::chrono::hours(1);

  friend bool operator==(const DeliveryPolicy&, const DeliveryPolicy&) = default;
};

// What a Delivery is made of.
struct DeliveryFields {
  ActionId action_id;
  std::uint64_t position = 0;  // of the action's record in the ledger
  ResourceName resource;
  Destination destination;
  std::string payload = {};
  std::uint32_t attempt = 0;  // this attempt's number, counted from 1 at the claim
  FencingToken claim_token;   // strictly greater with every claim
  Instant claim_expires_at;   // from then on another claim may take it over
};

// One claimed action. Immutable value; comparable. Delivery is at least once: the receiver tells
// repeats by the action id, which never changes.
class Delivery {
 public:
  explicit Delivery(DeliveryFields fields) noexcept : fields_(std::move(fields)) {}

  [[nodiscard]] const ActionId& action_id() const noexcept { return fields_.action_id; }
  [[nodiscard]] std::uint64_t position() const noexcept { return fields_.position; }
  [[nodiscard]] const ResourceName& resource() const noexcept { return fields_.resource; }
  [[nodiscard]] const Destination& destination() const noexcept { return fields_.destination; }
  [[nodiscard]] const std::string& payload() const noexcept { return fields_.payload; }
  [[nodiscard]] std::uint32_t attempt() const noexcept { return fields_.attempt; }
  [[nodiscard]] FencingToken claim_token() const noexcept { return fields_.claim_token; }
  [[nodiscard]] Instant claim_expires_at() const noexcept { return fields_.claim_expires_at; }

  friend bool operator==(const Delivery& a, const Delivery& b) noexcept {
    return a.fields_.position == b.fields_.position && a.fields_.attempt == b.fields_.attempt &&
           a.fields_.claim_token == b.fields_.claim_token &&
           a.fields_.claim_expires_at == b.fields_.claim_expires_at &&
           a.fields_.action_id == b.fields_.action_id && a.fields_.resource == b.fields_.resource &&
           a.fields_.destination == b.fields_.destination && a.fields_.payload == b.fields_.payload;
  }

 private:
  DeliveryFields fields_;
};

// Names the action and the attempt; never shows the payload (INV-09).
[[nodiscard]] inline std::string to_string(const Delivery& delivery) {
  return delivery.action_id().str() + " to " + delivery.destination().str() + " attempt " +
         std::to_string(delivery.attempt());
}

// What became of an attempt.
class DeliveryOutcome {
 public:
  enum class Kind : std::uint8_t { delivered, retry, reject };
  static constexpr Duration max_retry_after = std::chrono::hours(24);

  // The receiver has it: the action is SEALED and leaves the outbox.
  [[nodiscard]] static DeliveryOutcome delivered() noexcept {
    return DeliveryOutcome(Kind::delivered, std::nullopt);
  }
  // Try again: after `retry_after` if the receiver named a time (held within 0 to 24 h), else after
  // the policy's backoff. Without attempts left the action is QUARANTINED.
  [[nodiscard]] static DeliveryOutcome retry(
      std::optional<Duration> retry_after = std::nullopt) noexcept {
    if (retry_after) {
      retry_after = std::clamp<Duration>(*retry_after, Duration::zero(), max_retry_after);
    }
    return DeliveryOutcome(Kind::retry, retry_after);
  }
  // It can never succeed: the action is QUARANTINED and moves to the dead letters.
  [[nodiscard]] static DeliveryOutcome reject() noexcept {
    return DeliveryOutcome(Kind::reject, std::nullopt);
  }

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::optional<Duration>& retry_after() const noexcept { return retry_after_; }

  friend bool operator==(const DeliveryOutcome&, const DeliveryOutcome&) = default;

 private:
  DeliveryOutcome(Kind kind, std::optional<Duration> retry_after) noexcept
      : kind_(kind), retry_after_(retry_after) {}

  Kind kind_;
  std::optional<Duration> retry_after_;
};

[[nodiscard]] constexpr std::string_view to_string(DeliveryOutcome::Kind kind) noexcept {
  switch (kind) {
    case DeliveryOutcome::Kind::delivered:
      return "delivered";
    case DeliveryOutcome::Kind::retry:
      return "retry";
    case DeliveryOutcome::Kind::reject:
      return "reject";
  }
  return "reject";
}

// What became of one delivery, for settling several together.
struct Settlement {
  Delivery delivery;
  DeliveryOutcome outcome;

  friend bool operator==(const Settlement&, const Settlement&) = default;
};

inline constexpr std::size_t max_settlements = 1000;

// Where a settled delivery went.
enum class Settled : std::uint8_t {
  sealed,  // delivered and final
  queued,  // waits for its next attempt
  dead,    // among the dead letters, final
};

[[nodiscard]] constexpr std::string_view to_string(Settled settled) noexcept {
  switch (settled) {
    case Settled::sealed:
      return "sealed";
    case Settled::queued:
      return "queued";
    case Settled::dead:
      return "dead";
  }
  return "dead";
}

}  // namespace wallock
