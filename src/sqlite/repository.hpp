// Repository: the LeaseRepository over a SQLite file.
#pragma once

#include <memory>
#include <random>
#include <string>

#include "host/open_paths.hpp"
#include "sqlite/neighbours.hpp"
#include "sqlite/reader.hpp"
#include "sqlite/writer.hpp"
#include "wallock/lease_repository.hpp"

namespace wallock::sqlite {

// Each operation: load the row, ask the rule, store what it says; in one transaction of the writer.
// Questions go to the reader.
class Repository final : public LeaseRepository {
 public:
  Repository(std::string path, std::unique_ptr<Session> session, std::unique_ptr<Reader> reader,
             Neighbours neighbours, std::unique_ptr<Flusher> flusher, const Options& options,
             std::shared_ptr<const Clock> clock);

  Result<Lease> acquire(const rules::AcquireCommand& command, const std::string& metadata,
                        Instant deadline) override;
  Result<std::vector<Lease>> acquire_all(std::span<const rules::AcquireCommand> commands,
                                         const std::string& metadata, Instant deadline) override;
  Result<Lease> renew(const Lease& lease, Duration ttl, Instant deadline) override;
  Result<std::vector<Result<Lease>>> renew_all(std::span<const RenewRequest> requests,
                                               Instant deadline) override;
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
  const host::OpenPath open_path_;  // first: until everything here is closed
  // The answer, once it may be given: what it was read from is durable, as far as it must be.
  template <class T>
  [[nodiscard]] Result<T> once_visible(Result<T> answer) {
    if (!answer) return answer;
    if (auto ok = writer_.await_visible(saturating_add(clock_->now(), operation_timeout_)); !ok) {
      return fail(ok.error());
    }
    return answer;
  }

  const Duration operation_timeout_;
  const BreakerPolicy breaker_policy_;
  const DeliveryPolicy delivery_policy_;
  const Durability durability_;
  const std::shared_ptr<const Clock> clock_;
  const Neighbours neighbours_;
  Writer writer_;
  std::unique_ptr<Reader> reader_;
  std::mt19937_64 random_;  // of the backoff; used inside write transactions only
};

}  // namespace wallock::sqlite
