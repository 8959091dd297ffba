// A ledger row, read back.
#pragma once

#include <cstdint>
#include <optional>

#include "sqlite/statement.hpp"
#include "wallock/audit.hpp"

namespace wallock::sqlite {

// A row's own columns, as a record; empty if a column holds what no record can hold. Reads the
// columns of WALLOCK_EVENT_COLUMNS. Its hashes are columns 13 and 14.
struct EventRow {
  std::uint64_t position = 0;
  WallTime recorded_at;
  LedgerEntry entry;
};

[[nodiscard]] std::optional<EventRow> read_event(const Query& query);

}  // namespace wallock::sqlite
