// Ends the program that includes it with SIGKILL at its n-th call that changes files or locks.
// Included by one source file of a program: it defines functions of the C library, and SQLite and
// everybody else in the program get these.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdarg>

namespace wallock::test {

// Calls counted since counting was set; the one with this number is not made any more.
inline std::atomic<bool> counting{false};
inline std::atomic<long> calls{0};
inline std::atomic<long> last_call{0};

inline void count_call() noexcept {
  if (!counting || ++calls != last_call) return;
  ::syscall(SYS_kill, ::getpid(), SIGKILL);
  for (;;)
    ::pause();
}

// A counted system call, as the C library makes it: -1 and errno for an error.
template <class... Arguments>
[[nodiscard]] long counted(long number, Arguments... arguments) noexcept {
  count_call();
  return ::syscall(number, arguments...);
}

}  // namespace wallock::test

// Declared by names of their own and given the library's names behind the compiler's back: its own
// declarations differ with the options of the build.
extern "C" {
ssize_t counted_pwrite64(int file, const void* data, size_t size, off_t at) __asm__("pwrite64");
int counted_fdatasync(int file) __asm__("fdatasync");
int counted_fsync(int file) __asm__("fsync");
int counted_ftruncate64(int file, off_t size) __asm__("ftruncate64");
int counted_unlink(const char* path) __asm__("unlink");
int counted_open64(const char* path, int flags, ...) __asm__("open64");
int counted_open(const char* path, int flags, ...) __asm__("open");
int counted_fcntl64(int file, int command, ...) __asm__("fcntl64");
int counted_fcntl(int file, int command, ...) __asm__("fcntl");

ssize_t counted_pwrite64(int file, const void* data, size_t size, off_t at) {
  return wallock::test::counted(SYS_pwrite64, file, data, size, at);
}

int counted_fdatasync(int file) {
  return static_cast<int>(wallock::test::counted(SYS_fdatasync, file));
}

int counted_fsync(int file) { return static_cast<int>(wallock::test::counted(SYS_fsync, file)); }

int counted_ftruncate64(int file, off_t size) {
  return static_cast<int>(wallock::test::counted(SYS_ftruncate, file, size));
}

int counted_unlink(const char* path) {
  return static_cast<int>(wallock::test::counted(SYS_unlinkat, AT_FDCWD, path, 0));
}

int counted_open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = (flags & O_CREAT) != 0 ? va_arg(rest, unsigned) : 0;
  va_end(rest);
  return static_cast<int>(wallock::test::counted(SYS_openat, AT_FDCWD, path, flags, mode));
}

int counted_open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = (flags & O_CREAT) != 0 ? va_arg(rest, unsigned) : 0;
  va_end(rest);
  return static_cast<int>(wallock::test::counted(SYS_openat, AT_FDCWD, path, flags, mode));
}

int counted_fcntl64(int file, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return static_cast<int>(wallock::test::counted(SYS_fcntl, file, command, argument));
}

int counted_fcntl(int file, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return static_cast<int>(wallock::test::counted(SYS_fcntl, file, command, argument));
}
}
