// check_invariants: everything that must hold in a store, checked over all its rows.
#pragma once

#include <sqlite3.h>

#include <string>
#include <vector>

#include "sqlite/violation.hpp"
#include "wallock/result.hpp"

namespace wallock::sqlite {

// Reads the whole store at `path` and names what must not be there; empty when all is well. The
// ledger is recomputed hash by hash and told again from its first record, by words of its own
// (DerivedState); the tables that change must then hold exactly what the records amount to.
//
// Opens the file for reading only and changes nothing. Nobody may be writing: what is written
// between two of its queries would look like a violation. Of a ledger that is damaged as bytes the
// first bad record is named; what it tells is checked all the same.
//
// The pages themselves are SQLite's to check (PRAGMA integrity_check).
//
// store_unavailable, io_error, out_of_memory (transient) if the file cannot be read at all;
// store_corrupt, ledger_damaged (security) if it is no store.
[[nodiscard]] Result<std::vector<Violation>> check_invariants(const std::string& path);

// The same over a connection that is open, without recomputing the ledger's hashes and the
// payloads' digests: for callers who have verified the ledger already.
[[nodiscard]] Result<std::vector<Violation>> check_rows(sqlite3* db);

}  // namespace wallock::sqlite
