// Counting VFS: passes everything on to the platform's VFS and counts writes and flushes.
#pragma once

#include <cstdint>

namespace wallock::bench {

// Counts since the VFS was installed, over all connections opened through it.
struct IoCounts {
  std::int64_t log_flushes = 0;         // xSync on a write-ahead log, for the sake of a COMMIT
  std::int64_t checkpoint_flushes = 0;  // xSync by a checkpoint or for the head of a restarted log
  std::int64_t log_writes = 0;          // xWrite on a write-ahead log; a frame is two of them
  std::int64_t log_bytes = 0;
  std::int64_t database_writes = 0;  // xWrite on a database file; in WAL mode, by checkpoints only
  std::int64_t database_bytes = 0;
};

// Makes the counting VFS the default for connections opened from now on, with all counts at zero.
// Ends the program if SQLite refuses it.
void install_counting_vfs();

// Makes the former default VFS the default again. Connections that were opened through the counting
// VFS must be closed before.
void remove_counting_vfs();

// Safe from any thread.
[[nodiscard]] IoCounts io_counts();

}  // namespace wallock::bench
