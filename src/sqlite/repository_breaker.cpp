// The repository's breaker operations.
#include "sqlite/repository.hpp"

namespace wallock::sqlite {

Result<ReportEffect> Repository::report(const Lease& lease, DownstreamOutcome outcome,
                                        Instant deadline) {
  return writer_.run(
      {.flush = Flush::durable}, deadline,
      [&](WriteTransaction& transaction) -> Result<ReportEffect> {
        const auto stored = transaction.load(lease.resource());
        if (!stored) return fail(stored.error());
        const auto decision = rules::decide_report(stored->state,
                                                   {.resource = lease.resource(),
                                                    .token = lease.token(),
                                                    .outcome = outcome,
                                                    .actor = lease.holder().str()},
                                                   breaker_policy_, transaction.moment());
        if (!decision) return fail(decision.error());
        if (!decision->change.entries.empty()) {
          if (auto ok = transaction.apply(lease.resource(), *stored, decision->change); !ok) {
            return fail(ok.error());
          }
        }
        if (decision->effect == ReportEffect::tripped) transaction.frees(lease.resource());
        return decision->effect;
      });
}

Result<Probe> Repository::begin_recovery(const rules::BeginRecoveryCommand& command,
                                         Instant deadline) {
  return writer_.run(
      {.flush = Flush::durable}, deadline, [&](WriteTransaction& transaction) -> Result<Probe> {
        const auto stored = transaction.load(command.resource);
        if (!stored) return fail(stored.error());
        const auto freed = neighbours_.without_dead(stored->state, transaction);
        const auto decision = rules::decide_begin_recovery(freed ? *freed : stored->state, command,
                                                           breaker_policy_, transaction.moment());
        if (!decision) return fail(decision.error());
        if (auto ok = transaction.apply(command.resource, *stored, decision->change); !ok) {
          return fail(ok.error());
        }
        return Probe(command.resource, decision->grant);
      });
}

Status Repository::complete_recovery(const Probe& probe, const RecoveryVerdict& verdict,
                                     Instant deadline) {
  return writer_.run(
      {.flush = Flush::durable}, deadline, [&](WriteTransaction& transaction) -> Status {
        const auto stored = transaction.load(probe.resource());
        if (!stored) return fail(stored.error());
        const auto change = rules::decide_complete_recovery(stored->state,
                                                            {.resource = probe.resource(),
                                                             .token = probe.token(),
                                                             .verdict = verdict,
                                                             .actor = probe.holder().str()},
                                                            breaker_policy_, transaction.moment());
        if (!change) return fail(change.error());
        return transaction.apply(probe.resource(), *stored, *change);
      });
}

Status Repository::force_open(const ResourceName& resource, const std::string& reason,
                              Instant deadline) {
  return writer_.run({.flush = Flush::durable}, deadline,
                     [&](WriteTransaction& transaction) -> Status {
                       const auto stored = transaction.load(resource);
                       if (!stored) return fail(stored.error());
                       const auto change = rules::decide_force_open(
                           stored->state, resource, reason, breaker_policy_, transaction.moment());
                       if (change.entries.empty()) return {};
                       transaction.frees(resource);
                       return transaction.apply(resource, *stored, change);
                     });
}

Status Repository::clear_forced(const ResourceName& resource, Instant deadline) {
  return writer_.run(
      {.flush = Flush::durable}, deadline, [&](WriteTransaction& transaction) -> Status {
        const auto stored = transaction.load(resource);
        if (!stored) return fail(stored.error());
        const auto change =
            rules::decide_clear_forced(stored->state, resource, transaction.moment());
        if (!change) return fail(change.error());
        if (change->entries.empty()) return {};
        return transaction.apply(resource, *stored, *change);
      });
}

}  // namespace wallock::sqlite
