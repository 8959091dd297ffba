#include "statement_trace.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string_view>

namespace wallock::bench {
namespace {

struct State {
  std::atomic<std::int64_t> statements{0};
  std::atomic<std::int64_t> triggers{0};
  std::mutex mutex;
  std::set<sqlite3*> connections;
};

State& state() {
  static State instance;
  return instance;
}

int on_event(unsigned event, void*, void* object, void* text) {
  State& s = state();
  if (event == SQLITE_TRACE_CLOSE) {
    const std::lock_guard lock(s.mutex);
    s.connections.erase(static_cast<sqlite3*>(object));
    return 0;
  }
  // SQLite reports the start of a trigger program as an SQL comment.
  const bool is_trigger = std::string_view(static_cast<const char*>(text)).starts_with("--");
  ++(is_trigger ? s.triggers : s.statements);
  return 0;
}

int on_open(sqlite3* connection, const char**, const sqlite3_api_routines*) {
  {
    const std::lock_guard lock(state().mutex);
    state().connections.insert(connection);
  }
  return sqlite3_trace_v2(connection, SQLITE_TRACE_STMT | SQLITE_TRACE_CLOSE, on_event, nullptr);
}

// SQLite declares the entry point of an extension as a function without parameters.
using ExtensionEntry = void (*)();
ExtensionEntry entry() { return reinterpret_cast<ExtensionEntry>(on_open); }

int read_and_reset(sqlite3_stmt* statement, int counter) {
  return sqlite3_stmt_status(statement, counter, 1);
}

}  // namespace

void install_statement_trace() {
  state().statements = 0;
  state().triggers = 0;
  if (const int rc = sqlite3_auto_extension(entry()); rc != SQLITE_OK) {
    std::fprintf(stderr, "the statement trace was refused: %s\n", sqlite3_errstr(rc));
    std::exit(EXIT_FAILURE);
  }
}

void remove_statement_trace() { sqlite3_cancel_auto_extension(entry()); }

StatementCounts statement_counts() {
  return StatementCounts{state().statements.load(), state().triggers.load()};
}

std::vector<StatementCost> statement_costs() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  std::map<std::string, StatementCost> by_sql;
  for (sqlite3* connection : s.connections) {
    for (sqlite3_stmt* statement = sqlite3_next_stmt(connection, nullptr); statement != nullptr;
         statement = sqlite3_next_stmt(connection, statement)) {
      StatementCost& cost = by_sql[sqlite3_sql(statement)];
      cost.sql = sqlite3_sql(statement);
      cost.runs += read_and_reset(statement, SQLITE_STMTSTATUS_RUN);
      cost.machine_steps += read_and_reset(statement, SQLITE_STMTSTATUS_VM_STEP);
      cost.sorts += read_and_reset(statement, SQLITE_STMTSTATUS_SORT);
      cost.full_scan_steps += read_and_reset(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP);
    }
  }
  std::vector<StatementCost> costs;
  for (auto& [sql, cost] : by_sql)
    if (cost.runs != 0) costs.push_back(std::move(cost));
  std::sort(costs.begin(), costs.end(), [](const StatementCost& a, const StatementCost& b) {
    return a.machine_steps > b.machine_steps;
  });
  return costs;
}

}  // namespace wallock::bench
