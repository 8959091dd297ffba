// FaultyRepository: a repository whose calls a test watches, fails and delays.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "wallock/lease_repository.hpp"

namespace wallock::test {

// One call as the repository got it.
struct Call {
  std::string_view operation;
  Instant deadline = Instant::max();  // of those that have one
};

// What a test does to the calls. Shared with the repository, which its coordinator owns.
// Thread safety: set the functions while no call is under way; the rest from any thread.
class Faults {
 public:
  // Answers instead of the store, which then changes nothing; may also wait, or change the store
  // behind the caller's back.
  std::function<std::optional<Error>(const Call&)> before = {};
  // Answers instead of the store, after it did what it was asked to: a lost answer.
  std::function<std::optional<Error>(const Call&)> after = {};

  void note(const Call& call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(call);
  }
  [[nodiscard]] std::vector<Call> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  [[nodiscard]] std::size_t count(std::string_view operation) const {
    const std::lock_guard lock(mutex_);
    std::size_t found = 0;
    for (const Call& call : calls_)
      found += call.operation == operation ? 1 : 0;
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Call> calls_;
};

class FaultyRepository final : public LeaseRepository {
 public:
  FaultyRepository(std::unique_ptr<LeaseRepository> inner, std::shared_ptr<Faults> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {}
  ~FaultyRepository() override { faults_->note({.operation = "destroy"}); }

  Result<Lease> acquire(const rules::AcquireCommand& command, const std::string& metadata,
                        Instant deadline) override {
    return run({"acquire", deadline}, [&] { return inner_->acquire(command, metadata, deadline); });
  }
  Result<std::vector<Lease>> acquire_all(std::span<const rules::AcquireCommand> commands,
                                         const std::string& metadata, Instant deadline) override {
    return run({"acquire_all", deadline},
               [&] { return inner_->acquire_all(commands, metadata, deadline); });
  }
  Result<Lease> renew(const Lease& lease, Duration ttl, Instant deadline) override {
    return run({"renew", deadline}, [&] { return inner_->renew(lease, ttl, deadline); });
  }
  Result<Committed> commit(const Lease& lease, std::span<const ActionRequest> actions,
                           const Work& work, const CommitOptions& options,
                           Instant deadline) override {
    return run({"commit", deadline},
               [&] { return inner_->commit(lease, actions, work, options, deadline); });
  }
  Result<Committed> execute(const ExecuteCommand& command, std::span<const ActionRequest> actions,
                            const Work& work, Instant deadline) override {
    return run({"execute", deadline},
               [&] { return inner_->execute(command, actions, work, deadline); });
  }
  Result<ReleaseEffect> release(const Lease& lease, Instant deadline) override {
    return run({"release", deadline}, [&] { return inner_->release(lease, deadline); });
  }
  Status revoke(const ResourceName& resource, FencingToken expected, const std::string& reason,
                Instant deadline) override {
    return run({"revoke", deadline},
               [&] { return inner_->revoke(resource, expected, reason, deadline); });
  }
  Result<ReportEffect> report(const Lease& lease, DownstreamOutcome outcome,
                              Instant deadline) override {
    return run({"report", deadline}, [&] { return inner_->report(lease, outcome, deadline); });
  }
  Result<Probe> begin_recovery(const rules::BeginRecoveryCommand& command,
                               Instant deadline) override {
    return run({"begin_recovery", deadline},
               [&] { return inner_->begin_recovery(command, deadline); });
  }
  Status complete_recovery(const Probe& probe, const RecoveryVerdict& verdict,
                           Instant deadline) override {
    return run({"complete_recovery", deadline},
               [&] { return inner_->complete_recovery(probe, verdict, deadline); });
  }
  Status force_open(const ResourceName& resource, const std::string& reason,
                    Instant deadline) override {
    return run({"force_open", deadline},
               [&] { return inner_->force_open(resource, reason, deadline); });
  }
  Status clear_forced(const ResourceName& resource, Instant deadline) override {
    return run({"clear_forced", deadline},
               [&] { return inner_->clear_forced(resource, deadline); });
  }
  Result<std::vector<Delivery>> claim(const ClaimRequest& request, Instant deadline) override {
    return run({"claim", deadline}, [&] { return inner_->claim(request, deadline); });
  }
  Result<std::vector<Result<Settled>>> settle_all(std::span<const SettleRequest> requests,
                                                  Instant deadline) override {
    return run({"settle", deadline}, [&] { return inner_->settle_all(requests, deadline); });
  }
  Result<BreakerStatus> breaker(const ResourceName& resource) override {
    return run({"breaker"}, [&] { return inner_->breaker(resource); });
  }
  Result<std::vector<LeaseInfo>> leases(std::size_t limit) override {
    return run({"leases"}, [&] { return inner_->leases(limit); });
  }
  Result<std::vector<AuditRecord>> audit(const AuditRange& range) override {
    return run({"audit"}, [&] { return inner_->audit(range); });
  }
  Result<TreeHead> root() override {
    return run({"root"}, [&] { return inner_->root(); });
  }
  Result<VerifyReport> verify(const std::optional<TreeHead>& trusted) override {
    return run({"verify"}, [&] { return inner_->verify(trusted); });
  }
  Result<Health> health() override {
    return run({"health"}, [&] { return inner_->health(); });
  }
  Result<std::uint64_t> change_counter() override {
    return run({"change_counter"}, [&] { return inner_->change_counter(); });
  }

 private:
  template <class Operation>
  auto run(const Call& call, Operation operation) -> decltype(operation()) {
    faults_->note(call);
    if (faults_->before) {
      if (auto error = faults_->before(call)) return fail(*std::move(error));
    }
    auto answer = operation();
    if (faults_->after) {
      if (auto error = faults_->after(call)) return fail(*std::move(error));
    }
    return answer;
  }

  std::unique_ptr<LeaseRepository> inner_;
  std::shared_ptr<Faults> faults_;
};

}  // namespace wallock::test
