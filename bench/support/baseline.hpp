// Baseline: the same results by hand, as lean as SQLite's C API allows: a lease row, no ledger.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "wallock/options.hpp"

namespace wallock::bench {

// A cached statement; ends the program at the first error, which a benchmark cannot go on after.
class CachedStatement {
 public:
  CachedStatement() = default;
  CachedStatement(sqlite3* connection, const char* sql);

  CachedStatement& bind(int index, std::int64_t value);
  // The text or the bytes must stay until the statement has run.
  CachedStatement& bind(int index, const std::string& text);
  CachedStatement& bind_blob(int index, const std::string& bytes);
  // Runs it to its end and returns the first column of its only row, if it has one.
  std::optional<std::int64_t> run();

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

struct BaselineAction {
  std::string id;
  std::string payload;
};

// One database with leases, actions and an outbox. Every method is one BEGIN IMMEDIATE .. COMMIT,
// flushed as the level promises for the operation of that name, by PRAGMA synchronous: FULL or
// NORMAL. Where a level needs both there are two connections, since switching one costs more.
//
// Belongs to one thread.
class Baseline {
 public:
  Baseline(const std::string& path, Durability durability);

  // Grants unless somebody has it; the token counts up per resource.
  std::int64_t acquire(const std::string& resource, const std::string& holder);
  void release(const std::string& resource, std::int64_t token);
  void commit(std::span<const BaselineAction> actions);
  // acquire, commit and release in one transaction.
  void execute(const std::string& resource, const std::string& holder,
               std::span<const BaselineAction> actions);
  // Puts an action into the outbox, or takes it over, or removes it when it is delivered.
  void enqueue(std::span<const BaselineAction> actions);
  std::int64_t claim(const std::string& holder);
  void settle(std::int64_t delivery);

 private:
  // A connection with the statements that run on it.
  struct Link {
    Link(const std::string& path, const char* synchronous);

    struct Close {
      void operator()(sqlite3* handle) const noexcept { sqlite3_close(handle); }
    };
    std::unique_ptr<sqlite3, Close> connection;
    CachedStatement begin, commit, lookup, first_grant, grant, free, insert;
    CachedStatement enqueue, ready, take, remove;
  };

  // Inside a transaction: grants if the resource is free, and answers the new token.
  static std::int64_t grant(Link& link, const std::string& resource, const std::string& holder);
  static void insert(Link& link, std::span<const BaselineAction> actions);

  std::unique_ptr<Link> flushed_;    // synchronous=FULL; empty at relaxed
  std::unique_ptr<Link> unflushed_;  // synchronous=NORMAL; empty at every_answer
  Link& lease_link_;
  Link& commit_link_;
};

}  // namespace wallock::bench
