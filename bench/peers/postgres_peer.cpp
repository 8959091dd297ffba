#include <optional>
#include <utility>

#include "peers.hpp"
#include "postgres.hpp"

namespace wallock::bench {
namespace {

// A lease row whose token is raised in one statement. Where others are expected, the way to it
// leads through an advisory lock, which blocks until it is free: nobody polls.
class LeaseRow final : public LeaseClient {
 public:
  LeaseRow(const std::string& socket_folder, const std::string& space, std::string who,
           Company company, const std::string& synchronous_commit)
      : postgres_(socket_folder), who_(std::move(who)), company_(company) {
    const std::string table = "leases_" + space;
    postgres_.script("SET client_min_messages = warning; SET synchronous_commit = " +
                     synchronous_commit + "; CREATE TABLE IF NOT EXISTS " + table +
                     " (key text PRIMARY KEY, token bigint NOT NULL, holder text,"
                     " expires timestamptz NOT NULL) WITH (fillfactor = 50)");
    postgres_.prepare(
        "make", "INSERT INTO " + table + " VALUES ($1, 0, NULL, now()) ON CONFLICT DO NOTHING");
    postgres_.prepare("acquire",
                      "UPDATE " + table +
                          " SET token = token + 1, holder = $2,"
                          " expires = clock_timestamp() + interval '30 s' WHERE key = $1"
                          " AND (holder IS NULL OR expires <= clock_timestamp()) RETURNING token");
    postgres_.prepare("release",
                      "UPDATE " + table + " SET holder = NULL WHERE key = $1 AND token = $2");
    postgres_.prepare("enter", "SELECT pg_advisory_lock(hashtextextended($1, 0))");
    postgres_.prepare("leave", "SELECT pg_advisory_unlock(hashtextextended($1, 0))");
    postgres_.begin_pipeline();
  }

  void acquire(const std::string& key) override {
    if (key != key_) make_row(key);
    const bool gated = company_ == Company::others;
    if (gated) postgres_.send("enter", {key});
    postgres_.send("acquire", {key, who_});
    postgres_.sync();
    if (gated) postgres_.rows();
    const Rows granted = postgres_.rows();
    postgres_.synced();
    if (PQntuples(granted.get()) != 1) give_up("postgres", "the lease is held");
    token_ = PQgetvalue(granted.get(), 0, 0);
  }

  // The gate opens after the release is committed.
  void release() override {
    const bool gated = company_ == Company::others;
    postgres_.send("release", {key_, token_});
    postgres_.sync();
    if (gated) {
      postgres_.send("leave", {key_});
      postgres_.sync();
    }
    postgres_.rows();
    postgres_.synced();
    if (gated) {
      postgres_.rows();
      postgres_.synced();
    }
  }

 private:
  void make_row(const std::string& key) {
    postgres_.send("make", {key});
    postgres_.sync();
    postgres_.rows();
    postgres_.synced();
    key_ = key;
  }

  Postgres postgres_;
  std::string who_, key_, token_;
  Company company_;
};

class AdvisoryLock final : public LeaseClient {
 public:
  explicit AdvisoryLock(const std::string& socket_folder) : postgres_(socket_folder) {
    postgres_.prepare("enter", "SELECT pg_advisory_lock(hashtextextended($1, 0))");
    postgres_.prepare("leave", "SELECT pg_advisory_unlock(hashtextextended($1, 0))");
    postgres_.begin_pipeline();
  }

  void acquire(const std::string& key) override {
    key_ = key;
    run("enter");
  }
  void release() override { run("leave"); }

 private:
  void run(const char* statement) {
    postgres_.send(statement, {key_});
    postgres_.sync();
    postgres_.rows();
    postgres_.synced();
  }

  Postgres postgres_;
  std::string key_;
};

// The row's lock is the lease: a transaction that stays open until the release, whose token is
// durable only then.
class OpenTransaction final : public LeaseClient {
 public:
  OpenTransaction(const std::string& socket_folder, const std::string& space)
      : postgres_(socket_folder) {
    const std::string table = "held_" + space;
    postgres_.script("SET client_min_messages = warning; CREATE TABLE IF NOT EXISTS " + table +
                     " (key text PRIMARY KEY, token bigint NOT NULL) WITH (fillfactor = 50)");
    postgres_.prepare("begin", "BEGIN");
    postgres_.prepare("raise", "INSERT INTO " + table +
                                   " AS held VALUES ($1, 1) ON CONFLICT (key)"
                                   " DO UPDATE SET token = held.token + 1 RETURNING token");
    postgres_.prepare("commit", "COMMIT");
    postgres_.begin_pipeline();
  }

  void acquire(const std::string& key) override {
    postgres_.send("begin");
    postgres_.send("raise", {key});
    postgres_.sync();
    postgres_.rows();
    postgres_.rows();
    postgres_.synced();
  }
  void release() override {
    postgres_.send("commit");
    postgres_.sync();
    postgres_.rows();
    postgres_.synced();
  }

