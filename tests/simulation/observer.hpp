// Observer: somebody who reads the store's tables between two calls, and nothing else.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <vector>

namespace wallock::test {

// A connection of its own, for reading. Throws std::runtime_error if SQLite fails.
class Observer {
 public:
  explicit Observer(const std::string& path);
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  ~Observer();

  // The tables in the words of StoreModel::rows().
  [[nodiscard]] std::string rows();
  // What the application's rows and the ledger's actions have against each other; empty if nothing.
  [[nodiscard]] std::string disagreement();
  // SQLite's own check of the pages: "ok".
  [[nodiscard]] std::string integrity();

 private:
  [[nodiscard]] sqlite3_stmt* prepared(const char* sql);
  void append_rows(std::string& words, sqlite3_stmt* statement, const char* begin);
  [[nodiscard]] std::string one_text(const char* sql);

  sqlite3* db_ = nullptr;
  std::vector<sqlite3_stmt*> statements_;
};

}  // namespace wallock::test
