// Reader: questions that change nothing, on a connection of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "host/process.hpp"
#include "ledger/sha256.hpp"
#include "sqlite/connection.hpp"
#include "sqlite/resource_store.hpp"
#include "sqlite/statement.hpp"
#include "wallock/audit.hpp"
#include "wallock/breaker.hpp"
#include "wallock/clock.hpp"
#include "wallock/health.hpp"
#include "wallock/lease_repository.hpp"
#include "wallock/ledger/verifier.hpp"

namespace wallock::sqlite {

// Each question reads one committed state of the store; none waits for writers or keeps them
// waiting, and none keeps a snapshot open for longer than a bounded piece of work.
//
// Thread safety: all members may be called from several threads at once; they take turns.
class Reader {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Reader>> open(const std::string& path,
                                                            std::shared_ptr<const Clock> clock,
                                                            Duration timeout);

  [[nodiscard]] Result<BreakerStatus> breaker(const ResourceName& resource,
                                              const BreakerPolicy& policy);
  [[nodiscard]] Result<std::vector<LeaseInfo>> leases(std::size_t limit);
  [[nodiscard]] Result<std::vector<AuditRecord>> audit(const AuditRange& range);
  [[nodiscard]] Result<TreeHead> root();
  [[nodiscard]] Result<VerifyReport> verify(const std::optional<TreeHead>& trusted);
  // Fills in what the file knows.
  [[nodiscard]] Result<Health> health();
  [[nodiscard]] Result<std::uint64_t> change_counter();

 private:
  // The right to use the connection, with its deadline set.
  class Turn {
   public:
    explicit Turn(Reader& reader);
    [[nodiscard]] const Status& status() const noexcept { return status_; }

   private:
    std::unique_lock<std::mutex> lock_;
    Status status_;
  };
  struct Edge {
    std::uint64_t epoch = 0;
    std::uint64_t size = 0;
  };

  Reader(std::unique_ptr<Connection> connection, ledger::Sha256 hasher,
         std::shared_ptr<const Clock> clock, Duration timeout);

  [[nodiscard]] sqlite3* db() noexcept { return connection_->handle(); }
  [[nodiscard]] Result<Edge> edge();
  // Of a statement that always gives a row.
  [[nodiscard]] Result<std::int64_t> number(Statement& statement);
  [[nodiscard]] Result<bool> verify_some(ledger::Verifier<ledger::Sha256>& verifier,
                                         std::int64_t& next);
  [[nodiscard]] Result<bool> has_row_outside();
  [[nodiscard]] Result<bool> payload_matches(std::uint64_t position, const LedgerEntry& entry);

  std::unique_ptr<Connection> connection_;
  ledger::Sha256 hasher_;
  std::shared_ptr<const Clock> clock_;
  Duration timeout_;
  host::ProcessMark process_;
  std::mutex mutex_;
  std::string buffer_;

#define WALLOCK_EVENT_COLUMNS                                                             \
  "position, kind, resource, action_id, token, state, subject, until_at, score, digest, " \
  "actor, detail, recorded_at, leaf_hash, nodes"

  Statement edge_{
      "SELECT (SELECT epoch FROM wallock_meta WHERE id = 1), "
      "(SELECT max(position) FROM wallock_lease_queue_events)"};
  Statement breaker_{"SELECT " WALLOCK_BREAKER_COLUMNS WALLOCK_RESOURCE_WITH_BREAKER};
  Statement leases_{
      "SELECT resource, issued, holder, instance, granted_at, expires_at, metadata "
      "FROM wallock_resources WHERE holder IS NOT NULL AND expires_at > ?1 AND issued >= ?2 "
      "ORDER BY resource LIMIT ?3"};
  Statement events_{"SELECT " WALLOCK_EVENT_COLUMNS
                    " FROM wallock_lease_queue_events WHERE position >= ?1 "
                    "ORDER BY position LIMIT ?2"};
  Statement top_{"SELECT leaf_hash, nodes FROM wallock_lease_queue_events WHERE position = ?1"};
  Statement payload_{
      "SELECT salt, destination, amount_units, amount_places, payload FROM wallock_payloads "
      "WHERE position = ?1"};
  Statement outside_{"SELECT 1 FROM wallock_lease_queue_events WHERE position < 0 LIMIT 1"};
  Statement deliveries_{"SELECT count(*) FROM wallock_deliveries"};
  Statement dead_letters_{"SELECT count(*) FROM wallock_dead_letters"};
  Statement version_{"SELECT schema_version FROM wallock_meta WHERE id = 1"};
  Statement changes_{"PRAGMA data_version"};
};

}  // namespace wallock::sqlite
