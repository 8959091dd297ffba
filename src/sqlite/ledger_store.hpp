// LedgerStore: the end of the append-only ledger, as one write connection sees it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "ledger/sha256.hpp"
#include "sqlite/statement.hpp"
#include "wallock/audit.hpp"
#include "wallock/ledger/merkle.hpp"
#include "wallock/rules/state.hpp"

namespace wallock::sqlite {

// Keeps the epoch, the next position and the tree's right edge between transactions, for as long as
// nobody else writes: SQLite's data version tells. What is not at hand is read when it is needed,
// which is one row in two appends on average.
//
// Used inside the write transactions of one connection only; one thread at a time.
class LedgerStore {
 public:
  explicit LedgerStore(ledger::Sha256 hasher);

  // Of a store that is being created: no record yet.
  void start(std::uint64_t epoch) noexcept { epoch_ = epoch; }
  // At the begin of a transaction.
  [[nodiscard]] Status refresh(sqlite3* db);
  // At its end, whichever way it went.
  void committed(sqlite3* db) noexcept;
  void rolled_back() noexcept;
  // Forgets everything; the next refresh reads it anew.
  void forget() noexcept { known_ = false; }
  // The transaction is about to write: if it is rolled back, nothing remembered can be relied on.
  void touch() noexcept { touched_ = true; }
  // For transactions of several operations: where the tree stands, to go back there.
  struct Mark {
    ledger::Frontier frontier;
    std::array<bool, ledger::max_tree_levels> has_peak;
  };
  [[nodiscard]] Mark mark() const noexcept { return {frontier_, has_peak_}; }
  // What was written since the mark was undone.
  void go_back(const Mark& mark) noexcept;
  // Differs whenever somebody else may have written, or a write was undone, since it was last
  // asked: what was read or written under the same number still stands in the file.
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }

  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  // Of the next record.
  [[nodiscard]] std::uint64_t position() const noexcept { return frontier_.size(); }

  // Adds a record and answers its position. invariant_violated if the schema refuses it.
  [[nodiscard]] Result<std::uint64_t> append(sqlite3* db, WallTime recorded_at,
                                             const LedgerEntry& entry);

  // For content digests, so that one hasher serves the connection.
  [[nodiscard]] ledger::Sha256& hasher() noexcept { return hasher_; }

 private:
  [[nodiscard]] Status load(sqlite3* db);
  [[nodiscard]] Status load_epoch(sqlite3* db);
  [[nodiscard]] Status complete_edge(sqlite3* db);
  [[nodiscard]] Status insert(sqlite3* db, WallTime recorded_at, const LedgerEntry& entry,
                              const Digest& leaf, const ledger::CompletedNodes& nodes);

  Statement select_epoch_{"SELECT epoch FROM wallock_meta WHERE id = 1"};
  Statement select_last_{"SELECT max(position) FROM wallock_lease_queue_events"};
  Statement select_top_{
      "SELECT leaf_hash, nodes FROM wallock_lease_queue_events WHERE position = ?1"};
  Statement insert_{
      "INSERT INTO wallock_lease_queue_events (position, kind, resource, action_id, token, state, "
      "subject, until_at, score, digest, actor, detail, recorded_at, leaf_hash, nodes) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"};

  ledger::Sha256 hasher_;
  std::string frame_;
  ledger::Frontier frontier_;
  std::array<bool, ledger::max_tree_levels> has_peak_{};
  std::uint64_t epoch_ = 0;
  std::uint32_t data_version_ = 0;
  bool known_ = false;
  bool touched_ = false;
  std::uint64_t generation_ = 0;
};

}  // namespace wallock::sqlite
