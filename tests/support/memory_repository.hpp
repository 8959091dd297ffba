// MemoryRepository: a LeaseRepository without a database, on the same rules as every other one.
#pragma once

#include <memory>
#include <random>

#include "memory_store.hpp"
#include "wallock/lease_repository.hpp"
#include "wallock/options.hpp"

namespace wallock::test {

// A handle on a store, as a connection is; several handles on one store are several processes.
// Thread safety: as LeaseRepository says.
class MemoryRepository final : public LeaseRepository {
 public:
  // The clock must be the one of the coordinator over it.
  MemoryRepository(std::shared_ptr<MemoryStore> store, std::shared_ptr<const Clock> clock,
                   BreakerPolicy breaker = {}, DeliveryPolicy delivery = {});

  Result<Lease> acquire(const rules::AcquireCommand& command, const std::string& metadata,
                        Instant deadline) override;
  Result<std::vector<Lease>> acquire_all(std::span<const rules::AcquireCommand> commands,
                                         const std::string& metadata, Instant deadline) override;
  Result<Lease> renew(const Lease& lease, Duration ttl, Instant deadline) override;
  Result<Committed> commit(const Lease& lease, std::span<const ActionRequest> actions,
                           const Work& work, const CommitOptions& options,
                           Instant deadline) override;
  Result<Committed> execute(const ExecuteCommand& command, std::span<const ActionRequest> actions,
                            const Work& work, Instant deadline) override;
  Result<ReleaseEffect> release(const Lease& lease, Instant deadline) override;
  Status revoke(const ResourceName& resource, FencingToken expected, const std::string& reason,
                Instant deadline) override;

  Result<ReportEffect> report(const Lease& lease, DownstreamOutcome outcome,
                              Instant deadline) override;
  Result<Probe> begin_recovery(const rules::BeginRecoveryCommand& command,
                               Instant deadline) override;
  Status complete_recovery(const Probe& probe, const RecoveryVerdict& verdict,
                           Instant deadline) override;
  Status force_open(const ResourceName& resource, const std::string& reason,
                    Instant deadline) override;
  Status clear_forced(const ResourceName& resource, Instant deadline) override;

  Result<std::vector<Delivery>> claim(const ClaimRequest& request, Instant deadline) override;
  Result<std::vector<Result<Settled>>> settle_all(std::span<const SettleRequest> requests,
                                                  Instant deadline) override;

  Result<BreakerStatus> breaker(const ResourceName& resource) override;
  Result<std::vector<LeaseInfo>> leases(std::size_t limit) override;
  Result<std::vector<AuditRecord>> audit(const AuditRange& range) override;
  Result<TreeHead> root() override;
  Result<VerifyReport> verify(const std::optional<TreeHead>& trusted) override;
  Result<Health> health() override;
  Result<std::uint64_t> change_counter() override;

 private:
  Result<std::vector<ActionResult>> record(const MemoryStore::Lock& lock, const Lease& lease,
                                           std::span<const ActionRequest> actions);
  Result<Committed> commit_locked(const MemoryStore::Lock& lock, const Lease& lease,
                                  std::span<const ActionRequest> actions, const Work& work,
                                  const CommitOptions& options, Instant requested_at);
  // For what only reads: nobody keeps the lock for longer than an operation.
  Result<MemoryStore::Lock> read_lock();

  std::shared_ptr<MemoryStore> store_;
  std::shared_ptr<const Clock> clock_;
  BreakerPolicy breaker_;
  DeliveryPolicy delivery_;
};

}  // namespace wallock::test
