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

ActionResult result_of(std::uint64_t position, FencingToken token, const ActionRecord& record) {
  return ActionResult({.id = *record.id,
                       .position = position,
                       .token = token,
                       .digest = record.digest,
                       .state = record.state});
}

// Adds what ActionStore::insert_payload_ asks of each row.
void bind_payload(Query& query, std::uint64_t position, const ledger::Salt& salt,
                  const ActionRequest& action) {
  const auto& amount = action.amount();
  const auto& to = action.destination();
  const auto destination = to ? std::optional<std::string_view>(to->str()) : std::nullopt;
  const auto units = amount ? std::optional(amount->units()) : std::nullopt;
  const auto places = amount ? std::optional(amount->places()) : std::nullopt;
  query.add(position, std::span<const std::uint8_t>(salt.bytes), destination, units, places,
            ledger::as_bytes(action.payload()));
}

// The values come first, in the order of the ids, and each is looked up in the index of the ids. A
// value that is NULL is looked up nowhere.
std::string knows_any_sql() {
  std::string text = "SELECT 1 FROM (VALUES ";
  for (std::size_t n = 0; n < rows_at_once; ++n)
    text.append(n == 0 ? "(?)" : ",(?)");
  return text +
         ") AS v CROSS JOIN wallock_lease_queue_events AS e ON e.action_id = v.column1 LIMIT 1";
}

}  // namespace

Digest content_digest(ledger::Sha256& hasher, std::string& buffer, const ledger::Salt& salt,
                      const ActionRequest& action) {
  buffer.clear();
  ledger::append_content(buffer, salt, action);
  return hasher.digest(ledger::as_bytes(buffer));
}

ActionStore::ActionStore() : knows_any_text_(knows_any_sql()) {}

Result<bool> ActionStore::knows_any(sqlite3* db, std::span<const ActionRequest> actions) {
  Query query(db, knows_any_);
  for (std::size_t n = 0; n < rows_at_once; ++n) {
    if (n < actions.size()) {
      query.add(actions[n].id().str());
    } else {
      query.add(nullptr);
    }
  }
  return query.step();
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

// Records, then payloads: each table is written in one go.
Result<std::vector<ActionResult>> ActionStore::record_all(sqlite3* db, LedgerStore& ledger,
                                                          WallTime recorded_at,
                                                          const Grounds& grounds,
                                                          std::span<const ActionRequest> actions) {
  const std::uint64_t first = ledger.position();
  std::vector<ledger::Salt> salts(actions.size());
  std::vector<ActionRecord> records;
  std::vector<ActionResult> results;
  records.reserve(actions.size());
  results.reserve(actions.size());
  for (std::size_t n = 0; n < actions.size(); ++n) {
    if (!random_.fill(salts[n].bytes)) return fail(Errc::out_of_memory);
    const ActionRequest& action = actions[n];
    records.push_back({.id = &action.id(),
                       .state = committed_state(action),
                       .score = action.security_score(),
                       .digest = content_digest(ledger.hasher(), buffer_, salts[n], action)});
    results.push_back(result_of(first + n, grounds.token, records[n]));
  }
  LedgerEntry entry{.kind = RecordKind::action_recorded,
                    .resource = grounds.resource,
                    .token = grounds.token,
                    .actor = grounds.holder.str()};
  if (auto ok = ledger.append_actions(db, recorded_at, entry, records); !ok) {
    return fail(ok.error());
  }
  const auto share = [&](Query& query) { query.add(grounds.token, grounds.fence); };
  const auto bind = [&](Query& query, std::size_t n) {
    bind_payload(query, first + n, salts[n], actions[n]);
  };
  if (auto ok = insert_payload_.run(db, actions.size(), share, bind); !ok) return fail(ok.error());
  return results;
}

}  // namespace wallock::sqlite
