#include <sqlite3.h>
#include <time.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

#include "peers.hpp"
#include "shared_mutex.hpp"
#include "support/baseline.hpp"

namespace wallock::bench {
namespace {

constexpr std::int64_t lease_ns = 30'000'000'000;
constexpr const char* schema = R"(
    CREATE TABLE IF NOT EXISTS leases (
      resource TEXT NOT NULL PRIMARY KEY,
      token    INTEGER NOT NULL,
      holder   TEXT,
      expires  INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS business (number INTEGER PRIMARY KEY, cents INTEGER) STRICT;
    CREATE TABLE IF NOT EXISTS outbox (
      position INTEGER PRIMARY KEY,
      id       TEXT NOT NULL,
      payload  BLOB NOT NULL,
      state    INTEGER NOT NULL,
      holder   TEXT,
      expires  INTEGER NOT NULL) STRICT;
    CREATE INDEX IF NOT EXISTS outbox_ready ON outbox (position) WHERE state = 0;)";

std::int64_t boot_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// SQLite's busy timeout backs off to 100 ms; whoever writes by hand does better with short naps.
int nap(void*, int tries) {
  usleep(static_cast<useconds_t>(50 + 13 * (tries + getpid()) % 200));
  return 1;
}

struct Close {
  void operator()(sqlite3* connection) const noexcept { sqlite3_close(connection); }
};
using Connection = std::unique_ptr<sqlite3, Close>;

Connection open_database(const std::string& path, const std::string& synchronous) {
  sqlite3* connection = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path.c_str(), &connection, flags, nullptr) != SQLITE_OK) {
    give_up("sqlite", sqlite3_errmsg(connection));
  }
  sqlite3_busy_handler(connection, nap, nullptr);
  const std::string script =
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = " + synchronous + ";" + schema;
  if (sqlite3_exec(connection, script.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    give_up("sqlite", sqlite3_errmsg(connection));
  }
  return Connection(connection);
}

// A lease row; where others are expected, the way to it leads through a mutex.
class SqliteLeases final : public LeaseClient {
 public:
  SqliteLeases(const std::string& path, const std::string& synchronous, std::string who,
               Company company)
      : who_(std::move(who)), connection_(open_database(path, synchronous)) {
    if (company == Company::others) gate_.emplace(path + "-gate");
  }

  void acquire(const std::string& key) override {
    if (gate_) gate_->lock();
    const std::int64_t now = boot_time_ns();
    begin_.run();
    const auto former = lookup_.bind(1, key).bind(2, now).run();
    if (!former) {
      insert_.bind(1, key).bind(2, who_).bind(3, now + lease_ns).run();
    } else {
      if (*former == 0) give_up("sqlite", "the lease is held");
      grant_.bind(1, key).bind(2, *former + 1).bind(3, who_).bind(4, now + lease_ns).run();
    }
    commit_.run();
    key_ = key;
    token_ = former.value_or(0) + 1;
  }

  void release() override {
    begin_.run();
    free_.bind(1, key_).bind(2, token_).run();
    commit_.run();
    if (gate_) gate_->unlock();
  }

 private:
  CachedStatement statement(const char* sql) { return {connection_.get(), sql}; }

  std::string who_, key_;
  std::int64_t token_ = 0;
  std::optional<SharedMutex> gate_;
  Connection connection_;
  CachedStatement begin_ = statement("BEGIN IMMEDIATE"), commit_ = statement("COMMIT");
  // Reading first costs SQLite less than an upsert with RETURNING does.
  CachedStatement lookup_ = statement(
      "SELECT CASE WHEN holder IS NULL OR expires <= ?2 THEN token END"
      " FROM leases WHERE resource = ?1");
  CachedStatement insert_ =
      statement("INSERT INTO leases (resource, token, holder, expires) VALUES (?1, 1, ?2, ?3)");
  CachedStatement grant_ =
      statement("UPDATE leases SET token = ?2, holder = ?3, expires = ?4 WHERE resource = ?1");
  CachedStatement free_ =
      statement("UPDATE leases SET holder = NULL, expires = 0 WHERE resource = ?1 AND token = ?2");
};

struct Message {
  std::int64_t position = 0;
  std::string id, payload;
};

class SqliteOutbox final : public OutboxClient {
 public:
  SqliteOutbox(const std::string& path, const std::string& synchronous)
      : connection_(open_database(path, synchronous)) {
    constexpr const char* sql =
        "SELECT position, id, payload FROM outbox WHERE state = 0 ORDER BY position LIMIT ?1";
    sqlite3_stmt* ready = nullptr;
    if (sqlite3_prepare_v2(connection_.get(), sql, -1, &ready, nullptr) != SQLITE_OK) {
      give_up("sqlite", sqlite3_errmsg(connection_.get()));
    }
    ready_.reset(ready);
  }