 private:
  Postgres postgres_;
};

class PostgresOutbox final : public OutboxClient {
 public:
  PostgresOutbox(const std::string& socket_folder, const std::string& space)
      : postgres_(socket_folder) {
    const std::string outbox = "outbox_" + space;
    const std::string business = "business_" + space;
    postgres_.script("SET client_min_messages = warning; CREATE TABLE IF NOT EXISTS " + business +
                     " (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, cents bigint);"
                     "CREATE TABLE IF NOT EXISTS " +
                     outbox +
                     " (position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL,"
                     " payload bytea NOT NULL, state smallint NOT NULL DEFAULT 0, holder text,"
                     " expires timestamptz);"
                     "CREATE INDEX IF NOT EXISTS ready_" +
                     space + " ON " + outbox + " (position) WHERE state = 0");
    const std::string insert = "INSERT INTO " + outbox +
                               " (id, payload) SELECT id, payload"
                               " FROM unnest($1::text[], $2::bytea[]) AS message (id, payload)";
    // Both tables in one statement: one transaction, one round trip, no BEGIN.
    postgres_.prepare("enqueue",
                      "WITH row AS (INSERT INTO " + business + " (cents) VALUES (995)) " + insert);
    postgres_.prepare("fill", insert);
    postgres_.prepare("analyze", "ANALYZE " + outbox);
    postgres_.prepare("claim", "UPDATE " + outbox +
                                   " SET state = 1, holder = 'worker-1',"
                                   " expires = now() + interval '30 s' WHERE position = ANY (ARRAY("
                                   "SELECT position FROM " +
                                   outbox +
                                   " WHERE state = 0 ORDER BY position LIMIT $1::bigint"
                                   " FOR UPDATE SKIP LOCKED)) RETURNING position, id, payload");
    postgres_.prepare("acknowledge",
                      "DELETE FROM " + outbox + " WHERE position = ANY ($1::bigint[])");
    postgres_.begin_pipeline();
  }

  void enqueue(std::size_t messages) override { run("enqueue", batch(messages)); }
  void fill(std::size_t messages) override {
    run("fill", batch(messages));
    run("analyze", {});
  }

  void claim(std::size_t messages) override {
    const Rows rows = run("claim", {std::to_string(messages)});
    if (PQntuples(rows.get()) != static_cast<int>(messages)) {
      give_up("postgres", "too few messages");
    }
    claimed_ = "{";
    for (int i = 0; i < PQntuples(rows.get()); ++i)
      claimed_ += (i == 0 ? "" : ",") + std::string(PQgetvalue(rows.get(), i, 0));
    claimed_ += "}";
  }
  void acknowledge() override { run("acknowledge", {claimed_}); }

 private:
  Rows run(const char* statement, const Words& values) {
    postgres_.send(statement, values);
    postgres_.sync();
    Rows rows = postgres_.rows();
    postgres_.synced();
    return rows;
  }

  Words batch(std::size_t messages) {
    std::string ids = "{", payloads = "{";
    for (std::size_t i = 0; i < messages; ++i) {
      const std::string comma = i == 0 ? "" : ",";
      ids += comma + "payment-" + std::to_string(1'000'000 + next_id_++);
      payloads += comma + payload_;
    }
    return {ids + "}", payloads + "}"};
  }

  Postgres postgres_;
  std::string payload_ = message_payload();
  std::string claimed_;
  std::uint64_t next_id_ = 0;
};

using MakeLeases = std::function<std::unique_ptr<LeaseClient>(
    const std::string& space, const std::string& who, Company company)>;

MakeLeases lease_rows(const std::string& socket_folder, const std::string& synchronous_commit) {
  return [=](const std::string& space, const std::string& who, Company company) {
    return std::make_unique<LeaseRow>(socket_folder, space, who, company, synchronous_commit);
  };
}

}  // namespace

std::vector<Peer> postgres_peers(const Places& places) {
  const std::string& socket = places.postgres;
  const std::string gate = "pg_advisory_lock in front of the row, which dies with the connection";
  Peer row{.name = "postgres row",
           .durable = true,
           .durability = "every transaction is flushed",
           .waiting = gate,
           .lease = lease_rows(socket, "on"),
           .outbox = [socket](const std::string& space) {
             return std::make_unique<PostgresOutbox>(socket, space);
           }};
  Peer row_async{.name = "postgres row async",
                 .durability =
                     "synchronous_commit = off: a power cut takes back some 0.6 s, and "
                     "tokens with it",
                 .waiting = gate,
                 .lease = lease_rows(socket, "off")};
  Peer transaction{.name = "postgres transaction",
                   .durability =
                       "the lease is an open transaction: its token is durable at the "
                       "release only, and there is no ttl",
                   .waiting = "the row's lock blocks",
                   .lease = [socket](const std::string& space, const std::string&, Company) {
                     return std::make_unique<OpenTransaction>(socket, space);
                   }};
  Peer advisory{.name = "postgres advisory",
                .durability = "nothing: a lock in the server's memory, without token or ttl",
                .waiting = "pg_advisory_lock blocks",
                .lease = [socket](const std::string&, const std::string&, Company) {
                  return std::make_unique<AdvisoryLock>(socket);
                }};
  std::vector<Peer> peers;
  for (Peer* peer : {&row, &row_async, &transaction, &advisory}) {
    if (socket.empty()) peer->skipped = "skipped";
    peers.push_back(std::move(*peer));
  }
  return peers;
}

}  // namespace wallock::bench
