// What the tests of several processes share: the programs, and looking at a store from outside.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "wallock/coordinator.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {

// The path of a program in tests/process/programs.
[[nodiscard]] inline std::string program(std::string_view name) {
  std::string path = WALLOCK_TEST_PROGRAM_DIR "/";
  return path.append(name);
}

template <class T>
[[nodiscard]] T must(Result<T> result) {
  INFO((result ? std::string() : to_string(result.error())));
  REQUIRE(result);
  return *std::move(result);
}

// "ok" for a sound file.
[[nodiscard]] inline std::string integrity_check(const std::string& database) {
  SQLite::Database connection(database, SQLite::OPEN_READONLY, 10'000);
  return connection.execAndGet("PRAGMA integrity_check").getString();
}

// The whole ledger.
[[nodiscard]] inline std::vector<AuditRecord> all_records(Coordinator& coordinator) {
  std::vector<AuditRecord> records;
  for (;;) {
    auto page = must(coordinator.audit({.from = records.size(), .limit = 10'000}));
    if (page.empty()) return records;
    records.insert(records.end(), page.begin(), page.end());
  }
}

[[nodiscard]] inline std::size_t count(const std::vector<AuditRecord>& records, RecordKind kind) {
  std::size_t found = 0;
  for (const AuditRecord& record : records)
    found += record.entry().kind == kind ? 1 : 0;
  return found;
}

}  // namespace wallock::test
