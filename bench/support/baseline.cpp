#include "baseline.hpp"

#include <time.h>

#include <cstdio>
#include <cstdlib>

namespace wallock::bench {
namespace {

constexpr std::int64_t lease_ns = 30'000'000'000;

[[noreturn]] void give_up(sqlite3* connection) {
  std::fprintf(stderr, "baseline: %s\n", sqlite3_errmsg(connection));
  std::exit(EXIT_FAILURE);
}

void check(int rc, sqlite3* connection) {
  if (rc != SQLITE_OK) give_up(connection);
}

void execute_script(sqlite3* connection, const char* sql) {
  check(sqlite3_exec(connection, sql, nullptr, nullptr, nullptr), connection);
}

sqlite3* open_connection(const std::string& path) {
  sqlite3* connection = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  check(sqlite3_open_v2(path.c_str(), &connection, flags, nullptr), connection);
  execute_script(connection, R"(
    PRAGMA journal_mode = WAL;
    PRAGMA secure_delete = OFF;
    CREATE TABLE IF NOT EXISTS leases (
      resource TEXT NOT NULL PRIMARY KEY,
      token    INTEGER NOT NULL,
      holder   TEXT,
      expires  INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS actions (
      id       TEXT NOT NULL PRIMARY KEY,
      payload  BLOB NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS outbox (
      position INTEGER PRIMARY KEY,
      id       TEXT NOT NULL,
      payload  BLOB NOT NULL,
      state    INTEGER NOT NULL,
      holder   TEXT,
      expires  INTEGER NOT NULL) STRICT;
    CREATE INDEX IF NOT EXISTS outbox_ready ON outbox (position) WHERE state = 0;)");
  return connection;
}

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

CachedStatement::CachedStatement(sqlite3* connection, const char* sql) {
  sqlite3_stmt* handle = nullptr;
  check(sqlite3_prepare_v3(connection, sql, -1, SQLITE_PREPARE_PERSISTENT, &handle, nullptr),
        connection);
  handle_.reset(handle);
}

CachedStatement& CachedStatement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(handle_.get(), index, value);
  return *this;
}

CachedStatement& CachedStatement::bind(int index, const std::string& text) {
  sqlite3_bind_text(handle_.get(), index, text.data(), static_cast<int>(text.size()),
                    SQLITE_STATIC);
  return *this;
}

CachedStatement& CachedStatement::bind_blob(int index, const std::string& bytes) {
  sqlite3_bind_blob(handle_.get(), index, bytes.data(), static_cast<int>(bytes.size()),
                    SQLITE_STATIC);
  return *this;
}

std::optional<std::int64_t> CachedStatement::run() {
  std::optional<std::int64_t> value;
  int rc = sqlite3_step(handle_.get());
  if (rc == SQLITE_ROW) {
    value = sqlite3_column_int64(handle_.get(), 0);
    rc = sqlite3_step(handle_.get());
  }
  if (rc != SQLITE_DONE) give_up(sqlite3_db_handle(handle_.get()));
  sqlite3_reset(handle_.get());
  return value;
}

Baseline::Link::Link(const std::string& path, const char* synchronous)
    : connection(open_connection(path)) {
  sqlite3* db = connection.get();
  execute_script(db, synchronous);
  begin = {db, "BEGIN IMMEDIATE"};
  commit = {db, "COMMIT"};
  // Reading first costs SQLite less than an upsert with RETURNING does.
  lookup = {db,
            "SELECT CASE WHEN holder IS NULL OR expires <= ?2 THEN token END"
            " FROM leases WHERE resource = ?1"};
  first_grant = {db,
                 "INSERT INTO leases (resource, token, holder, expires) VALUES (?1, 1, ?2, ?3)"};
  grant = {db, "UPDATE leases SET token = ?2, holder = ?3, expires = ?4 WHERE resource = ?1"};
  free = {db, "UPDATE leases SET holder = NULL, expires = 0 WHERE resource = ?1 AND token = ?2"};
  insert = {db, "INSERT INTO actions (id, payload) VALUES (?1, ?2)"};
  enqueue = {db, "INSERT INTO outbox (id, payload, state, expires) VALUES (?1, ?2, 0, 0)"};
  ready = {db,
           "SELECT position, id, payload FROM outbox WHERE state = 0 ORDER BY position LIMIT 1"};
  take = {db, "UPDATE outbox SET state = 1, holder = ?2, expires = ?3 WHERE position = ?1"};
  remove = {db, "DELETE FROM outbox WHERE position = ?1"};
}

Baseline::Baseline(const std::string& path, Durability durability)
    : flushed_(durability == Durability::relaxed
                   ? nullptr
                   : std::make_unique<Link>(path, "PRAGMA synchronous = FULL")),
      unflushed_(durability == Durability::every_answer
                     ? nullptr
                     : std::make_unique<Link>(path, "PRAGMA synchronous = NORMAL")),
      lease_link_(unflushed_ ? *unflushed_ : *flushed_),
      commit_link_(flushed_ ? *flushed_ : *unflushed_) {}

std::int64_t Baseline::grant(Link& link, const std::string& resource, const std::string& holder) {
  const std::int64_t now = now_ns();
  const auto former = link.lookup.bind(1, resource).bind(2, now).run();
  if (!former) {
    link.first_grant.bind(1, resource).bind(2, holder).bind(3, now + lease_ns).run();
    return 1;
  }
  if (*former == 0) give_up(link.connection.get());  // NULL: somebody has it
  const std::int64_t token = *former + 1;
  link.grant.bind(1, resource).bind(2, token).bind(3, holder).bind(4, now + lease_ns).run();
  return token;
}

void Baseline::insert(Link& link, std::span<const BaselineAction> actions) {
  for (const BaselineAction& action : actions)
    link.insert.bind(1, action.id).bind_blob(2, action.payload).run();
}

std::int64_t Baseline::acquire(const std::string& resource, const std::string& holder) {
  lease_link_.begin.run();
  const std::int64_t token = grant(lease_link_, resource, holder);
  lease_link_.commit.run();
  return token;
}

void Baseline::release(const std::string& resource, std::int64_t token) {
  lease_link_.begin.run();
  lease_link_.free.bind(1, resource).bind(2, token).run();
  lease_link_.commit.run();
}

void Baseline::commit(std::span<const BaselineAction> actions) {
  commit_link_.begin.run();
  insert(commit_link_, actions);
  commit_link_.commit.run();
}

void Baseline::execute(const std::string& resource, const std::string& holder,
                       std::span<const BaselineAction> actions) {
  commit_link_.begin.run();
  const std::int64_t token = grant(commit_link_, resource, holder);
  insert(commit_link_, actions);
  commit_link_.free.bind(1, resource).bind(2, token).run();
  commit_link_.commit.run();
}

void Baseline::enqueue(std::span<const BaselineAction> actions) {
  commit_link_.begin.run();
  for (const BaselineAction& action : actions)
    commit_link_.enqueue.bind(1, action.id).bind_blob(2, action.payload).run();
  commit_link_.commit.run();
}

std::int64_t Baseline::claim(const std::string& holder) {
  lease_link_.begin.run();
  const auto position = lease_link_.ready.run();
  if (!position) give_up(lease_link_.connection.get());
  lease_link_.take.bind(1, *position).bind(2, holder).bind(3, now_ns() + lease_ns).run();
  lease_link_.commit.run();
  return *position;
}

void Baseline::settle(std::int64_t delivery) {
  commit_link_.begin.run();
  commit_link_.remove.bind(1, delivery).run();
  commit_link_.commit.run();
}

}  // namespace wallock::bench
