#include "sqlite/invariants.hpp"

#include <new>
#include <utility>

#include "sqlite/connection.hpp"
#include "sqlite/derived_state.hpp"
#include "sqlite/event_row.hpp"
#include "sqlite/reader.hpp"
#include "sqlite/resource_store.hpp"
#include "sqlite/statement.hpp"
#include "wallock/hex.hpp"
#include "wallock/ledger/bytes.hpp"
#include "wallock/rules/delivery_rules.hpp"

namespace wallock::sqlite {
namespace {

constexpr Duration patience = std::chrono::seconds(5);

Invariant invariant_of(DamageKind damage) {
  switch (damage) {
    case DamageKind::gap:
      return Invariant::ledger_gap;
    case DamageKind::subtree:
      return Invariant::ledger_subtree;
    case DamageKind::payload:
      return Invariant::payload_digest;
    default:
      return Invariant::ledger_record;
  }
}

// Collects the violations of one store over one connection to it.
class Check {
 public:
  explicit Check(sqlite3* db) : db_(db) {}

  [[nodiscard]] Status run() {
    for (const auto part : {&Check::told, &Check::action_ids, &Check::scores, &Check::meta,
                            &Check::resources, &Check::lone_breakers, &Check::payloads,
                            &Check::strangers, &Check::deliveries, &Check::dead_letters}) {
      if (auto ok = (this->*part)(); !ok) return ok;
    }
    return {};
  }
  [[nodiscard]] std::vector<Violation> take() noexcept { return std::move(found_); }

 private:
  void broken(Invariant invariant, std::optional<std::uint64_t> position,
              std::string_view resource = {}) {
    found_.push_back(
        {.invariant = invariant, .position = position, .resource = std::string(resource)});
  }

  // Calls `row` for each row of the query.
  template <class Row>
  [[nodiscard]] Status each(std::string_view sql, Row&& row) {
    Statement statement(sql);
    Query query(db_, statement);
    for (;;) {
      const auto more = query.step();
      if (!more) return fail(more.error());
      if (!*more) return {};
      row(query);
    }
  }

  [[nodiscard]] Status told();
  [[nodiscard]] Status action_ids();
  [[nodiscard]] Status scores();
  [[nodiscard]] Status meta();
  [[nodiscard]] Status resources();
  [[nodiscard]] Status lone_breakers();
  [[nodiscard]] Status payloads();
  [[nodiscard]] Status strangers();
  [[nodiscard]] Status deliveries();
  [[nodiscard]] Status dead_letters();

  // True if the records tell that the resource's breaker is not CLOSED.
  [[nodiscard]] bool is_held_back(const std::string& resource) const {
    const auto told = state_.resources().find(resource);
    return told != state_.resources().end() && told->second.breaker.state != BreakerState::closed;
  }

