// Counts: what an operation made SQLite do, as the counting VFS and the statement trace saw it.
#pragma once

#include <cstdint>

namespace wallock::bench {

// Everything since counting was switched on, or the difference of two such readings.
struct Counts {
  std::int64_t statements = 0;          // top-level SQL statements begun, BEGIN and COMMIT included
  std::int64_t triggers = 0;            // trigger programs begun inside those
  std::int64_t flushes = 0;             // xSync calls that a COMMIT waited for
  std::int64_t checkpoint_flushes = 0;  // xSync calls of checkpoints and of the log's restarts
  std::int64_t writes = 0;              // xWrite calls on the write-ahead log
  std::int64_t bytes = 0;               // bytes of those
  std::int64_t checkpoint_writes = 0;   // xWrite calls that copied pages into the database
  std::int64_t checkpoint_bytes = 0;    // bytes of those

  friend Counts operator-(Counts a, const Counts& b) noexcept {
    a.statements -= b.statements;
    a.triggers -= b.triggers;
    a.flushes -= b.flushes;
    a.checkpoint_flushes -= b.checkpoint_flushes;
    a.writes -= b.writes;
    a.bytes -= b.bytes;
    a.checkpoint_writes -= b.checkpoint_writes;
    a.checkpoint_bytes -= b.checkpoint_bytes;
    return a;
  }
  friend Counts operator+(const Counts& a, const Counts& b) noexcept { return a - (Counts{} - b); }
};

// Counts all SQLite work of this process while it lives. Only connections opened meanwhile are
// counted, and they must be closed before it ends. One at a time; not for several threads.
class Counting {
 public:
  Counting();
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
  ~Counting();

  // What has been counted so far. Safe while other threads use counted connections.
  [[nodiscard]] Counts now() const;
};

}  // namespace wallock::bench
