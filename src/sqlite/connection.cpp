#include "sqlite/connection.hpp"

#include <SQLiteCpp/Exception.h>
#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <tuple>

#include "sqlite/gathering_vfs.hpp"
#include "sqlite/sql_error.hpp"
#include "sqlite/statement.hpp"
#include "sqlite/work_policy.hpp"

namespace wallock::sqlite {
namespace {

constexpr int flags_for(Access access) {
  // NOMUTEX: every connection here is used under a lock of its owner's.
  const int base = access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  return base | SQLITE_OPEN_NOMUTEX | (access == Access::create ? SQLITE_OPEN_CREATE : 0);
}

Error setting_refused(const char* name) { return invalid(Errc::setting_refused, name); }

}  // namespace

// Closes a connection that statements still belong to: kept by the application's work, or by
// virtual tables of its own. SQLite keeps what they need until the last one is finalized;
// SQLiteCpp's way of closing would end the process here. A new authorizer has every statement
// prepared anew before its next step, which a closed connection refuses: nothing is written through
// them outside of a commit.
void Connection::retire() noexcept {
  sqlite3* const db = handle();
  sqlite3_busy_handler(db, nullptr, nullptr);
  sqlite3_commit_hook(db, nullptr, nullptr);
  sqlite3_rollback_hook(db, nullptr, nullptr);
  sqlite3_wal_hook(db, nullptr, nullptr);
  sqlite3_set_authorizer(db, &Connection::on_authorize, nullptr);
  sqlite3_close_v2(db);
  // Its destructor would close again, so it is never run. No mutex: a fork could leave it locked.
  // Nobody walks the list: it only keeps what is in it from being lost.
  static constinit std::atomic<Retired*> all{nullptr};
  Retired* const retired = retired_.release();
  retired->database = database_.release();
  retired->next = all.exchange(retired);
}

Connection::Connection(const std::string& path, int flags, const Clock& clock, Instant deadline)
    : clock_(clock),
      deadline_(deadline),
      jitter_(static_cast<std::uint64_t>(clock.now().time_since_epoch().count()) | 1),
      database_(std::make_unique<SQLite::Database>(
          path.c_str(), flags, 0, (flags & SQLITE_OPEN_READONLY) != 0 ? nullptr : gathering_vfs())),
      retired_(std::make_unique<Retired>()) {}

Connection::~Connection() {
  if (sqlite3_next_stmt(handle(), nullptr) != nullptr) retire();
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, Access access,
                                                     const Clock& clock, Instant deadline) {
  try {
    std::unique_ptr<Connection> connection(
        new Connection(path, flags_for(access), clock, deadline));
    if (auto ok = connection->configure(access); !ok) return fail(ok.error());
    return connection;
  } catch (const SQLite::Exception& error) {
    return fail(sql_error(error.getExtendedErrorCode()));
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory);
  }
}

Status Connection::execute(const char* sql) noexcept {
  const int result = sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return fail(sql_error(result));
  return {};
}

Status Connection::set_and_check(const char* name, std::int64_t value) {
  const std::string pragma = std::string("PRAGMA ") + name;
  if (auto ok = execute((pragma + "=" + std::to_string(value)).c_str()); !ok) return ok;
  Statement statement(pragma);
  Query query(handle(), statement);
  const auto row = query.step();
  if (!row) return fail(row.error());
  if (!*row || query.integer(0) != value) return fail(setting_refused(name));
  return {};
}

