#include "sqlite/file_watch.hpp"

#include <sys/stat.h>

namespace wallock::sqlite {

std::optional<FileWatch::FileId> FileWatch::log_id() const noexcept {
  struct stat info{};
  if (::stat(log_.c_str(), &info) != 0) return std::nullopt;
  return FileId{.device = static_cast<std::uint64_t>(info.st_dev),
                .inode = static_cast<std::uint64_t>(info.st_ino)};
}

bool FileWatch::intact(sqlite3* db, Instant now) noexcept {
  constexpr Duration pause = std::chrono::milliseconds(10);
  if (!intact_ || (looked_at_ && now - *looked_at_ < pause)) return intact_;
  looked_at_ = now;
  int moved = 0;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  const auto log = log_id();
  if (!known_log_) known_log_ = log;
  intact_ = moved == 0 && log.has_value() && log == known_log_;
  return intact_;
}

}  // namespace wallock::sqlite
