// ActionStore: recorded actions and what they carry.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ledger/random.hpp"
#include "sqlite/ledger_store.hpp"
#include "sqlite/statement.hpp"
#include "wallock/action.hpp"
#include "wallock/ledger/content.hpp"
#include "wallock/rules/lease_rules.hpp"

namespace wallock::sqlite {

// What the ledger has under an action id.
struct RecordedAction {
  std::uint64_t position = 0;
  RecordKind kind = RecordKind::action_recorded;
  std::optional<ResourceName> resource = {};
  FencingToken token;
  std::string actor = {};
  ActionState state = ActionState::sealed;
  Digest digest = {};
};

// What a commit's actions are accepted on.
struct Grounds {
  const ResourceName& resource;
  FencingToken token;
  FencingToken fence;  // the resource's, which the token is above
  const HolderId& holder;
};

// The digest of an action's content under a salt; shared with whoever verifies payloads.
[[nodiscard]] Digest content_digest(ledger::Sha256& hasher, std::string& buffer,
                                    const ledger::Salt& salt, const ActionRequest& action);

// Used inside the write transactions of one connection only; one thread at a time.
class ActionStore {
 public:
  ActionStore();

  // The record under the id, of whatever kind, or empty.
  [[nodiscard]] Result<std::optional<RecordedAction>> find(sqlite3* db, const ActionId& id);

  // True if there is a record, of whatever kind, under the id of any of the actions, which are
  // rows_at_once at most: one statement asks for all.
  [[nodiscard]] Result<bool> knows_any(sqlite3* db, std::span<const ActionRequest> actions);

  // True if the recorded action has the content of `action` (and is an action at all).
  [[nodiscard]] Result<bool> same_content(sqlite3* db, ledger::Sha256& hasher,
                                          const RecordedAction& recorded,
                                          const ActionRequest& action);

  // Appends the actions' records and stores what they carry. invariant_violated if the grounds'
  // token is not above their fence, or an id is recorded; then what was written must be undone.
  [[nodiscard]] Result<std::vector<ActionResult>> record_all(
      sqlite3* db, LedgerStore& ledger, WallTime recorded_at, const Grounds& grounds,
      std::span<const ActionRequest> actions);

 private:
  [[nodiscard]] Result<ledger::Salt> salt_of(sqlite3* db, std::uint64_t position);

  Statement find_{
      "SELECT position, kind, resource, token, actor, state, digest "
      "FROM wallock_lease_queue_events WHERE action_id = ?1"};
  const std::string knows_any_text_;
  Statement knows_any_{knows_any_text_};
  Statement salt_{"SELECT salt FROM wallock_payloads WHERE position = ?1"};
  BulkInsert insert_payload_{
      "INTO wallock_payloads (position, token, fence, salt, destination, amount_units, "
      "amount_places, payload)",
      "(?, ?1, ?2, ?, ?, ?, ?, ?)", 2};

  ledger::RandomSource random_;
  std::string buffer_;
};

}  // namespace wallock::sqlite
