// Spent: how much of its time this program spent in flushes, other file calls and hashing.
#pragma once

#include <cstdint>

namespace wallock::bench {

// Nanoseconds of the whole program so far, all threads, less what reading the clock took. Calls of
// the C library and of OpenSSL are timed by functions of the same names that are linked into this
// program (spent.cpp).
struct Spent {
  std::int64_t flush = 0;    // fdatasync, fsync
  std::int64_t files = 0;    // pwrite, pread, fcntl: the log's frames, and SQLite's locks
  std::int64_t hashing = 0;  // OpenSSL's digest functions
};

[[nodiscard]] Spent spent_so_far() noexcept;

}  // namespace wallock::bench
