// The application of the process tests: counters that workers read, think about, and write back,
// and a row for each time that one was written.
#pragma once

#include <cstdint>
#include <string>

#include "history.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {

inline constexpr const char* counter_schema =
    "CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS increments (n INTEGER PRIMARY KEY, action TEXT NOT NULL,"
    " resource TEXT NOT NULL, value INTEGER NOT NULL, token INTEGER NOT NULL)";

inline void create_counter(SQLite::Database& database, const std::string& resource) {
  database.exec(counter_schema);
  SQLite::Statement insert(database, "INSERT OR IGNORE INTO counters VALUES (?, 0)");
  insert.bind(1, resource);
  insert.exec();
}

[[nodiscard]] inline std::int64_t read_counter(SQLite::Database& database,
                                               const std::string& resource) {
  SQLite::Statement select(database, "SELECT value FROM counters WHERE name = ?");
  select.bind(1, resource);
  return select.executeStep() ? select.getColumn(0).getInt64() : -1;
}

// Writes the value, whatever the counter is by now: whoever read too long ago overwrites others.
inline void write_counter(SQLite::Database& database, const Increment& increment) {
  SQLite::Statement update(database, "UPDATE counters SET value = ? WHERE name = ?");
  update.bind(1, increment.value);
  update.bind(2, increment.resource);
  update.exec();
  SQLite::Statement insert(
      database, "INSERT INTO increments (action, resource, value, token) VALUES (?, ?, ?, ?)");
  insert.bind(1, increment.action);
  insert.bind(2, increment.resource);
  insert.bind(3, increment.value);
  insert.bind(4, static_cast<std::int64_t>(increment.token));
  insert.exec();
}

// The counters and increments of the file, added to the history.
inline void read_increments(SQLite::Database& database, History& history) {
  SQLite::Statement rows(database,
                         "SELECT action, resource, value, token FROM increments ORDER BY n");
  while (rows.executeStep()) {
    history.increments.push_back(
        {.action = rows.getColumn(0).getString(),
         .resource = rows.getColumn(1).getString(),
         .value = rows.getColumn(2).getInt64(),
         .token = static_cast<std::uint64_t>(rows.getColumn(3).getInt64())});
  }
  SQLite::Statement counters(database, "SELECT name, value FROM counters");
  while (counters.executeStep())
    history.counters[counters.getColumn(0).getString()] = counters.getColumn(1).getInt64();
}

}  // namespace wallock::test