  void enqueue(std::size_t messages) override {
    begin_.run();
    business_.run();
    insert(messages);
    commit_.run();
  }

  void fill(std::size_t messages) override {
    begin_.run();
    insert(messages);
    commit_.run();
  }

  void claim(std::size_t messages) override {
    begin_.run();
    read_ready(messages);
    const std::int64_t expires = boot_time_ns() + lease_ns;
    for (const Message& message : claimed_)
      take_.bind(1, message.position).bind(2, who_).bind(3, expires).run();
    commit_.run();
    if (claimed_.size() != messages) give_up("sqlite", "too few messages");
  }

  void acknowledge() override {
    begin_.run();
    for (const Message& message : claimed_)
      remove_.bind(1, message.position).run();
    commit_.run();
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };

  CachedStatement statement(const char* sql) { return {connection_.get(), sql}; }

  void insert(std::size_t messages) {
    for (std::size_t i = 0; i < messages; ++i) {
      const std::string id = "payment-" + std::to_string(1'000'000 + next_id_++);
      enqueue_.bind(1, id).bind_blob(2, payload_).run();
    }
  }

  void read_ready(std::size_t messages) {
    sqlite3_stmt* ready = ready_.get();
    const auto bytes = [ready](int column) {
      const auto* begin = static_cast<const char*>(sqlite3_column_blob(ready, column));
      return std::string(begin, static_cast<std::size_t>(sqlite3_column_bytes(ready, column)));
    };
    claimed_.clear();
    sqlite3_bind_int64(ready, 1, static_cast<std::int64_t>(messages));
    while (sqlite3_step(ready) == SQLITE_ROW)
      claimed_.push_back({sqlite3_column_int64(ready, 0), bytes(1), bytes(2)});
    sqlite3_reset(ready);
  }

  std::uint64_t next_id_ = 0;
  std::string who_ = "worker-1";
  std::string payload_ = message_payload();
  std::vector<Message> claimed_;
  Connection connection_;
  std::unique_ptr<sqlite3_stmt, Finalize> ready_;
  CachedStatement begin_ = statement("BEGIN IMMEDIATE"), commit_ = statement("COMMIT");
  CachedStatement business_ = statement("INSERT INTO business (cents) VALUES (995)");
  CachedStatement enqueue_ =
      statement("INSERT INTO outbox (id, payload, state, expires) VALUES (?1, ?2, 0, 0)");
  CachedStatement take_ =
      statement("UPDATE outbox SET state = 1, holder = ?2, expires = ?3 WHERE position = ?1");
  CachedStatement remove_ = statement("DELETE FROM outbox WHERE position = ?1");
};

Peer sqlite_peer(const Places& places, const std::string& synchronous,
                 const std::string& durability) {
  const std::string prefix = places.folder + "/sqlite-" + synchronous + "-";
  return {.name = "sqlite " + synchronous,
          .durable = synchronous == "FULL",
          .durability = durability,
          .waiting = "a mutex in shared memory in front of the row, which dies with its holder",
          .lease =
              [=](const std::string& space, const std::string& who, Company company) {
                return std::make_unique<SqliteLeases>(prefix + space + ".db", synchronous, who,
                                                      company);
              },
          .outbox =
              [=](const std::string& space) {
                return std::make_unique<SqliteOutbox>(prefix + space + ".db", synchronous);
              }};
}

}  // namespace

std::vector<Peer> sqlite_peers(const Places& places) {
  return {sqlite_peer(places, "FULL", "every transaction is flushed"),
          sqlite_peer(places, "NORMAL",
                      "nothing is flushed on its own; a power cut may take back the last moments, "
                      "and tokens with them")};
}

}  // namespace wallock::bench
