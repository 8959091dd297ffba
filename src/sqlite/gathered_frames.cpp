#include "sqlite/gathered_frames.hpp"

#include <algorithm>
#include <cstddef>
#include <new>

namespace wallock::sqlite {
namespace {

constexpr int frame_header = 24;
// So much is written out, and kept as memory between transactions. A file's frames are alike in
// size, 64 KiB of page and a header at most: what is written at once stays below the 128 KiB of
// which SQLite's unix VFS takes the lower 17 bits and says FULL.
constexpr std::size_t enough = std::size_t{64} << 10;

// Bytes 4 to 7 of a frame's header: the size of the database after a commit, or zero.
bool ends_commit(const char* header) {
  return std::any_of(header + 4, header + 8, [](char byte) { return byte != 0; });
}

}  // namespace

int GatheredFrames::write(const char* bytes, int count, sqlite3_int64 offset) noexcept {
  const bool is_header = count == frame_header;
  if (is_header) commits_ = ends_commit(bytes);
  if (offset < end_ || !append(bytes, count, offset)) return write_through(bytes, count, offset);
  const bool is_time = !is_header && (commits_ || bytes_.size() >= enough);
  return is_time ? write_out() : SQLITE_OK;
}

// False without memory for it; or at a place of its own, while something waits for another.
bool GatheredFrames::append(const char* bytes, int count, sqlite3_int64 offset) noexcept {
  if (!bytes_.empty() && offset != end_) return false;
  try {
    bytes_.append(bytes, static_cast<std::size_t>(count));
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (bytes_.size() == static_cast<std::size_t>(count)) start_ = offset;
  end_ = offset + count;
  return true;
}

int GatheredFrames::write_through(const char* bytes, int count, sqlite3_int64 offset) noexcept {
  if (const int result = write_out(); result != SQLITE_OK) return result;
  end_ = std::max(end_, offset + count);
  return log_.pMethods->xWrite(&log_, bytes, count, offset);
}

int GatheredFrames::write_out() noexcept {
  if (bytes_.empty()) return SQLITE_OK;
  const int result =
      log_.pMethods->xWrite(&log_, bytes_.data(), static_cast<int>(bytes_.size()), start_);
  bytes_.clear();
  return result;
}

void GatheredFrames::end_transaction() noexcept {
  bytes_.clear();
  if (bytes_.capacity() > 2 * enough) bytes_ = std::string();
  end_ = 0;
  commits_ = false;
}

}  // namespace wallock::sqlite
