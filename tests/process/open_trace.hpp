// Writes down who opens which file in the program that includes it. Included by one source file of
// a program: it defines functions of the C library, and everybody in the program gets these.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace wallock::test {

// One opening. Plain memory, because it may happen anywhere.
struct Opening {
  std::array<char, 256> path{};
  std::array<char, 256> module{};  // the library or program that made the call
  int flags = 0;
};

inline constexpr std::size_t most_openings = 4096;
inline std::array<Opening, most_openings> openings{};
inline std::atomic<std::size_t> opened{0};

inline void note_opening(const char* path, int flags, void* caller) noexcept {
  const std::size_t at = opened++;
  if (at >= most_openings) return;
  Opening& opening = openings[at];
  std::strncpy(opening.path.data(), path, opening.path.size() - 1);
  opening.flags = flags;
  Dl_info info{};
  if (::dladdr(caller, &info) != 0 && info.dli_fname != nullptr) {
    std::strncpy(opening.module.data(), info.dli_fname, opening.module.size() - 1);
  }
}

inline int traced_open(int folder, const char* path, int flags, unsigned mode,
                       void* caller) noexcept {
  note_opening(path, flags, caller);
  return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
}

inline std::FILE* traced_fopen(const char* name, const char* path, const char* how,
                               void* caller) noexcept {
  note_opening(path, 0, caller);
  using Function = std::FILE* (*)(const char*, const char*);
  const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
  return real(path, how);
}

inline unsigned mode_of(int flags, va_list rest) noexcept {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, unsigned) : 0;
}

}  // namespace wallock::test

#define WALLOCK_TEST_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

// Declared by names of their own and given the library's names behind the compiler's back: its own
// declarations differ with the options of the build.
extern "C" {
int traced_open(const char* path, int flags, ...) __asm__("open");
int traced_open64(const char* path, int flags, ...) __asm__("open64");
int traced_open_2(const char* path, int flags) __asm__("__open_2");
int traced_open64_2(const char* path, int flags) __asm__("__open64_2");
int traced_openat(int folder, const char* path, int flags, ...) __asm__("openat");
int traced_openat64(int folder, const char* path, int flags, ...) __asm__("openat64");
int traced_creat(const char* path, unsigned mode) __asm__("creat");
int traced_creat64(const char* path, unsigned mode) __asm__("creat64");
std::FILE* traced_fopen(const char* path, const char* how) __asm__("fopen");
std::FILE* traced_fopen64(const char* path, const char* how) __asm__("fopen64");

int traced_open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = wallock::test::mode_of(flags, rest);
  va_end(rest);
  return wallock::test::traced_open(AT_FDCWD, path, flags, mode, WALLOCK_TEST_CALLER);
}

int traced_open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = wallock::test::mode_of(flags, rest);
  va_end(rest);
  return wallock::test::traced_open(AT_FDCWD, path, flags, mode, WALLOCK_TEST_CALLER);
}

int traced_open_2(const char* path, int flags) {
  return wallock::test::traced_open(AT_FDCWD, path, flags, 0, WALLOCK_TEST_CALLER);
}

int traced_open64_2(const char* path, int flags) {
  return wallock::test::traced_open(AT_FDCWD, path, flags, 0, WALLOCK_TEST_CALLER);
}

int traced_openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = wallock::test::mode_of(flags, rest);
  va_end(rest);
  return wallock::test::traced_open(folder, path, flags, mode, WALLOCK_TEST_CALLER);
}

int traced_openat64(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = wallock::test::mode_of(flags, rest);
  va_end(rest);
  return wallock::test::traced_open(folder, path, flags, mode, WALLOCK_TEST_CALLER);
}

int traced_creat(const char* path, unsigned mode) {
  constexpr int flags = O_CREAT | O_WRONLY | O_TRUNC;
  return wallock::test::traced_open(AT_FDCWD, path, flags, mode, WALLOCK_TEST_CALLER);
}

int traced_creat64(const char* path, unsigned mode) {
  constexpr int flags = O_CREAT | O_WRONLY | O_TRUNC;
  return wallock::test::traced_open(AT_FDCWD, path, flags, mode, WALLOCK_TEST_CALLER);
}

std::FILE* traced_fopen(const char* path, const char* how) {
  return wallock::test::traced_fopen("fopen", path, how, WALLOCK_TEST_CALLER);
}

std::FILE* traced_fopen64(const char* path, const char* how) {
  return wallock::test::traced_fopen("fopen64", path, how, WALLOCK_TEST_CALLER);
}
}

#undef WALLOCK_TEST_CALLER
