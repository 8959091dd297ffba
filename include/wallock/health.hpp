// Health: how a store is running, for operators and tests.
#pragma once

#include <cstdint>
#include <string>

#include "wallock/options.hpp"

namespace wallock {

// Facts only, read when asked; never a payload, a key or SQL (INV-09).
struct Health {
  std::string sqlite_version = {};  // of the library loaded at run time
  // True if that library can lose commits when a checkpoint meets a commit (SQLite 3.7.0 to 3.51.2
  // but 3.44.6 and 3.50.7). The Coordinator's own checkpoints avoid it; other programs that write
  // to the same file with it do not.
  bool sqlite_has_wal_reset_bug = false;
  Durability durability = Durability::commits;  // as it behaves, not as it was asked for
  bool has_boot_id = false;
  // Turnstile, waiting line, doorbell and liveness between processes (docs/architecture.md).
  // Without it everything works, by polling: fairness is not promised, and a dead holder has its
  // ttl.
  bool has_sidecar = false;
  bool shares_flushes = false;        // Options::share_flushes, as it behaves
  std::uint64_t openings = 0;         // of the store, alive now, this one included; 0 if unknown
  std::uint64_t waiting_in_line = 0;  // calls that wait for a resource, of all processes
  std::uint64_t epoch = 0;
  std::uint64_t ledger_size = 0;
  std::uint64_t wal_frames = 0;   // in the log after the last commit of this process
  std::uint64_t checkpoints = 0;  // run by this Coordinator
  // Of this Coordinator: committed transactions, and the operations that shared them.
  std::uint64_t transactions = 0;
  std::uint64_t operations = 0;
  std::uint64_t waiting_operations = 0;  // of other threads, for the next transaction
  std::uint64_t deliveries = 0;          // in the outbox
  std::uint64_t dead_letters = 0;
  std::uint32_t schema_version = 0;
};

}  // namespace wallock
