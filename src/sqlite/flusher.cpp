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

// Byte for byte.
bool copy_onto_itself(sqlite3_file& log) noexcept {
  sqlite3_int64 size = 0;
  if (log.pMethods->xFileSize(&log, &size) != SQLITE_OK) return false;
  std::array<char, 4096> block{};
  for (sqlite3_int64 at = 0; at < size; at += static_cast<sqlite3_int64>(block.size())) {
    const int length = static_cast<int>(std::min<sqlite3_int64>(block.size(), size - at));
    if (log.pMethods->xRead(&log, block.data(), length, at) != SQLITE_OK ||
        log.pMethods->xWrite(&log, block.data(), length, at) != SQLITE_OK) {
      return false;
    }
  }
  return true;
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

// The log's mutex is held, and the handle not used again before the failure is told.
bool Flusher::sync(Log& log, host::FlushLine* line) noexcept {
  if (log.file->pMethods->xSync(log.file, flush_flags) == SQLITE_OK) return true;
  if (line != nullptr) {
    line->broke();
  } else {
    suspect();
  }
  return false;
}

Flusher::Flushed Flusher::flush(std::size_t lane, host::FlushLine* line) noexcept {
  const Flushed flushed = flush_one(logs_[lane], line);
  if (flushed == Flushed::failed && line != nullptr) hear_all(line);
  return flushed;
}

Flusher::Flushed Flusher::flush_one(Log& log, host::FlushLine* line) noexcept {
  const std::lock_guard lock(log.mutex);
  if (!is_open(log)) return Flushed::not_begun;
  if (!sync(log, line)) return Flushed::failed;
  return line == nullptr && is_suspect() ? Flushed::failed : Flushed::flushed;
}

// One that is flushing now hears by itself.
void Flusher::hear_all(host::FlushLine* line) noexcept {
  for (Log& log : logs_) {
    const std::unique_lock lock(log.mutex, std::try_to_lock);
    if (lock.owns_lock() && log.file != nullptr) static_cast<void>(sync(log, line));
  }
}

bool Flusher::write_again() noexcept {
  // With a line, nobody trusts a flush until this one is done.
  hear_all(nullptr);
  Log& first = logs_.front();
  const std::lock_guard lock(first.mutex);
  if (!copy_onto_itself(*first.file) || !sync(first, nullptr)) return false;
  suspect_.store(false);
  return true;
}

}  // namespace wallock::sqlite
