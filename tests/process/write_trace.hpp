// Watches who writes to a database in the program that includes it, and under which of SQLite's
// locks. Included by one source file of a program: it defines functions of the C library, and
// everybody in the program gets these.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace wallock::test {

// Where SQLite's locks are (its file format, and the wal-index format): byte 120 of the -shm file
// is the write lock of the log; 510 bytes after 1 GiB + 2 of the database are the shared lock,
// whose exclusive form is that of a database which nobody else has open.
inline constexpr off_t wal_write_lock = 120;
inline constexpr off_t shared_lock = 0x40000000 + 2;

inline std::atomic<bool> holds_write_lock{false};
inline std::atomic<bool> holds_exclusive_lock{false};
inline std::atomic<long> guarded_writes{0};    // of pages of the database, under either lock
inline std::atomic<long> unguarded_writes{0};  // under neither
// The database watched; set before it is opened.
inline std::array<char, 512> watched_database{};

inline std::string_view path_of(int file, std::array<char, 512>& buffer) noexcept {
  std::array<char, 64> link{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", file);
  const ssize_t size = ::readlink(link.data(), buffer.data(), buffer.size());
  return {buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

// A lock on the file was set or cleared.
inline void note_lock(int file, const struct flock& lock) noexcept {
  std::array<char, 512> buffer{};
  const std::string_view path = path_of(file, buffer);
  const std::string_view database = watched_database.data();
  const auto covers = [&lock](off_t byte) {
    return lock.l_start <= byte && (lock.l_len == 0 || byte < lock.l_start + lock.l_len);
  };
  const bool exclusive = lock.l_type == F_WRLCK;
  if (path == database && covers(shared_lock)) holds_exclusive_lock = exclusive;
  if (path.starts_with(database) && path.ends_with("-shm") && covers(wal_write_lock)) {
    holds_write_lock = exclusive;
  }
}

inline void note_write(int file) noexcept {
  std::array<char, 512> buffer{};
  if (path_of(file, buffer) != watched_database.data()) return;
  ++(holds_write_lock || holds_exclusive_lock ? guarded_writes : unguarded_writes);
}

inline int traced_fcntl(int file, int command, void* argument) noexcept {
  const long result = ::syscall(SYS_fcntl, file, command, argument);
  if (command == F_SETLK && result == 0) note_lock(file, *static_cast<struct flock*>(argument));
  return static_cast<int>(result);
}

}  // namespace wallock::test

// Declared by names of their own and given the library's names behind the compiler's back: its own
// declarations differ with the options of the build.
extern "C" {
ssize_t traced_pwrite64(int file, const void* data, size_t size, off_t at) __asm__("pwrite64");
int traced_fcntl64(int file, int command, ...) __asm__("fcntl64");
int traced_fcntl(int file, int command, ...) __asm__("fcntl");

ssize_t traced_pwrite64(int file, const void* data, size_t size, off_t at) {
  wallock::test::note_write(file);
  return ::syscall(SYS_pwrite64, file, data, size, at);
}

int traced_fcntl64(int file, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return wallock::test::traced_fcntl(file, command, argument);
}

int traced_fcntl(int file, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return wallock::test::traced_fcntl(file, command, argument);
}
}
