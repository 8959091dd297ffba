// LeaseRepository: the contract between the coordinator and a store.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wallock/action.hpp"
#include "wallock/audit.hpp"
#include "wallock/breaker.hpp"
#include "wallock/committed.hpp"
#include "wallock/delivery.hpp"
#include "wallock/health.hpp"
#include "wallock/lease.hpp"
#include "wallock/options.hpp"
#include "wallock/rules/breaker_rules.hpp"
#include "wallock/rules/delivery_rules.hpp"
#include "wallock/rules/lease_rules.hpp"
#include "wallock/transaction.hpp"

namespace wallock {

// The request of an execute: an acquire, a commit and a release in one transaction.
struct ExecuteCommand {
  ResourceName resource;
  HolderId holder;
  InstanceId instance{};
  bool yields = false;  // as in rules::AcquireCommand
};

struct ClaimRequest {
  Destination destination;
  std::uint32_t limit = 1;
  rules::ClaimCommand claim;
};

// One of the deliveries that are to be settled together.
struct SettleRequest {
  std::uint64_t position = 0;
  Destination destination;
  rules::SettleCommand settle;
};

// One of the leases that are to be renewed together.
struct RenewRequest {
  Lease lease;
  Duration ttl{};
};

// A lease as leases() lists it.
struct LeaseInfo {
  Lease lease;
  std::string metadata = {};
};

// One method per operation, each one transaction of the store; a backend writes its own SQL and
// asks the rules (wallock/rules) for every decision. All arguments are checked values.
//
// Every changing method takes a deadline on the repository's clock for the store's write lock and
// answers with the error classes of its rule, or with: busy, io_error, disk_full, outcome_unknown,
// store_unavailable, out_of_memory (transient), forked_handle, called_inside_work,
// foreign_key_refused (deterministic), ledger_damaged, invariant_violated, store_corrupt,
// store_replaced (security). An error other than outcome_unknown means that nothing was changed.
//
// Thread safety: all methods may be called from several threads at once.
class LeaseRepository {
 public:
  LeaseRepository() = default;
  LeaseRepository(const LeaseRepository&) = delete;
  LeaseRepository& operator=(const LeaseRepository&) = delete;
  virtual ~LeaseRepository() = default;

  // Grants, or answers lease_held at once: waiting is the coordinator's.
  virtual Result<Lease> acquire(const rules::AcquireCommand& command, const std::string& metadata,
                                Instant deadline) = 0;
  // Grants all or none, in one transaction; the resources differ. Without action ids.
  virtual Result<std::vector<Lease>> acquire_all(std::span<const rules::AcquireCommand> commands,
                                                 const std::string& metadata, Instant deadline) = 0;
  virtual Result<Lease> renew(const Lease& lease, Duration ttl, Instant deadline) = 0;
  // Renews each lease as renew() would, whatever becomes of the others: one answer per request, in
  // order. An error in place of the answers is that of all of them. A store that can does it in one
  // transaction; here it is one by one. The leases differ.
  virtual Result<std::vector<Result<Lease>>> renew_all(std::span<const RenewRequest> requests,
                                                       Instant deadline) {
    std::vector<Result<Lease>> answers;
    answers.reserve(requests.size());
    for (const RenewRequest& request : requests)
      answers.push_back(renew(request.lease, request.ttl, deadline));
    return answers;
  }
  virtual Result<Committed> commit(const Lease& lease, std::span<const ActionRequest> actions,
                                   const Work& work, const CommitOptions& options,
                                   Instant deadline) = 0;
  virtual Result<Committed> execute(const ExecuteCommand& command,
                                    std::span<const ActionRequest> actions, const Work& work,
                                    Instant deadline) = 0;
  virtual Result<ReleaseEffect> release(const Lease& lease, Instant deadline) = 0;
  virtual Status revoke(const ResourceName& resource, FencingToken expected,
                        const std::string& reason, Instant deadline) = 0;

  virtual Result<ReportEffect> report(const Lease& lease, DownstreamOutcome outcome,
                                      Instant deadline) = 0;
  virtual Result<Probe> begin_recovery(const rules::BeginRecoveryCommand& command,
                                       Instant deadline) = 0;
  virtual Status complete_recovery(const Probe& probe, const RecoveryVerdict& verdict,
                                   Instant deadline) = 0;
  virtual Status force_open(const ResourceName& resource, const std::string& reason,
                            Instant deadline) = 0;
  virtual Status clear_forced(const ResourceName& resource, Instant deadline) = 0;

  virtual Result<std::vector<Delivery>> claim(const ClaimRequest& request, Instant deadline) = 0;
  // In one transaction; each with an answer of its own, in their order.
  virtual Result<std::vector<Result<Settled>>> settle_all(std::span<const SettleRequest> requests,
                                                          Instant deadline) = 0;

  virtual Result<BreakerStatus> breaker(const ResourceName& resource) = 0;
  // The living leases, by name, at most `limit`.
  virtual Result<std::vector<LeaseInfo>> leases(std::size_t limit) = 0;
  virtual Result<std::vector<AuditRecord>> audit(const AuditRange& range) = 0;
  virtual Result<TreeHead> root() = 0;
  virtual Result<VerifyReport> verify(const std::optional<TreeHead>& trusted) = 0;
  virtual Result<Health> health() = 0;
  // A number that differs after any change to the store by anybody, for those who wait.
  virtual Result<std::uint64_t> change_counter() = 0;
};

}  // namespace wallock
