// Checkpointer: moves the log into the database, only ever under a held write lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "sqlite/connection.hpp"
#include "sqlite/session.hpp"
#include "wallock/clock.hpp"

namespace wallock::sqlite {

// SQLite 3.7.0 to 3.51.2 can lose commits when a checkpoint and a commit meet (fixed in 3.51.3,
// 3.50.7 and 3.44.6). They cannot meet here: the write connection holds BEGIN IMMEDIATE while a
// second connection runs a PASSIVE checkpoint, and rolls back after it. FULL and TRUNCATE are no
// way out: without the lock they silently do what PASSIVE does.
//
// One thread at a time; frames() and count() from any thread.
class Checkpointer {
 public:
  Checkpointer(std::string path, const Clock& clock) : path_(std::move(path)), clock_(clock) {}

  // Watches the log's length on the session's connection. Again after every reopening.
  void watch(Session& session) noexcept;

  // Between two transactions: checkpoints if the log has grown long enough. Skips its turn while
  // another process holds the lock; every error is harmless, the log only stays longer.
  void after_commit(Session& session) noexcept;

  [[nodiscard]] std::uint64_t frames() const noexcept { return frames_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // Commits of the watched sessions that wrote to the log; for the same thread.
  [[nodiscard]] std::uint64_t writes() const noexcept { return writes_; }

 private:
  static int on_wal(void* self, sqlite3*, const char*, int frames);
  // True if all went well. Allocates nothing but inside SQLite and Connection::open.
  [[nodiscard]] bool checkpoint(Session& session) noexcept;

  const std::string path_;
  const Clock& clock_;
  std::unique_ptr<Connection> connection_;
  std::atomic<std::uint64_t> frames_{0};
  std::atomic<std::uint64_t> count_{0};
  std::uint64_t writes_ = 0;
  std::uint64_t next_at_ = 0;
};

}  // namespace wallock::sqlite
