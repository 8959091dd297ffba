#include "sqlite/flusher.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>

namespace wallock::sqlite {
namespace {

constexpr int flush_flags = SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY;

// A connection opens its log when it first reads.
Result<sqlite3_file*> log_of(Connection& connection) {
  if (auto ok = connection.execute("PRAGMA user_version"); !ok) return fail(ok.error());
  sqlite3_file* log = nullptr;
  const int result = sqlite3_file_control(connection.handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER,
                                          static_cast<void*>(&log));
  if (result != SQLITE_OK || log == nullptr || log->pMethods == nullptr) {
    return fail(invalid(Errc::setting_refused, "journal_pointer"));
  }
  return log;
}

}  // namespace

Result<std::unique_ptr<Flusher>> Flusher::open(const std::string& path, const Clock& clock,
                                               Instant deadline) {
  auto connection = Connection::open(path, Access::write, clock, deadline);
  if (!connection) return fail(connection.error());
  const auto log = log_of(**connection);
  if (!log) return fail(log.error());
  return std::unique_ptr<Flusher>(new Flusher(*std::move(connection), *log));
}

bool Flusher::flush() noexcept {
  const std::lock_guard lock(mutex_);
  return log_->pMethods->xSync(log_, flush_flags) == SQLITE_OK;
}

bool Flusher::write_again() noexcept {
  const std::lock_guard lock(mutex_);
  sqlite3_int64 size = 0;
  if (log_->pMethods->xFileSize(log_, &size) != SQLITE_OK) return false;
  std::array<char, 4096> block{};
  for (sqlite3_int64 at = 0; at < size; at += static_cast<sqlite3_int64>(block.size())) {
    const int length = static_cast<int>(std::min<sqlite3_int64>(block.size(), size - at));
    if (log_->pMethods->xRead(log_, block.data(), length, at) != SQLITE_OK ||
        log_->pMethods->xWrite(log_, block.data(), length, at) != SQLITE_OK) {
      return false;
    }
  }
  return log_->pMethods->xSync(log_, flush_flags) == SQLITE_OK;
}

}  // namespace wallock::sqlite
