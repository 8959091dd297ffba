// LedgerStore: the end of the append-only ledger, as one write connection sees it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "ledger/sha256.hpp"
#include "sqlite/bulk_insert.hpp"
#include "sqlite/statement.hpp"
#include "wallock/audit.hpp"
#include "wallock/ledger/merkle.hpp"
#include "wallock/rules/state.hpp"

namespace wallock::sqlite {

// What the records of actions that are committed together do not have in common.
struct ActionRecord {
  const ActionId* id = nullptr;
  ActionState state = ActionState::sealed;
  Score score = {};
  Digest digest = {};
};

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

  // Adds records of actions, the first of them at position(), with a statement for each
  // rows_at_once of them. `entry` is what they have in common: its kind, resource, token and actor;
  // what an ActionRecord says besides is overwritten there, and the rest must be empty. Errors as
  // append; then none of them is remembered, and those that were written must be undone.
  [[nodiscard]] Status append_actions(sqlite3* db, WallTime recorded_at, LedgerEntry& entry,
                                      std::span<const ActionRecord> actions);

  // For content digests, so that one hasher serves the connection.
  [[nodiscard]] ledger::Sha256& hasher() noexcept { return hasher_; }

 private:
  [[nodiscard]] Status load(sqlite3* db);
  [[nodiscard]] Status load_epoch(sqlite3* db);
  [[nodiscard]] Status complete_edge(sqlite3* db);

  // A record with all that its row says.
  struct Sealed {
    std::uint64_t position = 0;
    Digest leaf = {};
    ledger::CompletedNodes nodes = {};
  };
  // Puts the next record into frame_.
  [[nodiscard]] Status frame(sqlite3* db, WallTime recorded_at, const LedgerEntry& entry);
  // Hashes what is there; the tree does not have it yet. Whether that went well tells the hasher.
  [[nodiscard]] Sealed seal() noexcept;
  void adopt(const Sealed& sealed) noexcept;
  [[nodiscard]] Status insert(sqlite3* db, WallTime recorded_at, const LedgerEntry& entry,
                              const Sealed& sealed);
  class Return;
  [[nodiscard]] Status append_some(sqlite3* db, WallTime recorded_at, LedgerEntry& entry,
                                   std::span<const ActionRecord> actions);

  Statement select_epoch_{"SELECT epoch FROM wallock_meta WHERE id = 1"};
  Statement select_last_{"SELECT max(position) FROM wallock_lease_queue_events"};
  Statement select_top_{
      "SELECT leaf_hash, nodes FROM wallock_lease_queue_events WHERE position = ?1"};
  Statement insert_{
      "INSERT INTO wallock_lease_queue_events (position, kind, resource, action_id, token, state, "
      "subject, until_at, score, digest, actor, detail, recorded_at, leaf_hash, nodes) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"};
  BulkInsert insert_actions_{
      "INTO wallock_lease_queue_events (position, kind, resource, action_id, token, state, "
      "subject, until_at, score, digest, actor, detail, recorded_at, leaf_hash, nodes)",
      "(?, ?1, ?2, ?, ?3, ?, NULL, NULL, ?, ?, ?4, NULL, ?5, ?, ?)", 5};

  ledger::Sha256 hasher_;
  std::string frame_;
  std::array<Sealed, rows_at_once> sealed_{};  // of the records under way
  ledger::Frontier frontier_;
  std::array<bool, ledger::max_tree_levels> has_peak_{};
  std::uint64_t epoch_ = 0;
  std::uint32_t data_version_ = 0;
  bool known_ = false;
  bool touched_ = false;
  std::uint64_t generation_ = 0;
};

}  // namespace wallock::sqlite
