// The breaker and outbox operations of MemoryRepository.
#include <utility>

#include "memory_repository.hpp"

namespace wallock::test {
namespace {

// True while an earlier delivery of the same resource is on its way.
bool blocked(const MemoryStore::Lock& lock, const StoredDelivery& delivery) {
  for (const auto& [position, other] : lock->deliveries) {
    if (position >= delivery.row.position) break;
    if (other.row.resource == delivery.row.resource) return true;
  }
  return false;
}

bool claimable(const MemoryStore::Lock& lock, const StoredDelivery& delivery,
               const ClaimRequest& request, const rules::Moment& at) {
  if (delivery.request.destination() != request.destination || blocked(lock, delivery)) {
    return false;
  }
  const auto state = lock.state(delivery.row.resource);
  if (!rules::check_closed(state, delivery.row.resource, at)) return false;
  const bool lapsed = delivery.row.state == rules::QueueState::claimed &&
                      delivery.row.claim_token.epoch() != at.epoch;
  return lapsed || delivery.row.due <= at.now;
}

Settled carry_out(const MemoryStore::Lock& lock, const rules::DeliveryDecision& decision,
                  WallTime now) {
  lock.append(decision.entry, now);
  if (decision.way == rules::DeliveryDecision::Way::keep) {
    lock->deliveries.at(decision.next.position).row = decision.next;
    return Settled::queued;
  }
  lock->deliveries.erase(decision.next.position);
  if (decision.way == rules::DeliveryDecision::Way::sealed) return Settled::sealed;
  ++lock->dead_letters;
  return Settled::dead;
}

}  // namespace

Result<ReportEffect> MemoryRepository::report(const Lease& lease, DownstreamOutcome outcome,
                                              Instant deadline) {
  const auto lock = store_->lock(*clock_, deadline);
  if (!lock) return fail(lock.error());
  const auto moment = lock->moment(*clock_);
  const auto decision = rules::decide_report(lock->state(lease.resource()),
                                             {.resource = lease.resource(),
                                              .token = lease.token(),
                                              .outcome = outcome,
                                              .actor = lease.holder().str()},
                                             breaker_, moment);
  if (!decision) return fail(decision.error());
  lock->apply(lease.resource(), decision->change, clock_->wall_now());
  return decision->effect;
}

Result<Probe> MemoryRepository::begin_recovery(const rules::BeginRecoveryCommand& command,
                                               Instant deadline) {
  const auto lock = store_->lock(*clock_, deadline);
  if (!lock) return fail(lock.error());
  const auto moment = lock->moment(*clock_);
  const auto decision =
      rules::decide_begin_recovery(lock->state(command.resource), command, breaker_, moment);
  if (!decision) return fail(decision.error());
  lock->apply(command.resource, decision->change, clock_->wall_now());
  return Probe(command.resource, decision->grant);
}

Status MemoryRepository::complete_recovery(const Probe& probe, const RecoveryVerdict& verdict,
                                           Instant deadline) {
  const auto lock = store_->lock(*clock_, deadline);
  if (!lock) return fail(lock.error());
  const auto moment = lock->moment(*clock_);
  const auto change = rules::decide_complete_recovery(lock->state(probe.resource()),
                                                      {.resource = probe.resource(),
                                                       .token = probe.token(),
                                                       .verdict = verdict,
                                                       .actor = probe.holder().str()},
                                                      breaker_, moment);
  if (!change) return fail(change.error());
  lock->apply(probe.resource(), *change, clock_->wall_now());
  return {};
}

Status MemoryRepository::force_open(const ResourceName& resource, const std::string& reason,
                                    Instant deadline) {
  const auto lock = store_->lock(*clock_, deadline);
  if (!lock) return fail(lock.error());
  const auto moment = lock->moment(*clock_);
  lock->apply(resource,
              rules::decide_force_open(lock->state(resource), resource, reason, breaker_, moment),
              clock_->wall_now());
  return {};
}

Status MemoryRepository::clear_forced(const ResourceName& resource, Instant deadline) {
  const auto lock = store_->lock(*clock_, deadline);
  if (!lock) return fail(lock.error());
  const auto moment = lock->moment(*clock_);
  const auto change = rules::decide_clear_forced(lock->state(resource), resource, moment);
  if (!change) return fail(change.error());
  lock->apply(resource, *change, clock_->wall_now());
  return {};
}

Result<BreakerStatus> MemoryRepository::breaker(const ResourceName& resource) {
  const auto lock = read_lock();
  if (!lock) return fail(lock.error());
  const auto moment = lock->moment(*clock_);
  const auto state = lock->state(resource);
  if (auto legal = rules::check_legal(state, resource); !legal) return fail(legal.error());
  const BreakerRow row = rules::effective(*state.breaker, breaker_, moment);
  return BreakerStatus(resource, row, rules::probe_due(row, moment));
}

Result<std::vector<Delivery>> MemoryRepository::claim(const ClaimRequest& request,
                                                      Instant deadline) {
  const auto lock = store_->lock(*clock_, deadline);
  if (!lock) return fail(lock.error());
  std::vector<std::uint64_t> positions;
  const auto first = lock->moment(*clock_);
  for (const auto& [position, delivery] : (*lock)->deliveries) {
    if (positions.size() == request.limit) break;
    if (claimable(*lock, delivery, request, first)) positions.push_back(position);
  }
  std::vector<Delivery> claimed;
  for (const std::uint64_t position : positions) {
    const StoredDelivery delivery = (*lock)->deliveries.at(position);
    const auto moment = lock->moment(*clock_);
    const auto token = moment.token();
    if (!token) return fail(invalid(Errc::invalid_token, "claim_token"));
    const auto decision =
        rules::decide_claim(delivery.row, request.claim, delivery_, *token, moment);
    if (!decision) return fail(decision.error());
    if (carry_out(*lock, *decision, clock_->wall_now()) != Settled::queued) continue;
    claimed.push_back(Delivery({.action_id = delivery.request.id(),
                                .position = position,
                                .resource = delivery.row.resource,
                                .destination = request.destination,
                                .payload = delivery.request.payload(),
                                .attempt = decision->next.attempt,
                                .claim_token = decision->next.claim_token,
                                .claim_expires_at = decision->next.due}));
  }
  return claimed;
}

Result<std::vector<Result<Settled>>> MemoryRepository::settle_all(
    std::span<const SettleRequest> requests, Instant deadline) {
  const auto lock = store_->lock(*clock_, deadline);
  if (!lock) return fail(lock.error());
  std::vector<Result<Settled>> answers;
  for (const SettleRequest& request : requests) {
    const auto found = (*lock)->deliveries.find(request.position);
    const auto row =
        found == (*lock)->deliveries.end() ? std::nullopt : std::optional(found->second.row);
    const auto decision =
        rules::decide_settle(row, request.settle, delivery_, 0, lock->moment(*clock_));
    if (!decision) {
      answers.emplace_back(fail(decision.error()));
    } else {
      answers.emplace_back(carry_out(*lock, *decision, clock_->wall_now()));
    }
  }
  return answers;
}

}  // namespace wallock::test
