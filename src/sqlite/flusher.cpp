#include "sqlite/flusher.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <utility>

namespace wallock::sqlite {
namespace {

constexpr int flush_flags = SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY;

// A connection opens its log when it first reads.
Result<sqlite3_file*> log_of(Connection& connection) noexcept {
  if (auto ok = connection.execute("PRAGMA user_version"); !ok) return fail(std::move(ok.error()));
  sqlite3_file* log = nullptr;
  sqlite3_file_control(connection.handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER,
                       static_cast<void*>(&log));
  // A file that is not in WAL mode has a journal there, which is closed between transactions.
  if (log->pMethods == nullptr) return fail(invalid(Errc::setting_refused, "journal_mode"));
  return log;
}

}  // namespace

// Errors are moved: a copy could want memory.
Status Flusher::Log::open(const std::string& path, const Clock& clock, Instant deadline) noexcept {
  auto opened = Connection::open(path, Access::write, clock, deadline);
  if (!opened) return fail(std::move(opened.error()));
  auto log = log_of(**opened);
  if (!log) return fail(std::move(log.error()));
  connection = *std::move(opened);
  file = *log;
  return {};
}

Result<std::unique_ptr<Flusher>> Flusher::open(const std::string& path, const Clock& clock,
                                               Instant deadline) {
  std::unique_ptr<Flusher> flusher(new Flusher(path, clock));
  if (auto ok = flusher->logs_.front().open(path, clock, deadline); !ok) return fail(ok.error());
  return flusher;
}

// The log's mutex is held.
bool Flusher::is_open(Log& log) noexcept {
  return log.file != nullptr || log.open(path_, clock_, clock_.now()).has_value();
}

Flusher::Flushed Flusher::flush(std::size_t lane, host::FlushLine* line) noexcept {
  Log& log = logs_[lane];
  const std::lock_guard lock(log.mutex);
  if (!is_open(log)) return Flushed::not_begun;
  if (log.file->pMethods->xSync(log.file, flush_flags) == SQLITE_OK) return Flushed::flushed;
  if (line != nullptr) line->broke();
  return Flushed::failed;
}

bool Flusher::write_again() noexcept {
  Log& first = logs_.front();
  const std::lock_guard lock(first.mutex);
  sqlite3_file* const log = first.file;
  sqlite3_int64 size = 0;
  if (log->pMethods->xFileSize(log, &size) != SQLITE_OK) return false;
  std::array<char, 4096> block{};
  for (sqlite3_int64 at = 0; at < size; at += static_cast<sqlite3_int64>(block.size())) {
    const int length = static_cast<int>(std::min<sqlite3_int64>(block.size(), size - at));
    if (log->pMethods->xRead(log, block.data(), length, at) != SQLITE_OK ||
        log->pMethods->xWrite(log, block.data(), length, at) != SQLITE_OK) {
      return false;
    }
  }
  return log->pMethods->xSync(log, flush_flags) == SQLITE_OK;
}

}  // namespace wallock::sqlite