Status Connection::configure(Access access) {
  sqlite3* const db = handle();
  sqlite3_extended_result_codes(db, 1);
  sqlite3_busy_handler(db, &Connection::on_busy, this);
  // Checkpoints run only while a write lock is held (Checkpointer): never by themselves.
  sqlite3_wal_autocheckpoint(db, 0);
  for (const auto& [name, option, value] : {std::tuple{"defensive", SQLITE_DBCONFIG_DEFENSIVE, 1},
                                            {"dqs_dml", SQLITE_DBCONFIG_DQS_DML, 0},
                                            {"dqs_ddl", SQLITE_DBCONFIG_DQS_DDL, 0},
                                            {"trusted_schema", SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                            {"triggers", SQLITE_DBCONFIG_ENABLE_TRIGGER, 1},
                                            {"foreign_keys", SQLITE_DBCONFIG_ENABLE_FKEY, 1}}) {
    int now = -1;  // what a SQLite that does not know the option leaves there
    sqlite3_db_config(db, option, value, &now);
    if (now != value) return fail(setting_refused(name));
  }
  // REPLACE deletes rows without firing delete triggers unless triggers are recursive: the ledger
  // would not be append-only.
  for (const auto& [name, value] : {std::pair{"recursive_triggers", 1},
                                    {"cell_size_check", 1},
                                    {"temp_store", 2},
                                    {"secure_delete", 0}}) {
    if (auto ok = set_and_check(name, value); !ok) return ok;
  }
  // The log is overwritten in place, which flushes faster than a growing file; it shrinks only
  // after a reader let it grow far beyond its usual size.
  if (auto ok = set_and_check("journal_size_limit", std::int64_t{64} << 20); !ok) return ok;
  // No answer at all means a build without memory mapping, which is as good as off.
  if (auto ok = execute("PRAGMA mmap_size=0; PRAGMA cache_size=-8192"); !ok) return ok;
  if (access != Access::read) {
    if (auto ok = set_flushing(true); !ok) return ok;
  }
  sqlite3_commit_hook(db, &Connection::on_commit, this);
  sqlite3_rollback_hook(db, &Connection::on_rollback, this);
  // Set once and for ever: setting it again would make SQLite prepare every statement anew.
  sqlite3_set_authorizer(db, &Connection::on_authorize, this);
  return {};
}

// SQLite answers "wal" before it commits the switch: only the end of the statement tells whether it
// did, and a connection that did not goes on with a rollback journal.
Status Connection::use_wal() {
  // Of no effect on a file that has pages already.
  if (auto ok = execute("PRAGMA page_size=1024"); !ok) return ok;
  for (const std::string_view sql : {"PRAGMA journal_mode=WAL", "PRAGMA journal_mode"}) {
    Statement statement(sql);
    Query query(handle(), statement);
    const auto row = query.step();
    if (!row) return fail(row.error());
    if (!*row || query.text(0) != "wal") return fail(setting_refused("journal_mode"));
    if (const auto end = query.step(); !end) return fail(end.error());
  }
  return {};
}

Result<bool> Connection::has_wal() {
  Statement statement("PRAGMA journal_mode");
  Query query(handle(), statement);
  const auto row = query.step();
  if (!row) return fail(row.error());
  return *row && query.text(0) == "wal";
}

void Connection::leave_wal() noexcept { static_cast<void>(execute("PRAGMA journal_mode=DELETE")); }

Status Connection::set_flushing(bool every_commit) {
  const int level = every_commit ? 2 : 1;
  if (flushing_ == level) return {};
  // Read back once for each level: what a build took once it takes again.
  if (!flushing_checked_[every_commit]) {
    if (auto ok = set_and_check("synchronous", level); !ok) return ok;
    flushing_checked_[every_commit] = true;
  } else if (auto ok = execute(every_commit ? "PRAGMA synchronous=2" : "PRAGMA synchronous=1");
             !ok) {
    return ok;
  }
  flushing_ = level;
  return {};
}

bool Connection::take_refusal() noexcept { return std::exchange(refused_, false); }

bool Connection::take_rollback() noexcept { return std::exchange(rolled_back_, false); }

// SQLite's own busy timeout backs off to 100 ms and starves: here the waits stay short and random.
int Connection::on_busy(void* self, int calls) {
  auto& connection = *static_cast<Connection*>(self);
  const Duration left = saturating_sub(connection.deadline_, connection.clock_.now());
  if (left <= Duration::zero()) return 0;
  std::uint64_t& x = connection.jitter_;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  const auto most = std::chrono::microseconds(calls < 4 ? 20 : calls < 16 ? 200 : 500);
  const auto pause =
      Duration(static_cast<std::int64_t>(x % static_cast<std::uint64_t>(Duration(most).count()))) +
      std::chrono::microseconds(1);
  connection.clock_.sleep_for(std::min(left, pause));
  return 1;
}

int Connection::on_commit(void* self) {
  return static_cast<Connection*>(self)->commit_allowed_ ? 0 : 1;
}

void Connection::on_rollback(void* self) { static_cast<Connection*>(self)->rolled_back_ = true; }

int Connection::on_authorize(void* self, int action, const char* first, const char* second,
                             const char* database, const char* /*trigger*/) {
  if (self == nullptr) return SQLITE_DENY;  // of a connection that is closed
  auto& connection = *static_cast<Connection*>(self);
  if (!connection.confined_ || work_may(action, first, second, database)) return SQLITE_OK;
  connection.refused_ = true;
  return SQLITE_DENY;
}

}  // namespace wallock::sqlite
