#include "application.hpp"

#include <SQLiteCpp/Statement.h>

namespace demo {

namespace {

constexpr int busy_timeout_ms = 10'000;

constexpr const char* schema = R"(
  CREATE TABLE webhooks (
    id         TEXT PRIMARY KEY,
    repository TEXT NOT NULL,
    body       TEXT NOT NULL
  ) STRICT;
  CREATE TABLE repositories (
    name    TEXT PRIMARY KEY,
    applied INTEGER NOT NULL,
    bytes   INTEGER NOT NULL,
    chain   INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE effects (
    position   INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook    TEXT NOT NULL,
    repository TEXT NOT NULL,
    token      INTEGER NOT NULL,
    worker     TEXT NOT NULL
  ) STRICT;
  CREATE INDEX effects_webhook ON effects (webhook);
)";

// SQLite's integers are signed; the 64 bits are the same.
std::int64_t to_sql(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::uint64_t from_sql(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// A random row of those that are left; an empty repository stands for all.
constexpr const char* unapplied = R"(
  FROM webhooks AS w
  WHERE (?1 = '' OR w.repository = ?1)
    AND NOT EXISTS (SELECT 1 FROM effects AS e WHERE e.webhook = w.id)
)";

std::optional<Webhook> pick_unapplied(SQLite::Database& database, const std::string& repository,
                                      Random& random) {
  SQLite::Statement count(database, std::string("SELECT count(*)") + unapplied);
  count.bind(1, repository);
  count.executeStep();
  const auto left = count.getColumn(0).getInt64();
  if (left == 0) return std::nullopt;

  SQLite::Statement row(database, std::string("SELECT id, repository, body") + unapplied +
                                      "ORDER BY id LIMIT 1 OFFSET ?2");
  row.bind(1, repository);
  row.bind(2, to_sql(random() % from_sql(left)));
  if (!row.executeStep()) return std::nullopt;  // others have applied some in between
  return Webhook{.id = row.getColumn(0).getString(),
                 .repository = row.getColumn(1).getString(),
                 .body = row.getColumn(2).getString()};
}

}  // namespace

RepositoryState apply(RepositoryState state, const Webhook& webhook) {
  constexpr std::uint64_t fnv_offset = 0xcbf29ce484222325;
  constexpr std::uint64_t fnv_prime = 0x00000100000001b3;
  if (state.applied == 0) state.chain = fnv_offset;
  for (const char c : webhook.body)
    state.chain = (state.chain ^ static_cast<unsigned char>(c)) * fnv_prime;
  ++state.applied;
  state.bytes += static_cast<std::int64_t>(webhook.body.size());
  return state;
}

Application::Application(const std::string& database_path)
    : database_(database_path, SQLite::OPEN_READWRITE, busy_timeout_ms) {
  // SQLite before 3.51.3 can lose committed transactions when a checkpoint and a commit meet (its
  // "WAL reset" bug). Wallock runs its checkpoints so that they cannot meet; a connection of the
  // application's own must run none.
  database_.exec("PRAGMA wal_autocheckpoint = 0");
}

void Application::create(const std::vector<Webhook>& webhooks) {
  database_.exec("BEGIN IMMEDIATE");  // undone by the connection's end if something throws
  database_.exec(schema);
  SQLite::Statement insert(database_, "INSERT INTO webhooks VALUES (?, ?, ?)");
  for (const Webhook& webhook : webhooks) {
    insert.bind(1, webhook.id);
    insert.bind(2, webhook.repository);
    insert.bind(3, webhook.body);
    insert.exec();
    insert.reset();
  }
  database_.exec("COMMIT");
}

std::optional<Webhook> Application::pick(Random& random) {
  return pick_unapplied(database_, "", random);
}

std::optional<Webhook> Application::pick(const std::string& repository, Random& random) {
  return pick_unapplied(database_, repository, random);
}

RepositoryState Application::read(const std::string& repository) {
  SQLite::Statement row(database_, "SELECT applied, bytes, chain FROM repositories WHERE name = ?");
  row.bind(1, repository);
  if (!row.executeStep()) return {};
  return RepositoryState{.applied = row.getColumn(0).getInt64(),
                         .bytes = row.getColumn(1).getInt64(),
                         .chain = from_sql(row.getColumn(2).getInt64())};
}

void Application::write(SQLite::Database& database, const Update& update) {
  SQLite::Statement state(database, "INSERT OR REPLACE INTO repositories VALUES (?, ?, ?, ?)");
  state.bind(1, update.effect.repository);
  state.bind(2, update.state.applied);
  state.bind(3, update.state.bytes);
  state.bind(4, to_sql(update.state.chain));
  state.exec();

  SQLite::Statement effect(
      database, "INSERT INTO effects (webhook, repository, token, worker) VALUES (?, ?, ?, ?)");
  effect.bind(1, update.effect.webhook);
  effect.bind(2, update.effect.repository);
  effect.bind(3, to_sql(update.effect.token));
  effect.bind(4, update.effect.worker);
  effect.exec();
}

void Application::write_unguarded(const Update& update) {
  database_.exec("BEGIN IMMEDIATE");
  write(database_, update);
  database_.exec("COMMIT");
}

std::vector<Effect> Application::effects() {
  std::vector<Effect> effects;
  SQLite::Statement row(database_,
                        "SELECT webhook, repository, token, worker FROM effects ORDER BY position");
  while (row.executeStep()) {
    effects.push_back({.webhook = row.getColumn(0).getString(),
                       .repository = row.getColumn(1).getString(),
                       .token = from_sql(row.getColumn(2).getInt64()),
                       .worker = row.getColumn(3).getString()});
  }
  return effects;
}

std::map<std::string, RepositoryState> Application::states() {
  std::map<std::string, RepositoryState> states;
  SQLite::Statement row(database_, "SELECT name, applied, bytes, chain FROM repositories");
  while (row.executeStep()) {
    states[row.getColumn(0).getString()] = {.applied = row.getColumn(1).getInt64(),
                                            .bytes = row.getColumn(2).getInt64(),
                                            .chain = from_sql(row.getColumn(3).getInt64())};
  }
  return states;
}

}  // namespace demo
