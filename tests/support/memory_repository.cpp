#include "memory_repository.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "memory_replay.hpp"
#include "wallock/ledger/content.hpp"

namespace wallock::test {
namespace {

class MemoryTransaction final : public Transaction {
 public:
  explicit MemoryTransaction(FencingToken token) noexcept : Transaction(token, nullptr) {}
};

Status run(const Work& work, FencingToken token) {
  if (!work) return {};
  MemoryTransaction transaction(token);
  try {
    if (auto done = work(transaction); !done) {
      return fail(Error(Errc::work_failed, ErrorFacts{.native = done.error().facts().native}));
    }
  } catch (const std::exception&) {
    return fail(Errc::work_failed);
  }
  return {};
}

// Where an action stands once its commit landed: at the end if it goes nowhere.
ActionState committed_state(const ActionRequest& action) {
  return action.destination() ? ActionState::validated : ActionState::sealed;
}

std::optional<rules::PriorRequest> find_prior(const MemoryStore::Lock& lock,
                                              const std::optional<ActionId>& request) {
  if (!request) return std::nullopt;
  for (const AuditRecord& record : lock->ledger) {
    const LedgerEntry& entry = record.entry();
    if (entry.action_id != request) continue;
    return rules::PriorRequest{
        .kind = entry.kind, .resource = entry.resource, .token = entry.token, .actor = entry.actor};
  }
  return std::nullopt;
}

Digest root_of(std::span<const AuditRecord> ledger) {
  auto hasher = ledger::Sha256::create().value();
  ledger::Frontier frontier;
  for (const AuditRecord& record : ledger)
    frontier.append(record.leaf_hash(), hasher);
  return frontier.root(hasher);
}

}  // namespace

MemoryRepository::MemoryRepository(std::shared_ptr<MemoryStore> store,
                                   std::shared_ptr<const Clock> clock, BreakerPolicy breaker,
                                   DeliveryPolicy delivery)
    : store_(std::move(store)), clock_(std::move(clock)), breaker_(breaker), delivery_(delivery) {}

Result<MemoryStore::Lock> MemoryRepository::read_lock() {
  return store_->lock(*clock_, saturating_add(clock_->now(), std::chrono::hours(1)));
}

Result<Lease> MemoryRepository::acquire(const rules::AcquireCommand& command,
                                        const std::string& metadata, Instant deadline) {
  const Instant requested_at = clock_->now();
  const auto lock = store_->lock(*clock_, deadline);
  if (!lock) return fail(lock.error());
  const auto moment = lock->moment(*clock_);
  const auto grant = rules::decide_acquire(lock->state(command.resource), command,
                                           find_prior(*lock, command.request), moment);
  if (!grant) return fail(grant.error());
  if (!grant->adopted) {
    lock->apply(command.resource, grant->change, clock_->wall_now());
    (*lock)->resources[command.resource.str()].metadata = metadata;
  }
  return Lease::create({.resource = command.resource,
                        .token = grant->token,
                        .holder = command.holder,
                        .instance = command.instance,
                        .requested_at = std::min(requested_at, grant->granted_at),
                        .granted_at = grant->granted_at,
                        .expires_at = grant->expires_at});
}

Result<std::vector<Lease>> MemoryRepository::acquire_all(
    std::span<const rules::AcquireCommand> commands, const std::string& metadata,
    Instant deadline) {
  const Instant requested_at = clock_->now();
  const auto lock = store_->lock(*clock_, deadline);
  if (!lock) return fail(lock.error());
  std::vector<rules::ResourceState> states;
  for (const auto& command : commands)
    states.push_back(lock->state(command.resource));
  const auto grants = rules::decide_acquire_all(states, commands, lock->moment(*clock_));
  if (!grants) return fail(grants.error());
  std::vector<Lease> leases;
  for (std::size_t n = 0; n < commands.size(); ++n) {
    const rules::Grant& grant = (*grants)[n];
    lock->apply(commands[n].resource, grant.change, clock_->wall_now());
    (*lock)->resources[commands[n].resource.str()].metadata = metadata;
    leases.push_back(Lease::create({.resource = commands[n].resource,
                                    .token = grant.token,
                                    .holder = commands[n].holder,
                                    .instance = commands[n].instance,
                                    .requested_at = std::min(requested_at, grant.granted_at),
                                    .granted_at = grant.granted_at,
                                    .expires_at = grant.expires_at})
                         .value());
  }
  return leases;
}

Result<Lease> MemoryRepository::renew(const Lease& lease, Duration ttl, Instant deadline) {
  const Instant requested_at = clock_->now();
  const auto lock = store_->lock(*clock_, deadline);
  if (!lock) return fail(lock.error());
  const auto moment = lock->moment(*clock_);
  const auto renewal = rules::decide_renew(lock->state(lease.resource()),
                                           {.resource = lease.resource(),
                                            .token = lease.token(),
                                            .instance = lease.instance(),
                                            .ttl = ttl},
                                           moment);
  if (!renewal) return fail(renewal.error());
  lock->apply(lease.resource(), renewal->change, clock_->wall_now());
  return Lease::create({.resource = lease.resource(),
                        .token = lease.token(),
                        .holder = lease.holder(),
                        .instance = lease.instance(),
                        .requested_at = requested_at,
                        .granted_at = moment.now,
                        .expires_at = renewal->expires_at});
}

Result<std::vector<ActionResult>> MemoryRepository::record(const MemoryStore::Lock& lock,
                                                           const Lease& lease,
                                                           std::span<const ActionRequest> actions) {
  auto hasher = ledger::Sha256::create();
  if (!hasher) return fail(hasher.error());
  std::vector<ActionResult> results;
  for (const ActionRequest& action : actions) {
    std::string content;
    ledger::append_content(content, {}, action);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(content.data());
    const Digest digest = hasher->digest(std::span(bytes, content.size()));
    const ActionState state = committed_state(action);
    const std::uint64_t position = lock.append({.kind = RecordKind::action_recorded,
                                                .resource = lease.resource(),
                                                .action_id = action.id(),
                                                .token = lease.token(),
                                                .state = state,
                                                .score = action.security_score(),
                                                .digest = digest,
                                                .actor = lease.holder().str()},
                                               clock_->wall_now());
    const ActionResult result({.id = action.id(),
                               .position = position,
                               .token = lease.token(),
                               .digest = digest,
                               .state = state});
    lock->actions.emplace(action.id().str(), StoredAction{action, result, lease.resource()});
    if (action.destination()) {
      const Instant now = clock_->now();
      lock->deliveries.emplace(
          position,
          StoredDelivery{
              {.position = position, .resource = lease.resource(), .born = now, .due = now},
              action});
    }
    results.push_back(result);
  }
  return results;
}

Result<Committed> MemoryRepository::commit_locked(const MemoryStore::Lock& lock, const Lease& lease,
                                                  std::span<const ActionRequest> actions,
                                                  const Work& work, const CommitOptions& options,
                                                  Instant requested_at) {
  const auto moment = lock.moment(*clock_);
  const auto decision = rules::decide_commit(lock.state(lease.resource()),
                                             {.resource = lease.resource(),
                                              .token = lease.token(),
                                              .holder = lease.holder(),
                                              .instance = lease.instance(),
                                              .after = options.after,
                                              .ttl = options.ttl.value_or(lease.ttl()),
                                              .actions = actions.size()},
                                             moment);
  if (!decision) return fail(decision.error());
  if (auto done = run(work, lease.token()); !done) return fail(done.error());
  auto results = record(lock, lease, actions);
  if (!results) return fail(results.error());
  auto change = decision->change;
  lock.apply(lease.resource(), change, clock_->wall_now());
  lock->resources[lease.resource().str()].state = change.next;
  if (!decision->next_token) return Committed(*std::move(results), false);
  auto next = Lease::create({.resource = lease.resource(),
                             .token = *decision->next_token,
                             .holder = lease.holder(),
                             .instance = lease.instance(),
                             .requested_at = requested_at,
                             .granted_at = moment.now,
                             .expires_at = decision->expires_at});
  if (!next) return fail(next.error());
  return Committed(*std::move(results), false, *std::move(next));
}

Result<Committed> MemoryRepository::commit(const Lease& lease,
                                           std::span<const ActionRequest> actions, const Work& work,
                                           const CommitOptions& options, Instant deadline) {
  const Instant requested_at = clock_->now();
  const auto lock = store_->lock(*clock_, deadline);
  if (!lock) return fail(lock.error());
  auto replay = find_replay(*lock, lease.resource(), actions);
  if (!replay) return fail(replay.error());
  if (*replay) {
    return answer_replay(*lock, lease, **std::move(replay), options.after, requested_at,
                         lock->moment(*clock_));
  }
  return commit_locked(*lock, lease, actions, work, options, requested_at);
}

Result<Committed> MemoryRepository::execute(const ExecuteCommand& command,
                                            std::span<const ActionRequest> actions,
                                            const Work& work, Instant deadline) {
  const Instant requested_at = clock_->now();
  const auto lock = store_->lock(*clock_, deadline);
  if (!lock) return fail(lock.error());
  auto replay = find_replay(*lock, command.resource, actions);
  if (!replay) return fail(replay.error());
  if (*replay) return Committed(**std::move(replay), true);
  const auto moment = lock->moment(*clock_);
  const auto before = lock->state(command.resource);
  const auto grant = rules::decide_acquire(before,
                                           {.resource = command.resource,
                                            .holder = command.holder,
                                            .instance = command.instance,
                                            .ttl = min_ttl},
                                           std::nullopt, moment);
  if (!grant) return fail(grant.error());
  lock->apply(command.resource, grant->change, clock_->wall_now());
  const auto lease = Lease::create({.resource = command.resource,
                                    .token = grant->token,
                                    .holder = command.holder,
                                    .instance = command.instance,
                                    .requested_at = requested_at,
                                    .granted_at = grant->granted_at,
                                    .expires_at = grant->expires_at});
  if (!lease) return fail(lease.error());
  auto answer =
      commit_locked(*lock, *lease, actions, work, {.after = AfterCommit::release}, requested_at);
  if (!answer) {  // all or nothing: the grant goes as well
    (*lock)->ledger.pop_back();
    (*lock)->resources[command.resource.str()].state = before;
  }
  return answer;
}

Result<ReleaseEffect> MemoryRepository::release(const Lease& lease, Instant deadline) {
  const auto lock = store_->lock(*clock_, deadline);
  if (!lock) return fail(lock.error());
  const auto moment = lock->moment(*clock_);
  const auto decision = rules::decide_release(
      lock->state(lease.resource()),
      {.resource = lease.resource(), .token = lease.token(), .instance = lease.instance()}, moment);
  if (!decision) return fail(decision.error());
  lock->apply(lease.resource(), decision->change, clock_->wall_now());
  return decision->effect;
}

Status MemoryRepository::revoke(const ResourceName& resource, FencingToken expected,
                                const std::string& reason, Instant deadline) {
  const auto lock = store_->lock(*clock_, deadline);
  if (!lock) return fail(lock.error());
  const auto moment = lock->moment(*clock_);
  const auto change =
      rules::decide_revoke(lock->state(resource), resource, expected, reason, moment);
  if (!change) return fail(change.error());
  lock->apply(resource, *change, clock_->wall_now());
  return {};
}

Result<std::vector<LeaseInfo>> MemoryRepository::leases(std::size_t limit) {
  const auto lock = read_lock();
  if (!lock) return fail(lock.error());
  const auto moment = lock->moment(*clock_);
  std::vector<LeaseInfo> found;
  for (const auto& [name, stored] : (*lock)->resources) {
    if (found.size() == limit) break;
    if (!rules::is_live(stored.state, moment)) continue;
    const rules::Tenure& tenure = *stored.state.tenure;
    auto lease = Lease::create({.resource = ResourceName::parse(name).value(),
                                .token = stored.state.issued,
                                .holder = tenure.holder,
                                .instance = tenure.instance,
                                .requested_at = tenure.granted_at,
                                .granted_at = tenure.granted_at,
                                .expires_at = tenure.expires_at});
    if (!lease) return fail(lease.error());
    found.push_back({.lease = *std::move(lease), .metadata = stored.metadata});
  }
  return found;
}

Result<std::vector<AuditRecord>> MemoryRepository::audit(const AuditRange& range) {
  const auto lock = read_lock();
  if (!lock) return fail(lock.error());
  const auto& ledger = (*lock)->ledger;
  std::vector<AuditRecord> records;
  for (std::uint64_t at = range.from; at < ledger.size() && records.size() < range.limit; ++at) {
    records.push_back(ledger[at]);
  }
  return records;
}

Result<TreeHead> MemoryRepository::root() {
  const auto lock = read_lock();
  if (!lock) return fail(lock.error());
  return TreeHead{.size = (*lock)->ledger.size(), .root = root_of((*lock)->ledger)};
}

Result<VerifyReport> MemoryRepository::verify(const std::optional<TreeHead>& trusted) {
  const auto lock = read_lock();
  if (!lock) return fail(lock.error());
  const std::span<const AuditRecord> ledger((*lock)->ledger);
  VerifyReport report{.head = {.size = ledger.size(), .root = root_of(ledger)}};
  if (!trusted) return report;
  if (trusted->size > ledger.size()) {
    report.verdict = VerifyVerdict::truncated;
  } else {
    const bool past = root_of(ledger.first(trusted->size)) == trusted->root;
    report.verdict = past ? VerifyVerdict::anchored : VerifyVerdict::forked;
  }
  return report;
}

Result<Health> MemoryRepository::health() {
  const auto lock = read_lock();
  if (!lock) return fail(lock.error());
  return Health{.sqlite_version = "none",
                .has_boot_id = clock_->boot_id().has_value(),
                .epoch = (*lock)->epoch,
                .ledger_size = (*lock)->ledger.size(),
                .deliveries = (*lock)->deliveries.size(),
                .dead_letters = (*lock)->dead_letters};
}

Result<std::uint64_t> MemoryRepository::change_counter() {
  const auto lock = read_lock();
  if (!lock) return fail(lock.error());
  return (*lock)->changes;
}

}  // namespace wallock::test
