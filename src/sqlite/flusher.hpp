// Flusher: flushes a store's log apart from its COMMITs.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "sqlite/connection.hpp"
#include "wallock/clock.hpp"
#include "wallock/result.hpp"

struct sqlite3_file;

namespace wallock::sqlite {

// A connection of its own, for its file handle of the log: flushing goes through SQLite's virtual
// file system, beside whatever the write connection does.
//
// All members may be called from all threads at once.
class Flusher {
 public:
  // setting_refused if this SQLite does not give its log away; else as Connection::open.
  [[nodiscard]] static Result<std::unique_ptr<Flusher>> open(const std::string& path,
                                                             const Clock& clock, Instant deadline);

  // Everything that was written to the log before is durable. False if the system says otherwise:
  // then nobody knows what of it is.
  [[nodiscard]] bool flush() noexcept;
  // After a flush that failed, with the write lock held: the system may have marked pages as
  // written that are not, and would not write them again. Writes the whole log once more, as it
  // reads, and flushes it.
  [[nodiscard]] bool write_again() noexcept;

 private:
  Flusher(std::unique_ptr<Connection> connection, sqlite3_file* log) noexcept
      : connection_(std::move(connection)), log_(log) {}

  std::mutex mutex_;
  std::unique_ptr<Connection> connection_;
  sqlite3_file* log_;  // the connection's
};

}  // namespace wallock::sqlite
