// OutboxStore: the rows of deliveries on their way, and the dead letters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sqlite/bulk_insert.hpp"
#include "sqlite/statement.hpp"
#include "wallock/rules/delivery_rules.hpp"

namespace wallock::sqlite {

// A claimable row with what a Delivery shows besides.
struct ClaimableRow {
  rules::DeliveryRow row;
  Destination destination;
};

// A new action that is to be delivered.
struct Outgoing {
  std::uint64_t position = 0;
  const Destination* destination = nullptr;
};

// Used inside the write transactions of one connection only; one thread at a time.
class OutboxStore {
 public:
  // Puts new actions of one resource in its line, in ascending order of their positions: the first
  // is ready if nothing of the resource is on its way, the others are blocked by those before them.
  [[nodiscard]] Status enqueue_all(sqlite3* db, const ResourceName& resource,
                                   std::span<const Outgoing> actions, Instant now);

  // Rows that a claim may take now, those that are due longest first: at most `limit`.
  // Resources whose breaker is not CLOSED are passed over, and held, so that the next claim does
  // not meet them; a row without a readable name is passed over.
  [[nodiscard]] Result<std::vector<ClaimableRow>> claimable(sqlite3* db,
                                                            const Destination& destination,
                                                            std::uint32_t limit, Instant now);
  [[nodiscard]] Result<std::optional<rules::DeliveryRow>> find(sqlite3* db, std::uint64_t position);
  // The action id and payload of a recorded action; empty if either is gone or is none. If SQLite
  // finds a page of them damaged: store_corrupt with its code (`native`), and the transaction
  // writes nothing more.
  struct Content {
    ActionId action_id;
    std::string payload;
  };
  [[nodiscard]] Result<std::optional<Content>> content(sqlite3* db, std::uint64_t position);

  [[nodiscard]] Status update(sqlite3* db, const rules::DeliveryRow& row);
  // Takes the row out and lets the next of its resource become ready.
  [[nodiscard]] Status remove(sqlite3* db, const rules::DeliveryRow& row);
  // remove, keeping the row among the dead letters.
  [[nodiscard]] Status bury(sqlite3* db, const rules::DeliveryRow& row, WallTime now);

 private:
  struct Looked {
    std::vector<ClaimableRow> rows;      // that may be claimed
    std::vector<std::uint64_t> to_hold;  // that wait for their breaker
  };
  [[nodiscard]] Status enqueue(sqlite3* db, const ResourceName& resource, const Outgoing& action,
                               Instant now);
  // True if something of the resource is on its way.
  [[nodiscard]] Result<bool> has_line(sqlite3* db, const ResourceName& resource);
  [[nodiscard]] Status look(sqlite3* db, const Destination& destination, std::uint32_t limit,
                            Instant now, Looked& looked);

#define WALLOCK_DELIVERY_COLUMNS \
  "d.position, d.resource, d.state, d.born, d.due, d.attempt, d.claim_token"

  Statement enqueue_{
      "INSERT INTO wallock_deliveries (position, resource, destination, state, held, born, due, "
      "attempt, claim_token) VALUES (?1, ?2, ?3, "
      "EXISTS (SELECT 1 FROM wallock_deliveries WHERE resource = ?2), 0, ?4, ?4, 0, 0)"};
  // The same in two steps, for several at once.
  Statement has_line_{"SELECT EXISTS (SELECT 1 FROM wallock_deliveries WHERE resource = ?1)"};
  BulkInsert enqueue_all_{
      "INTO wallock_deliveries (position, resource, destination, state, held, born, due, attempt, "
      "claim_token)",
      "(?, ?1, ?, ?, 0, ?2, ?2, 0, 0)", 2};
  // The last column: 0 if the breaker is CLOSED, 1 if it is not, 2 if there is one that the
  // resource's row does not tell of, which no change to a breaker's row would mend. What is_legal
  // asks of a CLOSED row: one that is not legal is passed over like an open one.
  Statement claimable_{
      "SELECT " WALLOCK_DELIVERY_COLUMNS
      ", CASE WHEN r.has_breaker = 0 THEN (b.resource IS NOT NULL) * 2 "
      "ELSE b.resource IS NULL OR b.state <> 0 OR b.forced <> 0 "
      "OR b.probe_token IS NOT NULL OR b.interval_ns <> 0 OR b.failed_probes <> 0 "
      "OR b.timeouts NOT BETWEEN 0 AND 4294967295 END FROM wallock_deliveries AS d "
      "JOIN wallock_resources AS r ON r.resource = d.resource "
      "LEFT JOIN wallock_breakers AS b ON b.resource = d.resource WHERE d.destination = ?1 "
      "AND d.state <> 1 AND d.held = 0 AND d.due <= ?2 ORDER BY d.due, d.position"};
  Statement hold_{"UPDATE wallock_deliveries SET held = 1 WHERE position = ?1"};
  Statement find_{"SELECT " WALLOCK_DELIVERY_COLUMNS
                  " FROM wallock_deliveries AS d WHERE d.position = ?1"};
  Statement content_{
      "SELECT e.action_id, p.payload FROM wallock_lease_queue_events AS e "
      "JOIN wallock_payloads AS p ON p.position = e.position WHERE e.position = ?1"};
  Statement update_{
      "UPDATE wallock_deliveries SET state = ?2, due = ?3, attempt = ?4, claim_token = ?5 "
      "WHERE position = ?1"};
  Statement delete_{"DELETE FROM wallock_deliveries WHERE position = ?1"};
  Statement promote_{
      "UPDATE wallock_deliveries SET state = 0 WHERE state = 1 AND position = "
      "(SELECT min(position) FROM wallock_deliveries WHERE resource = ?1)"};
  Statement bury_{
      "INSERT INTO wallock_dead_letters (position, resource, destination, attempts, recorded_at) "
      "SELECT position, resource, destination, ?3, ?2 FROM wallock_deliveries "
      "WHERE position = ?1 ON CONFLICT (position) DO NOTHING"};
};

}  // namespace wallock::sqlite
