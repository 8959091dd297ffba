#include "wallock/coordinator.hpp"

#include <algorithm>
#include <utility>

#include "coordinator/checks.hpp"
#include "coordinator/core.hpp"
#include "coordinator/instance.hpp"

namespace wallock {
namespace {

using detail::check;
using detail::check_limit;

SettleRequest request_of(const Delivery& delivery, const DeliveryOutcome& outcome) {
  return {.position = delivery.position(),
          .destination = delivery.destination(),
          .settle = {.claim_token = delivery.claim_token(), .outcome = outcome}};
}

}  // namespace

Coordinator::Coordinator(std::shared_ptr<detail::CoordinatorCore> core) noexcept
    : core_(std::move(core)) {}
Coordinator::Coordinator(Coordinator&&) noexcept = default;
Coordinator& Coordinator::operator=(Coordinator&&) noexcept = default;
Coordinator::~Coordinator() = default;

Result<Coordinator> Coordinator::over(std::unique_ptr<LeaseRepository> repository,
                                      Options options) {
  return detail::at_boundary([&]() -> Result<Coordinator> {
    if (!repository) return fail(invalid(Errc::invalid_option, "repository"));
    if (auto ok = check(options); !ok) return fail(ok.error());
    if (!options.clock) options.clock = system_clock();
    const auto instance = detail::draw_instance();
    if (!instance) return fail(instance.error());
    return Coordinator(std::make_shared<detail::CoordinatorCore>(std::move(repository), nullptr,
                                                                 std::move(options), *instance));
  });
}

Result<Lease> Coordinator::acquire(Given<ResourceName> resource, AcquireOptions options,
                                   std::stop_token stop) {
  return core_->call([&](LeaseRepository&) -> Result<Lease> {
    const auto request = core_->request(resource, options);
    if (!request) return fail(request.error());
    return core_->acquire(*request, stop);
  });
}

Result<Lease> Coordinator::try_acquire(Given<ResourceName> resource, AcquireOptions options) {
  options.wait = Duration::zero();
  return acquire(std::move(resource), std::move(options));
}

Result<std::vector<Lease>> Coordinator::acquire_all(std::vector<Given<ResourceName>> resources,
                                                    AcquireOptions options, std::stop_token stop) {
  return core_->call([&](LeaseRepository&) -> Result<std::vector<Lease>> {
    return core_->acquire_all(resources, options, stop);
  });
}

Result<Lease> Coordinator::renew(const Lease& lease, Duration ttl) {
  return core_->call([&](LeaseRepository& store) -> Result<Lease> {
    if (auto ok = check_ttl(ttl); !ok) return fail(ok.error());
    // The caller must learn of a failure while the lease still lasts. If it is too late for that,
    // the store is asked all the same, once: it says whether the lease is expired or lost.
    constexpr Duration least_patience = std::chrono::milliseconds(5);
    const Instant now = core_->now();
    const Instant late =
        saturating_add(lease.expires_at(), -detail::margin_of(std::nullopt, lease.ttl()));
    const Instant deadline = std::min(core_->deadline(), late);
    return store.renew(lease, ttl, deadline > now ? deadline : saturating_add(now, least_patience));
  });
}

Result<Committed> Coordinator::commit(const Lease& lease, const Batch& actions, const Work& work,
                                      CommitOptions options) {
  return core_->call([&](LeaseRepository& store) -> Result<Committed> {
    const auto checked = core_->actions(actions);
    if (!checked) return fail(checked.error());
    if (auto ok = check(options); !ok) return fail(ok.error());
    return store.commit(lease, *checked, work, options, core_->deadline());
  });
}

Result<ReleaseEffect> Coordinator::release(const Lease& lease) {
  return core_->call(
      [&](LeaseRepository& store) { return store.release(lease, core_->deadline()); });
}

Result<Committed> Coordinator::execute(Given<ResourceName> resource, const Batch& actions,
                                       const Work& work, ExecuteOptions options,
                                       std::stop_token stop) {
  return core_->call([&](LeaseRepository& store) -> Result<Committed> {
    auto name = resource.check();
    if (!name) return fail(name.error());
    if (auto ok = check_wait(options.wait); !ok) return fail(ok.error());
    auto holder = core_->holder(options.holder);
    if (!holder) return fail(holder.error());
    const auto checked = core_->actions(actions);
    if (!checked) return fail(checked.error());
    ExecuteCommand command{
        .resource = *std::move(name), .holder = *std::move(holder), .instance = core_->instance()};
    return core_->attempt({&command.resource, 1}, options.wait, stop, [&](detail::Attempt now) {
      command.yields = now.yields;
      return store.execute(command, *checked, work, now.deadline);
    });
  });
}

Result<ReportEffect> Coordinator::report(const Lease& lease, DownstreamOutcome outcome) {
  return core_->call([&](LeaseRepository& store) -> Result<ReportEffect> {
    if (auto ok = check(outcome); !ok) return fail(ok.error());
    return store.report(lease, outcome, core_->deadline());
  });
}

Result<BreakerStatus> Coordinator::breaker(Given<ResourceName> resource) {
  return core_->call([&](LeaseRepository& store) -> Result<BreakerStatus> {
    const auto name = resource.check();
    if (!name) return fail(name.error());
    return store.breaker(*name);
  });
}

Result<Probe> Coordinator::begin_recovery(Given<ResourceName> resource, RecoveryOptions options) {
  return core_->call([&](LeaseRepository& store) -> Result<Probe> {
    auto name = resource.check();
    if (!name) return fail(name.error());
    if (auto ok = check_ttl(options.ttl); !ok) return fail(ok.error());
    auto holder = core_->holder(options.holder);
    if (!holder) return fail(holder.error());
    return store.begin_recovery({.resource = *std::move(name),
                                 .holder = *std::move(holder),
                                 .instance = core_->instance(),
                                 .ttl = options.ttl},
                                core_->deadline());
  });
}

Status Coordinator::complete_recovery(const Probe& probe, const RecoveryVerdict& verdict) {
  return core_->call([&](LeaseRepository& store) -> Status {
    if (auto ok = rules::check_evidence(verdict); !ok) return ok;
    return store.complete_recovery(probe, verdict, core_->deadline());
  });
}

Status Coordinator::force_open(Given<ResourceName> resource, std::string reason) {
  return core_->call([&](LeaseRepository& store) -> Status {
    const auto name = resource.check();
    if (!name) return fail(name.error());
    if (auto ok = detail::check_reason(reason); !ok) return ok;
    return store.force_open(*name, reason, core_->deadline());
  });
}

Status Coordinator::clear_forced(Given<ResourceName> resource) {
  return core_->call([&](LeaseRepository& store) -> Status {
    const auto name = resource.check();
    if (!name) return fail(name.error());
    return store.clear_forced(*name, core_->deadline());
  });
}

Result<std::vector<Delivery>> Coordinator::claim(ClaimOptions options, std::stop_token stop) {
  return core_->call([&](LeaseRepository&) -> Result<std::vector<Delivery>> {
    auto destination = options.destination.check();
    if (!destination) return fail(destination.error());
    if (auto ok = check_limit(options.limit, detail::max_claimed); !ok) return fail(ok.error());
    if (auto ok = check_ttl(options.ttl); !ok) return fail(ok.error());
    if (auto ok = check_wait(options.wait); !ok) return fail(ok.error());
    auto holder = core_->holder(options.holder);
    if (!holder) return fail(holder.error());
    const ClaimRequest request{.destination = *std::move(destination),
                               .limit = options.limit,
                               .claim = {.holder = *std::move(holder), .ttl = options.ttl}};
    return core_->claim(request, options.wait, stop);
  });
}

Result<Settled> Coordinator::settle(const Delivery& delivery, DeliveryOutcome outcome) {
  return core_->call([&](LeaseRepository& store) -> Result<Settled> {
    const SettleRequest request = request_of(delivery, outcome);
    auto settled = store.settle_all({&request, 1}, core_->deadline());
    if (!settled) return fail(settled.error());
    return std::move(settled->front());
  });
}

Result<std::vector<Result<Settled>>> Coordinator::settle_all(
    std::span<const Settlement> settlements) {
  return core_->call([&](LeaseRepository& store) -> Result<std::vector<Result<Settled>>> {
    if (auto ok = detail::check_settlements(settlements.size()); !ok) return fail(ok.error());
    std::vector<SettleRequest> requests;
    requests.reserve(settlements.size());
    for (const Settlement& settlement : settlements)
      requests.push_back(request_of(settlement.delivery, settlement.outcome));
    return store.settle_all(requests, core_->deadline());
  });
}

Status Coordinator::revoke(Given<ResourceName> resource, FencingToken expected,
                           std::string reason) {
  return core_->call([&](LeaseRepository& store) -> Status {
    const auto name = resource.check();
    if (!name) return fail(name.error());
    if (auto ok = detail::check_token(expected); !ok) return ok;
    if (auto ok = detail::check_reason(reason); !ok) return ok;
    return store.revoke(*name, expected, reason, core_->deadline());
  });
}

Result<std::vector<LeaseInfo>> Coordinator::leases(std::size_t limit) {
  return core_->call([&](LeaseRepository& store) -> Result<std::vector<LeaseInfo>> {
    if (auto ok = check_limit(limit, detail::max_listed); !ok) return fail(ok.error());
    return store.leases(limit);
  });
}

Result<std::vector<AuditRecord>> Coordinator::audit(AuditRange range) {
  return core_->call([&](LeaseRepository& store) -> Result<std::vector<AuditRecord>> {
    if (auto ok = check_limit(range.limit, detail::max_listed); !ok) return fail(ok.error());
    return store.audit(range);
  });
}

Result<TreeHead> Coordinator::root() {
  return core_->call([](LeaseRepository& store) { return store.root(); });
}

Result<VerifyReport> Coordinator::verify(std::optional<TreeHead> trusted) {
  return core_->call([&](LeaseRepository& store) { return store.verify(trusted); });
}

Result<Health> Coordinator::health() {
  return core_->call([](LeaseRepository& store) { return store.health(); });
}

}  // namespace wallock