  sqlite3* db_;
  DerivedState state_;
  std::vector<Violation> found_;
};

std::uint64_t position_of(const Query& query, int column) {
  return static_cast<std::uint64_t>(query.integer(column));
}

bool same(const DerivedState& state, const DerivedResource& told, const Query& query) {
  if (query.token(1) != told.max_fence || query.token(2) != told.issued) return false;
  if (!told.lease) return query.is_null(3);
  return query.text(3) == told.lease->holder && state.may_end_at(told, query.instant(4)) &&
         query.text(5) == told.lease->request;
}

bool same(const DerivedBreaker& told, const BreakerRow& row) {
  const bool same_probe = told.probe.has_value() == row.probe.has_value() &&
                          (!told.probe || (told.probe->token == row.probe->token &&
                                           told.probe->holder == row.probe->holder.str() &&
                                           told.probe->until == row.probe->expires_at));
  return told.state == row.state && told.forced == row.forced && told.timeouts == row.timeouts &&
         told.generation == row.generation && told.failed_probes == row.failed_probes && same_probe;
}

Status Check::told() {
  auto done =
      each("SELECT " WALLOCK_EVENT_COLUMNS " FROM wallock_lease_queue_events ORDER BY position",
           [&](const Query& query) {
             const auto event = read_event(query);
             if (!event) return broken(Invariant::record_shape, position_of(query, 0));
             state_.feed(event->position, event->recorded_at, event->entry);
           });
  found_.insert(found_.end(), state_.violations().begin(), state_.violations().end());
  return done;
}

// Not by the index that is to keep them apart.
Status Check::action_ids() {
  return each(
      "SELECT max(position) FROM wallock_lease_queue_events NOT INDEXED WHERE action_id IS NOT "
      "NULL GROUP BY action_id HAVING count(*) > 1",
      [&](const Query& query) { broken(Invariant::action_id, position_of(query, 0)); });
}

Status Check::scores() {
  return each(
      "SELECT position FROM wallock_lease_queue_events WHERE score IS NOT NULL AND score NOT "
      "BETWEEN 0 AND 1000000",
      [&](const Query& query) { broken(Invariant::score, position_of(query, 0)); });
}

Status Check::meta() {
  int rows = 0;
  auto done = each("SELECT epoch, store_id FROM wallock_meta", [&](const Query& query) {
    ++rows;
    if (position_of(query, 0) != state_.epoch() ||
        encode_hex(query.bytes(1)) != state_.store_id()) {
      broken(Invariant::meta_row, std::nullopt);
    }
  });
  if (done && rows != 1) broken(Invariant::meta_row, std::nullopt);
  return done;
}

Status Check::resources() {
  auto missing = state_.resources();
  auto done = each(
      "SELECT r.resource, r.max_fence, r.issued, r.holder, r.expires_at, "
      "r.request, " WALLOCK_BREAKER_COLUMNS
      " FROM wallock_resources AS r LEFT JOIN wallock_breakers AS b ON b.resource = r.resource",
      [&](const Query& query) {
        const auto told = missing.find(std::string(query.text(0)));
        if (told == missing.end() || !same(state_, told->second, query)) {
          broken(Invariant::resource_row, std::nullopt, query.text(0));
        }
        if (told == missing.end()) return;
        const auto breaker = read_breaker(query, 6);
        if (!breaker || !same(told->second.breaker, *breaker)) {
          broken(Invariant::breaker_row, std::nullopt, query.text(0));
        }
        missing.erase(told);
      });
  for (const auto& [resource, told] : missing)
    broken(Invariant::resource_row, std::nullopt, resource);
  return done;
}

Status Check::lone_breakers() {
  return each(
      "SELECT resource FROM wallock_breakers EXCEPT SELECT resource FROM wallock_resources",
      [&](const Query& query) { broken(Invariant::breaker_row, std::nullopt, query.text(0)); });
}

// An action with a destination is VALIDATED by its commit, one without is SEALED.
Status Check::payloads() {
  return each(
      "SELECT e.position, e.resource FROM wallock_lease_queue_events AS e LEFT JOIN "
      "wallock_payloads AS p ON p.position = e.position WHERE e.kind = 20 AND (p.position IS NULL "
      "OR (p.destination IS NULL) <> (e.state = 3) OR p.token <> e.token OR p.fence >= p.token)",
      [&](const Query& query) {
        broken(Invariant::payload_row, position_of(query, 0), query.text(1));
      });
}

Status Check::strangers() {
  return each(
      "SELECT p.position FROM wallock_payloads AS p LEFT JOIN wallock_lease_queue_events AS e ON "
      "e.position = p.position WHERE e.kind IS NOT 20",
      [&](const Query& query) { broken(Invariant::payload_row, position_of(query, 0)); });
}

Status Check::deliveries() {
  auto missing = state_.deliveries();
  auto done = each(
      "SELECT d.position, d.resource, d.state, d.attempt, d.claim_token, d.due, "
      "d.destination = p.destination, d.held FROM wallock_deliveries AS d LEFT JOIN "
      "wallock_payloads AS p "
      "ON p.position = d.position",
      [&](const Query& query) {
        const std::uint64_t position = position_of(query, 0);
        const auto told = missing.find(position);
        const auto queue = told == missing.end() ? std::optional<rules::QueueState>()
                           : told->second.claim  ? rules::QueueState::claimed
                           : state_.is_blocked(position, told->second.resource)
                               ? rules::QueueState::blocked
                               : rules::QueueState::ready;
        const bool right = queue && query.text(1) == told->second.resource &&
                           query.integer(2) == static_cast<int>(*queue) &&
                           query.integer(3) == told->second.attempts &&
                           query.token(4) == told->second.claim && query.integer(6) == 1;
        // A raised epoch lets claims end at once.
        const bool in_time = !queue || !told->second.claim ||
                             told->second.claim.epoch() < state_.epoch() ||
                             query.instant(5) == told->second.claim_until;
        // Only what waits for its breaker may be held.
        const bool may_be_seen =
            query.integer(7) == 0 ||
            (queue && queue != rules::QueueState::blocked && is_held_back(told->second.resource));
        if (!right || !in_time || !may_be_seen)
          broken(Invariant::delivery_row, position, query.text(1));
        if (told != missing.end()) missing.erase(told);
      });
  for (const auto& [position, told] : missing)
    broken(Invariant::delivery_row, position, told.resource);
  return done;
}

Status Check::dead_letters() {
  auto missing = state_.dead_letters();
  auto done = each(
      "SELECT d.position, d.resource, d.attempts, d.destination = p.destination FROM "
      "wallock_dead_letters AS d LEFT JOIN wallock_payloads AS p ON p.position = d.position",
      [&](const Query& query) {
        const std::uint64_t position = position_of(query, 0);
        const auto told = missing.find(position);
        if (told == missing.end() || query.text(1) != told->second.resource ||
            query.integer(2) != told->second.attempts || query.integer(3) != 1) {
          broken(Invariant::dead_letter_row, position, query.text(1));
        }
        if (told != missing.end()) missing.erase(told);
      });
  for (const auto& [position, told] : missing)
    broken(Invariant::dead_letter_row, position, told.resource);
  return done;
}

Result<std::vector<Violation>> check_hashes(const std::string& path) {
  auto reader = Reader::open(path, system_clock(), patience);
  if (!reader) return fail(reader.error());
  const auto report = (*reader)->verify(std::nullopt);
  if (!report) return fail(report.error());
  std::vector<Violation> found;
  if (report->damage != DamageKind::none) {
    found.push_back({.invariant = invariant_of(report->damage), .position = report->first_bad});
  }
  return found;
}

}  // namespace

Result<std::vector<Violation>> check_rows(sqlite3* db) {
  try {
    Check check(db);
    if (auto ok = check.run(); !ok) return fail(ok.error());
    return check.take();
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory);
  }
}

Result<std::vector<Violation>> check_invariants(const std::string& path) {
  try {
    auto found = check_hashes(path);
    if (!found) return found;
    const auto clock = system_clock();
    const auto connection =
        Connection::open(path, Access::read, *clock, saturating_add(clock->now(), patience));
    if (!connection) return fail(connection.error());
    auto rows = check_rows((*connection)->handle());
    if (!rows) return rows;
    found->insert(found->end(), rows->begin(), rows->end());
    return found;
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory);
  }
}

}  // namespace wallock::sqlite
