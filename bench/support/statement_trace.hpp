// Statement trace: counts the SQL statements of every connection opened while it is installed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wallock::bench {

struct StatementCounts {
  std::int64_t statements = 0;  // top-level statements begun
  std::int64_t triggers = 0;    // trigger programs begun
};

// Traces connections opened from now on, with all counts at zero. Ends the program if SQLite
// refuses.
void install_statement_trace();

// Leaves later connections alone. Those traced must be closed before.
void remove_statement_trace();

// Safe from any thread.
[[nodiscard]] StatementCounts statement_counts();

// What one cached statement has done since the last statement_costs().
struct StatementCost {
  std::string sql;
  std::int64_t runs = 0;
  std::int64_t machine_steps = 0;  // instructions of SQLite's virtual machine
  std::int64_t sorts = 0;
  std::int64_t full_scan_steps = 0;
};

// Reads and resets the counters of all living statements on traced connections, dearest first. Not
// while another thread uses one of the connections.
[[nodiscard]] std::vector<StatementCost> statement_costs();

}  // namespace wallock::bench
