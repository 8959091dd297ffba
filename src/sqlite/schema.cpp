#include "sqlite/schema.hpp"

#include <array>

#include "ledger/random.hpp"
#include "sql/schema.hpp"
#include "sqlite/sql_error.hpp"
#include "wallock/hex.hpp"

namespace wallock::sqlite {
namespace {

constexpr std::uint64_t first_epoch = 1;

struct Meta {
  std::int64_t min_writer = 0;
  std::uint64_t epoch = 0;
  std::string boot_id;
};

Result<bool> exists(sqlite3* db, std::string_view table) {
  Statement statement("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1");
  return Query(db, statement, table).step();
}

Result<std::int64_t> pragma(sqlite3* db, std::string_view sql) {
  Statement statement(sql);
  Query query(db, statement);
  const auto row = query.step();
  if (!row) return fail(row.error());
  return query.integer(0);
}

Result<Meta> read_meta(sqlite3* db) {
  Statement statement("SELECT min_writer, epoch, boot_id FROM wallock_meta WHERE id = 1");
  Query query(db, statement);
  const auto row = query.step();
  if (!row) return fail(row.error());
  const auto epoch = *row ? query.epoch(1) : std::nullopt;
  if (!epoch) return fail(Errc::store_corrupt);
  return Meta{
      .min_writer = query.integer(0), .epoch = *epoch, .boot_id = std::string(query.text(2))};
}

Status apply_migration(sqlite3* db, std::string_view name, std::string_view sql, WallTime now) {
  const std::string text(sql);
  const int result = sqlite3_exec(db, text.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return fail(sql_error(result));
  Statement statement("INSERT INTO wallock_migrations (name, applied_at) VALUES (?1, ?2)");
  return Query(db, statement, name, std::int64_t{now.time_since_epoch().count()}).run();
}

Status apply_missing_migrations(sqlite3* db, WallTime now) {
  for (const auto& migration : sql::migrations()) {
    Statement statement("SELECT 1 FROM wallock_migrations WHERE name = ?1");
    const auto applied = exists(db, "wallock_migrations").and_then([&](bool there) {
      return there ? Query(db, statement, migration.name).step() : Result<bool>(false);
    });
    if (!applied) return fail(applied.error());
    if (*applied) continue;
    if (auto ok = apply_migration(db, migration.name, migration.text, now); !ok) return ok;
  }
  return {};
}

// Leaves both numbers alone if either is in use: they are the application's own, or were set here
// when the file was created, and the application may have changed them since.
Status mark_file(sqlite3* db) {
  const auto id = pragma(db, "PRAGMA application_id");
  const auto version = pragma(db, "PRAGMA user_version");
  if (!id) return fail(id.error());
  if (!version) return fail(version.error());
  if (*id != 0 || *version != 0) return {};
  const std::string text = "PRAGMA application_id=" + std::to_string(application_id) +
                           "; PRAGMA user_version=" + std::to_string(schema_version);
  const int result = sqlite3_exec(db, text.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return fail(sql_error(result));
  return {};
}

Status append(Session& session, const Clock& clock, const LedgerEntry& entry) {
  sqlite3* const db = session.connection->handle();
  auto position = session.ledger.append(db, clock.wall_now(), entry);
  if (!position) return fail(position.error());
  return {};
}

Status create(Session& session, const Clock& clock) {
  sqlite3* const db = session.connection->handle();
  if (auto ok = apply_missing_migrations(db, clock.wall_now()); !ok) return ok;
  std::array<std::uint8_t, 16> store_id{};
  if (!ledger::fill_random(store_id)) return fail(Errc::out_of_memory);
  Statement insert(
      "INSERT INTO wallock_meta (id, schema_version, min_reader, min_writer, store_id, epoch, "
      "boot_id) VALUES (1, ?1, 1, 1, ?2, ?3, ?4)");
  if (auto ok = Query(db, insert, schema_version, std::span<const std::uint8_t>(store_id),
                      first_epoch, clock.boot_id().value_or(""))
                    .run();
      !ok) {
    return ok;
  }
  session.ledger.start(first_epoch);
  return append(session, clock, {.kind = RecordKind::genesis, .detail = encode_hex(store_id)});
}

// Every lease, claim and token of the epoch before is dead from here on. The times of deliveries
// mean nothing any more: all are due, and their age counts from now.
Status raise_epoch(Session& session, const Clock& clock, const Meta& meta,
                   const std::string& reason) {
  sqlite3* const db = session.connection->handle();
  if (meta.epoch >= FencingToken::max_epoch) {
    return fail(invalid(Errc::invalid_token, "epoch", FencingToken::max_epoch));
  }
  Statement update("UPDATE wallock_meta SET epoch = ?1, boot_id = ?2 WHERE id = 1");
  const std::uint64_t epoch = meta.epoch + 1;
  if (auto ok = Query(db, update, epoch, clock.boot_id().value_or("")).run(); !ok) return ok;
  Statement restart("UPDATE wallock_deliveries SET born = ?1, due = 0");
  if (auto ok = Query(db, restart, clock.now()).run(); !ok) return ok;
  session.ledger.forget();
  if (auto ok = session.ledger.refresh(db); !ok) return ok;
  return append(session, clock,
                {.kind = RecordKind::epoch_raised,
                 .token = FencingToken::of(epoch, 0).value_or(FencingToken()),
                 .detail = reason});
}

Status bring_up_to_date(Session& session, const Clock& clock, bool adopt_restored) {
  sqlite3* const db = session.connection->handle();
  const auto meta = read_meta(db);
  if (!meta) return fail(meta.error());
  if (meta->min_writer > schema_version) {
    return fail(invalid(Errc::schema_too_new, "min_writer", schema_version));
  }
  if (auto ok = apply_missing_migrations(db, clock.wall_now()); !ok) return ok;
  if (adopt_restored) return raise_epoch(session, clock, *meta, "restored");
  if (clock.boot_id().value_or("") == meta->boot_id) return {};
  return raise_epoch(session, clock, *meta, "reboot");
}

Status prepare_in_transaction(Session& session, const Clock& clock, bool adopt_restored) {
  sqlite3* const db = session.connection->handle();
  const auto there = exists(db, "wallock_meta");
  if (!there) return fail(there.error());
  if (auto ok = *there ? bring_up_to_date(session, clock, adopt_restored) : create(session, clock);
      !ok) {
    return ok;
  }
  return mark_file(db);
}

}  // namespace

Status prepare_schema(Session& session, const Clock& clock, bool adopt_restored) {
  sqlite3* const db = session.connection->handle();
  if (auto ok = Query(db, session.begin).run(); !ok) return ok;
  auto done = prepare_in_transaction(session, clock, adopt_restored);
  if (done) done = Query(db, session.commit).run();
  if (!done && sqlite3_get_autocommit(db) == 0) {
    // The connection is given up after a failure, and with it whatever is left of the transaction.
    [[maybe_unused]] const auto undone = Query(db, session.rollback).run();
  }
  session.ledger.forget();
  return done;
}

}  // namespace wallock::sqlite
