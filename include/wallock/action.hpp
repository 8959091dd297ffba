// ActionRequest and ActionResult: what a commit is asked to record, and its receipt.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wallock/decimal.hpp"
#include "wallock/digest.hpp"
#include "wallock/name.hpp"
#include "wallock/print.hpp"
#include "wallock/result.hpp"
#include "wallock/score.hpp"
#include "wallock/state_machine.hpp"
#include "wallock/token.hpp"

namespace wallock {

inline constexpr std::size_t default_max_payload_bytes = std::size_t{256} * 1024;
inline constexpr std::size_t max_payload_bytes = std::size_t{16} * 1024 * 1024;
inline constexpr std::size_t max_batch_actions = 1000;

// An action as the caller writes it down; ActionRequest is the checked form.
struct ActionFields {
  Given<ActionId> id;
  std::optional<Given<Destination>> destination = {};
  std::string payload = {};
  Score security_score = {};
  std::optional<Decimal> amount = {};
};

// One action: an id of the caller's, and what is to be recorded (and delivered) under it.
//
// Immutable value; comparable. Payloads are bytes: anything, NUL and invalid UTF-8 included, comes
// back as it went in. The payload limit of a store is Options::max_payload; no value exceeds 16
// MiB.
class ActionRequest {
 public:
  // invalid_name for a bad id or destination, too_large for a payload over 16 MiB (deterministic).
  [[nodiscard]] static Result<ActionRequest> create(ActionFields fields) {
    auto id = fields.id.check();
    if (!id) return fail(id.error());
    std::optional<Destination> destination;
    if (fields.destination) {
      auto checked = fields.destination->check();
      if (!checked) return fail(checked.error());
      destination = *std::move(checked);
    }
    if (fields.payload.size() > max_payload_bytes) {
      return fail(Error(Errc::too_large, ErrorFacts{.field = "payload",
                                                    .action = id->str(),
                                                    .limit = max_payload_bytes,
                                                    .bound = Bound::at_most,
                                                    .unit = Unit::bytes}));
    }
    return ActionRequest(*std::move(id), std::move(destination), std::move(fields));
  }

  [[nodiscard]] const ActionId& id() const noexcept { return id_; }
  // Where to deliver it; empty for an action that is only recorded.
  [[nodiscard]] const std::optional<Destination>& destination() const noexcept {
    return destination_;
  }
  [[nodiscard]] const std::string& payload() const noexcept { return payload_; }
  [[nodiscard]] Score security_score() const noexcept { return security_score_; }
  [[nodiscard]] const std::optional<Decimal>& amount() const noexcept { return amount_; }

  friend bool operator==(const ActionRequest&, const ActionRequest&) = default;

 private:
  ActionRequest(ActionId id, std::optional<Destination> destination, ActionFields fields) noexcept
      : id_(std::move(id)),
        destination_(std::move(destination)),
        payload_(std::move(fields.payload)),
        security_score_(fields.security_score),
        amount_(fields.amount) {}

  ActionId id_;
  std::optional<Destination> destination_;
  std::string payload_;
  Score security_score_;
  std::optional<Decimal> amount_;
};

// Names the action and its size; never shows the payload (INV-09).
[[nodiscard]] inline std::string to_string(const ActionRequest& action) {
  return action.id().str() + " (" + std::to_string(action.payload().size()) + " bytes)";
}

// The actions of one commit, as given: one, a list of fields, or requests made before.
//     commit(lease, {{.id = "pay-17", .payload = "..."}}, work)
// A bad member is the typed error of the commit that the batch is passed to.
class Batch {
 public:
  Batch(ActionFields action) { add(ActionRequest::create(std::move(action))); }  // NOLINT
  Batch(std::initializer_list<ActionFields> actions) {
    for (const ActionFields& action : actions)
      add(ActionRequest::create(action));
  }
  Batch(ActionRequest action) { actions_.push_back(std::move(action)); }                // NOLINT
  Batch(std::vector<ActionRequest> actions) noexcept : actions_(std::move(actions)) {}  // NOLINT

  // The checked actions, in the order given; they live in this batch. The first bad member's own
  // error; batch_size unless 1 to 1000; duplicate_action if an id stands twice (deterministic, all
  // of them).
  [[nodiscard]] Result<std::span<const ActionRequest>> check() const {
    if (error_) return fail(*error_);
    if (actions_.empty()) return fail(invalid(Errc::batch_size, "actions", 1, Bound::at_least));
    if (actions_.size() > max_batch_actions) {
      return fail(invalid(Errc::batch_size, "actions", max_batch_actions, Bound::at_most));
    }
    std::vector<const std::string*> ids;
    ids.reserve(actions_.size());
    for (const ActionRequest& action : actions_)
      ids.push_back(&action.id().str());
    const auto less = [](const std::string* a, const std::string* b) { return *a < *b; };
    const auto same = [](const std::string* a, const std::string* b) { return *a == *b; };
    std::sort(ids.begin(), ids.end(), less);
    const auto twice = std::adjacent_find(ids.begin(), ids.end(), same);
    if (twice != ids.end()) {
      return fail(
          Error(Errc::duplicate_action, ErrorFacts{.field = "action_id", .action = **twice}));
    }
    return std::span<const ActionRequest>(actions_);
  }

 private:
  void add(Result<ActionRequest> action) {
    if (action) {
      actions_.push_back(*std::move(action));
    } else if (!error_) {
      error_ = std::move(action).error();
    }
  }

  std::vector<ActionRequest> actions_;
  std::optional<Error> error_;
};

// The receipt of one recorded action.
struct ActionResultFields {
  ActionId id;
  std::uint64_t position = 0;  // of its record in the ledger
  FencingToken token;          // that it was committed under
  Digest digest;               // of its content, salted (docs/ledger.md)
  ActionState state = ActionState::sealed;
};

// Immutable value; comparable. A replayed commit answers with results equal to the first ones.
class ActionResult {
 public:
  explicit ActionResult(ActionResultFields fields) noexcept : fields_(std::move(fields)) {}

  [[nodiscard]] const ActionId& id() const noexcept { return fields_.id; }
  [[nodiscard]] std::uint64_t position() const noexcept { return fields_.position; }
  [[nodiscard]] FencingToken token() const noexcept { return fields_.token; }
  [[nodiscard]] const Digest& digest() const noexcept { return fields_.digest; }
  // The state as of the commit: SEALED, or VALIDATED for an action with a destination.
  [[nodiscard]] ActionState state() const noexcept { return fields_.state; }

  friend bool operator==(const ActionResult& a, const ActionResult& b) noexcept {
    return a.fields_.id == b.fields_.id && a.fields_.position == b.fields_.position &&
           a.fields_.token == b.fields_.token && a.fields_.digest == b.fields_.digest &&
           a.fields_.state == b.fields_.state;
  }

 private:
  ActionResultFields fields_;
};

[[nodiscard]] inline std::string to_string(const ActionResult& result) {
  return result.id().str() + " at " + std::to_string(result.position()) + " " +
         std::string(to_string(result.state()));
}

}  // namespace wallock
