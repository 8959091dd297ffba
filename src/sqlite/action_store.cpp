#include "sqlite/action_store.hpp"

#include <algorithm>
#include <initializer_list>

namespace wallock::sqlite {
namespace {

consteval bool leads_to(ActionState end, std::initializer_list<ActionEvent> events) {
  ActionState state = ActionState::init;
  for (const ActionEvent event : events)
    state = next_state(state, event).value();
  return state == end;
}

// The state an action is in once its commit lands: an action that goes nowhere has been through
// all of them inside the commit.
ActionState committed_state(const ActionRequest& action) {
  using enum ActionEvent;
  static_assert(leads_to(ActionState::validated, {validate_ok}));
  static_assert(leads_to(ActionState::sealed, {validate_ok, execute_ok, seal_merkle}));
  return action.destination() ? ActionState::validated : ActionState::sealed;
}

}  // namespace

Digest content_digest(ledger::Sha256& hasher, std::string& buffer, const ledger::Salt& salt,
                      const ActionRequest& action) {
  buffer.clear();
  ledger::append_content(buffer, salt, action);
  return hasher.digest(ledger::as_bytes(buffer));
}

Result<std::optional<RecordedAction>> ActionStore::find(sqlite3* db, const ActionId& id) {
  Query query(db, find_, id.str());
  const auto row = query.step();
  if (!row) return fail(row.error());
  if (!*row) return std::optional<RecordedAction>();
  RecordedAction found{.position = static_cast<std::uint64_t>(query.integer(0)),
                       .kind = static_cast<RecordKind>(query.integer(1)),
                       .token = query.token(3),
                       .actor = std::string(query.text(4)),
                       .state = static_cast<ActionState>(query.integer(5))};
  if (auto resource = ResourceName::parse(query.text(2))) found.resource = *std::move(resource);
  if (const auto digest = ledger::to_digest(query.bytes(6))) found.digest = *digest;
  return std::optional(std::move(found));
}

Result<ledger::Salt> ActionStore::salt_of(sqlite3* db, std::uint64_t position) {
  Query query(db, salt_, position);
  const auto row = query.step();
  if (!row) return fail(row.error());
  // Without its content the record cannot be compared: to call that a conflict would invite the
  // caller to do the same under another id.
  if (!*row || query.bytes(0).size() != ledger::Salt::size) return fail(Errc::ledger_damaged);
  ledger::Salt salt;
  std::ranges::copy(query.bytes(0), salt.bytes.begin());
  return salt;
}

Result<bool> ActionStore::same_content(sqlite3* db, ledger::Sha256& hasher,
                                       const RecordedAction& recorded,
                                       const ActionRequest& action) {
  if (recorded.kind != RecordKind::action_recorded) return false;
  const auto salt = salt_of(db, recorded.position);
  if (!salt) return fail(salt.error());
  const Digest digest = content_digest(hasher, buffer_, *salt, action);
  if (auto ok = hasher.ok(); !ok) return fail(ok.error());
  return digest == recorded.digest;
}

Result<ActionResult> ActionStore::record(sqlite3* db, LedgerStore& ledger, WallTime recorded_at,
                                         const Grounds& grounds, const ActionRequest& action) {
  const ActionState state = committed_state(action);
  ledger::Salt salt;
  if (!random_.fill(salt.bytes)) return fail(Errc::out_of_memory);
  const Digest digest = content_digest(ledger.hasher(), buffer_, salt, action);
  const auto position = ledger.append(db, recorded_at,
                                      LedgerEntry{.kind = RecordKind::action_recorded,
                                                  .resource = grounds.resource,
                                                  .action_id = action.id(),
                                                  .token = grounds.token,
                                                  .state = state,
                                                  .score = action.security_score(),
                                                  .digest = digest,
                                                  .actor = grounds.holder.str()});
  if (!position) return fail(position.error());
  if (auto ok = store_payload(db, *position, grounds, salt, action); !ok) return fail(ok.error());
  return ActionResult({.id = action.id(),
                       .position = *position,
                       .token = grounds.token,
                       .digest = digest,
                       .state = state});
}

Status ActionStore::store_payload(sqlite3* db, std::uint64_t position, const Grounds& grounds,
                                  const ledger::Salt& salt, const ActionRequest& action) {
  const auto& amount = action.amount();
  const auto& to = action.destination();
  const auto destination = to ? std::optional<std::string_view>(to->str()) : std::nullopt;
  const auto units = amount ? std::optional(amount->units()) : std::nullopt;
  const auto places = amount ? std::optional(amount->places()) : std::nullopt;
  const std::span<const std::uint8_t> salt_bytes(salt.bytes);
  return Query(db, insert_payload_, position, grounds.token, grounds.fence, salt_bytes, destination,
               units, places, ledger::as_bytes(action.payload()))
      .run();
}

}  // namespace wallock::sqlite
