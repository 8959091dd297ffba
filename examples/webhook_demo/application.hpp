// The application: its tables, its SQL, and what a webhook does to a repository. All of it knows
// nothing of leases; who may write when is decided elsewhere.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "webhooks.hpp"

namespace demo {

// What is kept of a repository. Read, changed in memory, written back: two writers who read the
// same state lose one of the two changes.
struct RepositoryState {
  std::int64_t applied = 0;  // webhooks applied
  std::int64_t bytes = 0;    // their sizes, added up
  std::uint64_t chain = 0;   // FNV-1a over all bodies in the order applied: tells any other order

  friend bool operator==(const RepositoryState&, const RepositoryState&) = default;
};

// The state after one more webhook.
[[nodiscard]] RepositoryState apply(RepositoryState state, const Webhook& webhook);

// One row for each time a webhook was applied. The table has no unique constraint, so that
// doubling would be seen.
struct Effect {
  std::string webhook;  // its id
  std::string repository;
  std::uint64_t token = 0;  // FencingToken::value() that it was written under
  std::string worker;
};

// What a worker writes for one webhook.
struct Update {
  Effect effect;
  RepositoryState state;
};

using Random = std::mt19937_64;

// A connection of the application's own to the database that wallock's tables are in too. It goes
// through SQLite like everybody else; nothing here opens the file in any other way.
class Application {
 public:
  // Throws SQLite::Exception, like every member.
  explicit Application(const std::string& database_path);

  // Makes the tables and loads the work list.
  void create(const std::vector<Webhook>& webhooks);

  // A webhook that nobody has applied yet, of any repository or of one. Empty if there is none.
  [[nodiscard]] std::optional<Webhook> pick(Random& random);
  [[nodiscard]] std::optional<Webhook> pick(const std::string& repository, Random& random);
  [[nodiscard]] RepositoryState read(const std::string& repository);

  // The application's statements for one webhook, on a connection that is in a transaction: inside
  // a commit, the one that wallock/sqlite.hpp gives.
  static void write(SQLite::Database& database, const Update& update);
  // The same in a transaction of this connection's own, asking nobody.
  void write_unguarded(const Update& update);

  // For the checks: everything that was applied, in the order it was committed; every state.
  [[nodiscard]] std::vector<Effect> effects();
  [[nodiscard]] std::map<std::string, RepositoryState> states();

 private:
  SQLite::Database database_;
};

}  // namespace demo
