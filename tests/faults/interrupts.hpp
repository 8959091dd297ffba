// Statements of SQLite that are interrupted on demand, inside the library's calls.
#pragma once

#include <cstdint>

struct sqlite3;

namespace wallock::test {

// While it lives, connections that are opened anywhere in the process tell it of each statement
// that they begin. Of those that the calling thread begins within() a call of the library, one can
// be interrupted: SQLite then ends it at its next step with an error, and a write with the whole
// transaction. Connections from before it tell nothing. One at a time.
class StatementWatch {
 public:
  StatementWatch();
  StatementWatch(const StatementWatch&) = delete;
  StatementWatch& operator=(const StatementWatch&) = delete;
  ~StatementWatch();

  // The statement with that number, counted from 0 from here on; those of triggers count.
  void interrupt(std::uint64_t at) noexcept;
  // No more; true if it came to that statement.
  [[nodiscard]] bool end() noexcept;
};

}  // namespace wallock::test
