// What surrounds the application's work inside a commit.
#pragma once

#include <string>

#include "sqlite/connection.hpp"
#include "wallock/result.hpp"
#include "wallock/token.hpp"
#include "wallock/transaction.hpp"

namespace wallock::sqlite {

// Says, for as long as it lives, that this thread runs work inside a transaction of a store. Scopes
// nest: work of one store may use another one.
class WorkScope {
 public:
  // `path`: of the store, resolved; must outlive the scope.
  explicit WorkScope(const std::string& path) noexcept;
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;
  ~WorkScope();

  // True if this thread runs work of the store at `path`, through whichever opening of it.
  [[nodiscard]] static bool is_inside(const std::string& path) noexcept;

 private:
  const std::string& path_;
  const WorkScope* const outer_;
};

// Runs `work` inside the open transaction of `connection`, confined to the application's own
// tables, and resets the cursors it left open. work_failed, with the number that the work returned
// or the extended result code of SQLite's exception that it let through; work_forbidden;
// disk_full, io_error, out_of_memory or store_corrupt for SQLite's exception about that. Whatever
// the error, the caller rolls back.
[[nodiscard]] Status run_confined(Connection& connection, FencingToken token,
                                  const Work& work) noexcept;

}  // namespace wallock::sqlite
