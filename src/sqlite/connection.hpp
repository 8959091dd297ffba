// Connection: one SQLite connection with the settings that the library's safety depends on.
#pragma once

#include <SQLiteCpp/Database.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "wallock/clock.hpp"
#include "wallock/result.hpp"

namespace wallock::sqlite {

enum class Access : std::uint8_t { create, write, read };

// Waiting for locks is bounded by set_deadline; nothing on the connection waits longer.
//
// Neither copyable nor movable: SQLite holds pointers to it. One thread at a time. Statements that
// the application's work kept may outlive it: they answer SQLITE_MISUSE from then on, and SQLite
// closes the file when the last of them is finalized.
class Connection {
 public:
  // Opens the file (creating it for Access::create) and applies every setting, reading back those
  // that safety depends on. The journal mode is not touched: see use_wal.
  // store_unavailable, busy, io_error (transient); setting_refused (deterministic).
  [[nodiscard]] static Result<std::unique_ptr<Connection>> open(const std::string& path,
                                                                Access access, const Clock& clock,
                                                                Instant deadline);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  [[nodiscard]] sqlite3* handle() noexcept { return database_->getHandle(); }
  [[nodiscard]] SQLite::Database& database() noexcept { return *database_; }

  // Until when calls on this connection may wait for other processes' locks.
  void set_deadline(Instant deadline) noexcept { deadline_ = deadline; }

  // Puts the file into WAL mode, which stays with the file. Only under the creation lock: the
  // switch does not wait for other connections. setting_refused if SQLite answers anything else.
  // A new file gets pages of 1 KiB: a transaction changes a row or two on each of several pages,
  // and every page that it touches is summed, copied and written whole.
  [[nodiscard]] Status use_wal();
  // Whether the file is in WAL mode. Errors as open.
  [[nodiscard]] Result<bool> has_wal();
  // Back to a rollback journal, if nobody else has the file open.
  void leave_wal() noexcept;

  // synchronous=FULL (every COMMIT is flushed) or NORMAL, for the transactions that follow.
  [[nodiscard]] Status set_flushing(bool every_commit);

  // Runs SQL of the library's own that gives no rows; several statements are allowed.
  [[nodiscard]] Status execute(const char* sql) noexcept;

  // While true, statements prepared on this connection may not touch transaction control, other
  // databases, settings or tables whose names begin with "wallock_".
  void confine(bool to_the_application) noexcept { confined_ = to_the_application; }
  // True if such a statement was refused since the last call.
  [[nodiscard]] bool take_refusal() noexcept;
  // True if a transaction was rolled back as a whole since the last call.
  [[nodiscard]] bool take_rollback() noexcept;

  // While false, no COMMIT succeeds, explicit or automatic: so that work whose own error handling
  // ended the transaction cannot write outside of it.
  void allow_commit(bool allowed) noexcept { commit_allowed_ = allowed; }

 private:
  Connection(const std::string& path, int flags, const Clock& clock, Instant deadline);

  [[nodiscard]] Status configure(Access access);
  [[nodiscard]] Status set_and_check(const char* name, std::int64_t value);

  void retire() noexcept;
  static int on_busy(void* self, int calls);
  static int on_commit(void* self);
  static void on_rollback(void* self);
  static int on_authorize(void* self, int action, const char* first, const char* second,
                          const char* database, const char* trigger);

  const Clock& clock_;
  Instant deadline_;
  std::uint64_t jitter_;
  int flushing_ = -1;  // what synchronous was last set to
  std::array<bool, 2> flushing_checked_{};
  bool confined_ = false;
  bool refused_ = false;
  bool rolled_back_ = false;
  bool commit_allowed_ = true;
  std::unique_ptr<SQLite::Database> database_;

  // Where a database stays that is never destroyed, so that it is no leak. Made with the
  // connection: closing it must need no memory.
  struct Retired {
    SQLite::Database* database = nullptr;
    Retired* next = nullptr;
  };
  std::unique_ptr<Retired> retired_;
};

}  // namespace wallock::sqlite
