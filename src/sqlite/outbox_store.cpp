#include "sqlite/outbox_store.hpp"

namespace wallock::sqlite {
namespace {

using rules::DeliveryRow;
using rules::QueueState;

std::optional<DeliveryRow> read_row(const Query& query) {
  auto resource = ResourceName::parse(query.text(1));
  if (!resource) return std::nullopt;
  return DeliveryRow{.position = static_cast<std::uint64_t>(query.integer(0)),
                     .resource = *std::move(resource),
                     .state = static_cast<QueueState>(query.integer(2)),
                     .born = query.instant(3),
                     .due = query.instant(4),
                     .attempt = static_cast<std::uint32_t>(query.integer(5)),
                     .claim_token = query.token(6),
                     .claim_expires_at = query.instant(7)};
}

}  // namespace

Status OutboxStore::enqueue(sqlite3* db, std::uint64_t position, const ResourceName& resource,
                            const Destination& destination, Instant now) {
  return Query(db, enqueue_, position, resource.str(), destination.str(), now).run();
}

Status OutboxStore::collect(sqlite3* db, Statement& statement, const Destination& destination,
                            std::uint32_t limit, Instant now, std::vector<ClaimableRow>& rows) {
  Query query(db, statement, destination.str(), now, limit);
  for (;;) {
    const auto row = query.step();
    if (!row) return fail(row.error());
    if (!*row) return {};
    auto read = read_row(query);
    if (!read) return fail(Errc::store_corrupt);
    rows.push_back({.row = *std::move(read), .destination = destination});
  }
}

Result<std::vector<ClaimableRow>> OutboxStore::claimable(sqlite3* db,
                                                         const Destination& destination,
                                                         std::uint32_t limit, Instant now) {
  std::vector<ClaimableRow> rows;
  if (auto ok = collect(db, expired_, destination, limit, now, rows); !ok) return fail(ok.error());
  const auto left = limit - static_cast<std::uint32_t>(rows.size());
  if (left == 0) return rows;
  if (auto ok = collect(db, ready_, destination, left, now, rows); !ok) return fail(ok.error());
  return rows;
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

Result<OutboxStore::Content> OutboxStore::content(sqlite3* db, std::uint64_t position) {
  Query query(db, content_, position);
  const auto row = query.step();
  if (!row) return fail(row.error());
  if (!*row) return fail(Errc::store_corrupt);
  auto id = ActionId::parse(query.text(0));
  if (!id) return fail(Errc::store_corrupt);
  const auto payload = query.bytes(1);
  return Content{.action_id = *std::move(id),
                 .payload = std::string(payload.begin(), payload.end())};
}

Status OutboxStore::update(sqlite3* db, const DeliveryRow& row) {
  return Query(db, update_, row.position, static_cast<int>(row.state), row.due, row.attempt,
               row.claim_token, row.claim_expires_at)
      .run();
}

Status OutboxStore::remove(sqlite3* db, const DeliveryRow& row) {
  if (auto ok = Query(db, delete_, row.position).run(); !ok) return ok;
  return Query(db, promote_, row.resource.str()).run();
}

Status OutboxStore::bury(sqlite3* db, const DeliveryRow& row, WallTime now) {
  if (auto ok = Query(db, bury_, row.position, std::int64_t{now.time_since_epoch().count()}).run();
      !ok) {
    return ok;
  }
  return remove(db, row);
}

}  // namespace wallock::sqlite
