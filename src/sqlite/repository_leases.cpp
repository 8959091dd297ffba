// The repository's leases: acquire, renew, release, revoke.
#include <algorithm>
#include <iterator>

#include "sqlite/repository.hpp"
#include "wallock/ledger/bytes.hpp"

namespace wallock::sqlite {
namespace {

Result<std::optional<rules::PriorRequest>> find_prior(WriteTransaction& transaction,
                                                      const std::optional<ActionId>& request) {
  if (!request) return std::optional<rules::PriorRequest>();
  auto found = transaction.session().actions.find(transaction.db(), *request);
  if (!found) return fail(found.error());
  std::optional<RecordedAction>& recorded = *found;
  if (!recorded) return std::optional<rules::PriorRequest>();
  return std::optional(rules::PriorRequest{.kind = recorded->kind,
                                           .resource = std::move(recorded->resource),
                                           .token = recorded->token,
                                           .actor = std::move(recorded->actor)});
}

Result<Lease> lease_of(const rules::AcquireCommand& command, const rules::Grant& grant,
                       Instant requested_at) {
  return Lease::create({.resource = command.resource,
                        .token = grant.token,
                        .holder = command.holder,
                        .instance = command.instance,
                        .requested_at = std::min(requested_at, grant.granted_at),
                        .granted_at = grant.granted_at,
                        .expires_at = grant.expires_at});
}

rules::RenewCommand renewal_of(const Lease& lease, Duration ttl) {
  return {.resource = lease.resource(),
          .token = lease.token(),
          .instance = lease.instance(),
          .ttl = ttl};
}

Result<Lease> renewed(const Lease& lease, const rules::Renewal& renewal, Instant requested_at,
                      Instant now) {
  return Lease::create({.resource = lease.resource(),
                        .token = lease.token(),
                        .holder = lease.holder(),
                        .instance = lease.instance(),
                        .requested_at = requested_at,
                        .granted_at = now,
                        .expires_at = renewal.expires_at});
}

// The rows of the first so many, which are loaded next.
Status read_ahead(WriteTransaction& transaction, std::span<const RenewRequest> requests) {
  if (requests.size() < 2) return {};
  std::vector<const ResourceName*> names;
  names.reserve(ResourceStore::most_at_once);
  for (const auto& request : requests.first(std::min(requests.size(), ResourceStore::most_at_once)))
    names.push_back(&request.lease.resource());
  return transaction.read_ahead(names);
}

// The renewals of a transaction share one record; one alone keeps its own.
Status record_together(WriteTransaction& transaction, std::span<const LedgerEntry> renewals) {
  if (renewals.empty()) return {};
  const auto append = [&](const LedgerEntry& entry) -> Status {
    const auto position = transaction.append(entry);
    if (!position) return fail(position.error());
    return {};
  };
  if (renewals.size() == 1) return append(renewals.front());
  ledger::Sha256& hasher = transaction.session().ledger.hasher();
  const Digest list = hasher.digest(ledger::as_bytes(rules::renewal_list(renewals)));
  if (auto ok = hasher.ok(); !ok) return ok;
  return append(rules::shared_renewal(renewals, list));
}

}  // namespace

Result<Lease> Repository::acquire(const rules::AcquireCommand& command, const std::string& metadata,
                                  Instant deadline) {
  const Instant requested_at = clock_->now();
  return writer_.run(
      {.flush = Flush::rides}, deadline, [&](WriteTransaction& transaction) -> Result<Lease> {
        const auto prior = find_prior(transaction, command.request);
        if (!prior) return fail(prior.error());
        const auto stored = transaction.load(command.resource);
        if (!stored) return fail(stored.error());
        const auto freed = neighbours_.without_dead(stored->state, transaction);
        const auto grant = rules::decide_acquire(freed ? *freed : stored->state, command, *prior,
                                                 transaction.moment());
        if (!grant) return fail(grant.error());
        if (!grant->adopted) {
          if (auto ok = transaction.apply(command.resource, *stored, grant->change, &metadata);
              !ok) {
            return fail(ok.error());
          }
        }
        return lease_of(command, *grant, requested_at);
      });
}

Result<std::vector<Lease>> Repository::acquire_all(std::span<const rules::AcquireCommand> commands,
                                                   const std::string& metadata, Instant deadline) {
  const Instant requested_at = clock_->now();
  return writer_.run(
      {.flush = Flush::rides}, deadline,
      [&](WriteTransaction& transaction) -> Result<std::vector<Lease>> {
        std::vector<StoredResource> rows;
        std::vector<rules::ResourceState> states;
        for (const rules::AcquireCommand& command : commands) {
          auto stored = transaction.load(command.resource);
          if (!stored) return fail(stored.error());
          auto freed = neighbours_.without_dead(stored->state, transaction);
          states.push_back(freed ? *std::move(freed) : stored->state);
          rows.push_back(*std::move(stored));
        }
        const auto grants = rules::decide_acquire_all(states, commands, transaction.moment());
        if (!grants) return fail(grants.error());
        std::vector<Lease> leases;
        for (std::size_t n = 0; n < commands.size(); ++n) {
          const rules::Grant& grant = (*grants)[n];
          if (auto ok = transaction.apply(commands[n].resource, rows[n], grant.change, &metadata);
              !ok) {
            return fail(ok.error());
          }
          auto lease = lease_of(commands[n], grant, requested_at);
          if (!lease) return fail(lease.error());
          leases.push_back(*std::move(lease));
        }
        return leases;
      });
}

Result<Lease> Repository::renew(const Lease& lease, Duration ttl, Instant deadline) {
  const Instant requested_at = clock_->now();
  return writer_.run(
      {.flush = Flush::rides}, deadline, [&](WriteTransaction& transaction) -> Result<Lease> {
        const auto stored = transaction.load(lease.resource());
        if (!stored) return fail(stored.error());
        const auto renewal =
            rules::decide_renew(stored->state, renewal_of(lease, ttl), transaction.moment());
        if (!renewal) return fail(renewal.error());
        if (auto ok = transaction.apply(lease.resource(), *stored, renewal->change); !ok) {
          return fail(ok.error());
        }
        return renewed(lease, *renewal, requested_at, transaction.now());
      });
}

Result<std::vector<Result<Lease>>> Repository::renew_all(std::span<const RenewRequest> requests,
                                                         Instant deadline) {
  const Instant requested_at = clock_->now();
  auto answers = writer_.run(
      {.flush = Flush::rides}, deadline,
      [&](WriteTransaction& transaction) -> Result<std::vector<Result<Lease>>> {
        std::vector<Result<Lease>> given;
        std::vector<LedgerEntry> records;
        given.reserve(requests.size());
        records.reserve(requests.size());
        for (std::size_t n = 0; n < requests.size(); ++n) {
          if (n % ResourceStore::most_at_once == 0) {
            if (auto ok = read_ahead(transaction, requests.subspan(n)); !ok)
              return fail(ok.error());
          }
          const auto& [lease, ttl] = requests[n];
          const auto stored = transaction.load(lease.resource());
          if (!stored) return fail(stored.error());
          auto renewal =
              rules::decide_renew(stored->state, renewal_of(lease, ttl), transaction.moment());
          if (!renewal) {
            given.push_back(fail(renewal.error()));
            continue;
          }
          auto& change = renewal->change;
          if (auto ok = transaction.store(lease.resource(), *stored, change.next); !ok) {
            return fail(ok.error());
          }
          given.push_back(renewed(lease, *renewal, requested_at, transaction.now()));
          std::ranges::move(change.entries, std::back_inserter(records));
        }
        if (auto ok = record_together(transaction, records); !ok) return fail(ok.error());
        return given;
      });
  // A row that cannot be read or written must not cost the others their leases.
  const bool by_one = !answers && error_class(answers.error().code()) == ErrorClass::security;
  if (by_one && requests.size() > 1) return LeaseRepository::renew_all(requests, deadline);
  return answers;
}

Result<ReleaseEffect> Repository::release(const Lease& lease, Instant deadline) {
  return writer_.run(
      {.flush = Flush::rides}, deadline,
      [&](WriteTransaction& transaction) -> Result<ReleaseEffect> {
        const auto stored = transaction.load(lease.resource());
        if (!stored) return fail(stored.error());
        const auto decision = rules::decide_release(
            stored->state,
            {.resource = lease.resource(), .token = lease.token(), .instance = lease.instance()},
            transaction.moment());
        if (!decision) return fail(decision.error());
        if (!decision->change.entries.empty()) {
          if (auto ok = transaction.apply(lease.resource(), *stored, decision->change); !ok) {
            return fail(ok.error());
          }
        }
        if (decision->effect != ReleaseEffect::already_ended) transaction.frees(lease.resource());
        return decision->effect;
      });
}

Status Repository::revoke(const ResourceName& resource, FencingToken expected,
                          const std::string& reason, Instant deadline) {
  return writer_.run(
      {.flush = Flush::durable}, deadline, [&](WriteTransaction& transaction) -> Status {
        const auto stored = transaction.load(resource);
        if (!stored) return fail(stored.error());
        const auto change =
            rules::decide_revoke(stored->state, resource, expected, reason, transaction.moment());
        if (!change) return fail(change.error());
        transaction.frees(resource);
        return transaction.apply(resource, *stored, *change);
      });
}

}  // namespace wallock::sqlite
