// FileWatch: notices that the database or its log was moved, deleted or replaced while in use.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <string>

#include "wallock/time.hpp"

namespace wallock::sqlite {

// Without it a process could go on committing into a file that no longer has a name: every answer
// would be lost with it. Looks at most every 10 ms, by name only (stat opens nothing, so it takes
// none of SQLite's locks away).
class FileWatch {
 public:
  explicit FileWatch(const std::string& database) : log_(database + "-wal") {}

  // False once the files in use are no longer those at the path; false for good from then on.
  [[nodiscard]] bool intact(sqlite3* db, Instant now) noexcept;

 private:
  struct FileId {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const FileId&, const FileId&) = default;
  };
  [[nodiscard]] std::optional<FileId> log_id() const noexcept;

  std::string log_;
  std::optional<FileId> known_log_;
  std::optional<Instant> looked_at_;
  bool intact_ = true;
};

}  // namespace wallock::sqlite
