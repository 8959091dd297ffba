#include "interrupts.hpp"

#include <sqlite3.h>

#include <cstdlib>

#include "allocations.hpp"

namespace wallock::test {
namespace {

struct State {
  bool armed = false;
  bool came = false;
  std::uint64_t at = 0;
  std::uint64_t count = 0;
};

thread_local constinit State state;

int on_statement(unsigned /*event*/, void* db, void* /*statement*/, void* /*text*/) {
  if (!state.armed || !is_within_call()) return 0;
  if (state.count++ != state.at) return 0;
  state.came = true;
  sqlite3_interrupt(static_cast<sqlite3*>(db));
  return 0;
}

int watch(sqlite3* db, char** /*error*/, const void* /*api*/) {
  return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, &on_statement, db);
}

void (*entry_point())() { return reinterpret_cast<void (*)()>(&watch); }

}  // namespace

StatementWatch::StatementWatch() {
  if (sqlite3_auto_extension(entry_point()) != SQLITE_OK) std::abort();
}
StatementWatch::~StatementWatch() { sqlite3_cancel_auto_extension(entry_point()); }

void StatementWatch::interrupt(std::uint64_t at) noexcept { state = {.armed = true, .at = at}; }

bool StatementWatch::end() noexcept {
  state.armed = false;
  return state.came;
}

}  // namespace wallock::test
