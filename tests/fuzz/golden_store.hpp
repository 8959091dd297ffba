// GoldenStore: the small store in the corpus, and what is true of it, for holding damaged copies
// against.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <memory>
#include "wallock/audit.hpp"
#include "wallock/breaker.hpp"
#include "wallock/lease.hpp"
#include "wallock/manual_clock.hpp"

namespace wallock::fuzz {

struct GoldenStore {
  std::string database;  // the two files, byte for byte
  std::string log;
  std::vector<AuditRecord> records;
  TreeHead head;
  // One lease for each grant in the ledger, most of them stale; those that are not are alive.
  std::vector<Lease> leases;
  // By the ledger: the highest token that may no longer write.
  std::map<std::string, FencingToken> fences;
  std::map<std::string, bool> closed;  // the breaker
};

// Reads it from the corpus. Throws std::exception if it is not there, or not as it was made.
[[nodiscard]] GoldenStore load_golden_store();

// The moment after the store's last change, on its own boot.
[[nodiscard]] std::shared_ptr<ManualClock> golden_clock();

// Makes a new one in `folder`: store.db, and store.db-wal with the changes of its last minutes.
void make_golden_store(const std::string& folder);

}  // namespace wallock::fuzz
