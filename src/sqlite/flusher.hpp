// Flusher: flushes a store's log apart from its COMMITs.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "host/flush_line.hpp"
#include "sqlite/connection.hpp"
#include "wallock/clock.hpp"
#include "wallock/result.hpp"

struct sqlite3_file;

namespace wallock::sqlite {

// Connections of its own, for their file handles of the log: flushing goes through SQLite's virtual
// file system, beside whatever the write connection does. One for each lane of the flush line, of
// which the first is there from the start and the others from when they are needed.
//
// All members may be called from all threads at once.
class Flusher {
 public:
  // setting_refused if the file is not in WAL mode; else as Connection::open.
  [[nodiscard]] static Result<std::unique_ptr<Flusher>> open(const std::string& path,
                                                             const Clock& clock, Instant deadline);

  using Flushed = host::FlushLine::Flushed;

  // flushed: everything that was written to the log before is durable. failed: the system says
  // otherwise, and nobody knows what of it is; `line`, if there is one, was told; without one every
  // flush fails until the log was written again. not_begun: this lane's handle cannot be had now;
  // never of the first one. Calls of different lanes do not wait for each other.
  [[nodiscard]] Flushed flush(std::size_t lane, host::FlushLine* line) noexcept;
  // After a flush that failed, with the write lock held: the system may have marked pages as
  // written that are not, and would not write them again. Writes the whole log once more, as it
  // reads, and flushes it.
  [[nodiscard]] bool write_again() noexcept;

  // A flush failed of which no line was told, and the log was not written again since.
  [[nodiscard]] bool is_suspect() const noexcept { return suspect_.load(); }
  // Somebody else's flush did: a COMMIT's own.
  void suspect() noexcept { suspect_.store(true); }

 private:
  struct Log {
    std::mutex mutex;
    std::unique_ptr<Connection> connection;
    sqlite3_file* file = nullptr;  // the connection's

    [[nodiscard]] Status open(const std::string& path, const Clock& clock,
                              Instant deadline) noexcept;
  };

  Flusher(std::string path, const Clock& clock) : path_(std::move(path)), clock_(clock) {}

  [[nodiscard]] bool is_open(Log& log) noexcept;
  [[nodiscard]] bool sync(Log& log, host::FlushLine* line) noexcept;
  [[nodiscard]] Flushed flush_one(Log& log, host::FlushLine* line) noexcept;
  // The system tells each handle once of a write that failed. Asks all of this process now: or each
  // would say later, of a log that is in order again, what one has said already.
  void hear_all(host::FlushLine* line) noexcept;

  const std::string path_;
  const Clock& clock_;
  std::array<Log, host::FlushLine::lanes> logs_;
  std::atomic<bool> suspect_{false};
};

}  // namespace wallock::sqlite
