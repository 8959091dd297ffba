#include "sqlite/outbox_store.hpp"

#include <algorithm>
#include <limits>

#include "sqlite/sql_error.hpp"

namespace wallock::sqlite {
namespace {

using rules::DeliveryRow;
using rules::QueueState;

// Column of the claimable rows: whether the row may be claimed.
constexpr int breaker_column = 7;
enum Breaker : std::int64_t { closed = 0, not_closed = 1 };

// A name that could not be read for want of memory is no damage.
bool is_out_of_memory(sqlite3* db) { return sqlite3_errcode(db) == SQLITE_NOMEM; }

// A number that is none is more than any policy allows.
std::uint32_t to_attempts(std::int64_t value) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(value < 0 ? most : std::min(value, most));
}

std::optional<DeliveryRow> read_row(const Query& query) {
  auto resource = ResourceName::parse(query.text(1));
  if (!resource) return std::nullopt;
  return DeliveryRow{.position = static_cast<std::uint64_t>(query.integer(0)),
                     .resource = *std::move(resource),
                     .state = static_cast<QueueState>(query.integer(2)),
                     .born = query.instant(3),
                     .due = query.instant(4),
                     .attempt = to_attempts(query.integer(5)),
                     .claim_token = query.token(6)};
}

}  // namespace

Status OutboxStore::enqueue(sqlite3* db, const ResourceName& resource, const Outgoing& action,
                            Instant now) {
  return Query(db, enqueue_, action.position, resource.str(), action.destination->str(), now).run();
}

Status OutboxStore::enqueue_all(sqlite3* db, const ResourceName& resource,
                                std::span<const Outgoing> actions, Instant now) {
  if (actions.empty()) return {};
  if (actions.size() == 1) return enqueue(db, resource, actions.front(), now);
  const auto blocked = has_line(db, resource);
  if (!blocked) return fail(blocked.error());
  const auto share = [&](Query& query) { query.add(resource.str(), now); };
  return enqueue_all_.run(db, actions.size(), share, [&](Query& query, std::size_t n) {
    const auto state = n > 0 || *blocked ? QueueState::blocked : QueueState::ready;
    query.add(actions[n].position, actions[n].destination->str(), static_cast<int>(state));
  });
}

Result<bool> OutboxStore::has_line(sqlite3* db, const ResourceName& resource) {
  Query query(db, has_line_, resource.str());
  const auto row = query.step();  // a row always
  if (!row) return fail(row.error());
  return query.integer(0) != 0;
}

Status OutboxStore::look(sqlite3* db, const Destination& destination, std::uint32_t limit,
                         Instant now, Looked& looked) {
  Query query(db, claimable_, destination.str(), now);
  // A name that could not be read for want of memory is told by the next step.
  while (looked.rows.size() < limit) {
    const auto row = query.step();
    if (!row) return fail(row.error());
    if (!*row) return {};
    const std::int64_t breaker = query.integer(breaker_column);
    if (breaker == not_closed) {
      looked.to_hold.push_back(static_cast<std::uint64_t>(query.integer(0)));
    } else if (auto read = read_row(query); read && breaker == closed) {
      looked.rows.push_back({.row = *std::move(read), .destination = destination});
    }
  }
  return {};
}

Result<std::vector<ClaimableRow>> OutboxStore::claimable(sqlite3* db,
                                                         const Destination& destination,
                                                         std::uint32_t limit, Instant now) {
  Looked looked;
  if (auto ok = look(db, destination, limit, now, looked); !ok) return fail(ok.error());
  for (const std::uint64_t position : looked.to_hold) {
    if (auto ok = Query(db, hold_, position).run(); !ok) return fail(ok.error());
  }
  return std::move(looked.rows);
}

Result<std::optional<DeliveryRow>> OutboxStore::find(sqlite3* db, std::uint64_t position) {
  Query query(db, find_, position);
  const auto row = query.step();
  if (!row) return fail(row.error());
  if (!*row) return std::optional<DeliveryRow>();
  auto read = read_row(query);
  if (!read) return fail(Errc::store_corrupt);
  return read;
}

Result<std::optional<OutboxStore::Content>> OutboxStore::content(sqlite3* db,
                                                                 std::uint64_t position) {
  // A statement that cannot be prepared says nothing about this row: without the native code.
  if (const int result = content_.prepare(db); result != SQLITE_OK) {
    return fail(sql_error(result).code());
  }
  Query query(db, content_, position);
  const auto row = query.step();
  if (!row) return fail(row.error());
  if (!*row) return std::optional<Content>();
  auto id = ActionId::parse(query.text(0));
  const auto payload = query.bytes(1);
  if ((!id || payload.empty()) && is_out_of_memory(db)) return fail(Errc::out_of_memory);
  if (!id) return std::optional<Content>();
  return Content{.action_id = *std::move(id),
                 .payload = std::string(payload.begin(), payload.end())};
}

Status OutboxStore::update(sqlite3* db, const DeliveryRow& row) {
  return Query(db, update_, row.position, static_cast<int>(row.state), row.due, row.attempt,
               row.claim_token)
      .run();
}

Status OutboxStore::remove(sqlite3* db, const DeliveryRow& row) {
  if (auto ok = Query(db, delete_, row.position).run(); !ok) return ok;
  return Query(db, promote_, row.resource.str()).run();
}

Status OutboxStore::bury(sqlite3* db, const DeliveryRow& row, WallTime now) {
  auto buried =
      Query(db, bury_, row.position, std::int64_t{now.time_since_epoch().count()}, row.attempt)
          .run();
  return buried ? remove(db, row) : buried;
}

}  // namespace wallock::sqlite
