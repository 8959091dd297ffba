// TempFolder, TempStore and RawDatabase: a store on disk in a fresh folder per test, and a plain
// SQLite connection to look at it, or to spoil it, behind the library's back.
#pragma once

#include <sqlite3.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "wallock/coordinator.hpp"
#include "wallock/manual_clock.hpp"

namespace wallock::test {

// A new folder under the system's own for temporary files; gone with the object.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "wallock-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// The whole content of a file. Only for a database that nobody has open: on POSIX, closing it again
// drops the locks that this process has on it.
[[nodiscard]] inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

// A connection without any of the library's settings.
class RawDatabase {
 public:
  explicit RawDatabase(const std::string& path,
                       int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) {
    if (sqlite3_open_v2(path.c_str(), &db_, flags, nullptr) != SQLITE_OK) {
      sqlite3_close(db_);
      throw std::runtime_error("cannot open " + path);
    }
    sqlite3_extended_result_codes(db_, 1);
    sqlite3_wal_autocheckpoint(db_, 0);
  }
  RawDatabase(const RawDatabase&) = delete;
  RawDatabase& operator=(const RawDatabase&) = delete;
  ~RawDatabase() { sqlite3_close_v2(db_); }

  [[nodiscard]] sqlite3* handle() const noexcept { return db_; }

  // SQLite's own words about what came of it: "ok", or its message.
  std::string run(const std::string& sql) {
    char* message = nullptr;
    const int result = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, &message);
    std::string words = result == SQLITE_OK ? "ok" : message != nullptr ? message : "error";
    sqlite3_free(message);
    return words;
  }
  // Runs what a test relies on.
  void must(const std::string& sql) {
    if (auto words = run(sql); words != "ok") throw std::runtime_error(words + ": " + sql);
  }
  // The first column of the first row, as text; empty if there is none.
  [[nodiscard]] std::string text(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
      throw std::runtime_error(std::string(sqlite3_errmsg(db_)) + ": " + sql);
    }
    std::string value;
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_bytes(statement, 0) > 0) {
      value.assign(static_cast<const char*>(sqlite3_column_blob(statement, 0)),
                   static_cast<std::size_t>(sqlite3_column_bytes(statement, 0)));
    }
    sqlite3_finalize(statement);
    return value;
  }
  [[nodiscard]] std::int64_t integer(const std::string& sql) {
    const std::string value = text("SELECT CAST((" + sql + ") AS TEXT)");
    return value.empty() ? 0 : std::stoll(value);
  }

 private:
  sqlite3* db_ = nullptr;
};

// Where a store lies, and the clock that it lives on.
class TempStore {
 public:
  TempFolder folder;
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();

  [[nodiscard]] std::string path() const { return folder.file("store.db"); }
  // On the store's own clock, and without flushes: tests of what a flush is for ask for them.
  [[nodiscard]] Options options() const {
    Options options;
    options.durability = Durability::relaxed;
    options.clock = clock;
    return options;
  }
  // As another process would.
  [[nodiscard]] Coordinator open() const { return open(options()); }
  [[nodiscard]] Coordinator open(Options with) const {
    return Coordinator::open(path(), std::move(with)).value();
  }
  [[nodiscard]] RawDatabase raw() const { return RawDatabase(path()); }
};

}  // namespace wallock::test
