// The repository's commits: the application's work and its records in one transaction.
#include <algorithm>
#include <utility>

#include "sqlite/replay.hpp"
#include "sqlite/repository.hpp"

namespace wallock::sqlite {
namespace {

// Those of the actions that have a destination.
std::vector<Outgoing> outgoing_of(std::span<const ActionRequest> actions,
                                  std::span<const ActionResult> results) {
  std::vector<Outgoing> outgoing;
  outgoing.reserve(actions.size());
  for (std::size_t n = 0; n < actions.size(); ++n) {
    const auto& destination = actions[n].destination();
    if (destination) outgoing.push_back({results[n].position(), &*destination});
  }
  return outgoing;
}

// Appends the records of the actions and puts those with a destination into the outbox.
Result<std::vector<ActionResult>> record_all(WriteTransaction& transaction, const Grounds& grounds,
                                             std::span<const ActionRequest> actions) {
  Session& session = transaction.session();
  auto results = session.actions.record_all(transaction.db(), session.ledger, transaction.wall(),
                                            grounds, actions);
  if (!results) return results;
  const auto outgoing = outgoing_of(actions, *results);
  if (auto ok = session.outbox.enqueue_all(transaction.db(), grounds.resource, outgoing,
                                           transaction.now());
      !ok) {
    return fail(ok.error());
  }
  return results;
}

// Writes what was decided: the actions first, then what spends their token.
Result<std::vector<ActionResult>> carry_out(WriteTransaction& transaction, const Grounds& grounds,
                                            std::span<const ActionRequest> actions,
                                            const StoredResource& stored,
                                            const rules::Change& change) {
  auto results = record_all(transaction, grounds, actions);
  if (!results) return results;
  if (auto ok = transaction.spend(grounds.token, grounds.resource, stored, change); !ok) {
    return fail(ok.error());
  }
  return results;
}

std::optional<Lease> next_lease(const Lease& lease, const rules::CommitDecision& decision,
                                Instant requested_at, Instant now) {
  if (!decision.next_token) return std::nullopt;
  auto next = Lease::create({.resource = lease.resource(),
                             .token = *decision.next_token,
                             .holder = lease.holder(),
                             .instance = lease.instance(),
                             .requested_at = requested_at,
                             .granted_at = now,
                             .expires_at = decision.expires_at});
  return next ? std::optional(*std::move(next)) : std::nullopt;
}

// The answer of a commit that was recorded before. With keep it has the lease that was granted
// then, as long as that is the current one.
Result<Committed> answer_replay(WriteTransaction& transaction, const Lease& lease,
                                std::vector<ActionResult> results, const CommitOptions& options,
                                Instant requested_at) {
  if (options.after != AfterCommit::keep) return Committed(std::move(results), true);
  const auto stored = transaction.load(lease.resource());
  if (!stored) return fail(stored.error());
  const rules::ResourceState& state = stored->state;
  const auto last = std::ranges::max(results, {}, &ActionResult::position).position();
  const auto* const tenure =
      rules::kept_tenure(state, last, lease.holder(), lease.instance(), transaction.moment());
  if (tenure == nullptr) return Committed(std::move(results), true);
  auto kept = Lease::create({.resource = lease.resource(),
                             .token = state.issued,
                             .holder = lease.holder(),
                             .instance = lease.instance(),
                             .requested_at = std::min(requested_at, tenure->granted_at),
                             .granted_at = tenure->granted_at,
                             .expires_at = tenure->expires_at});
  if (!kept) return fail(kept.error());
  return Committed(std::move(results), true, *std::move(kept));
}

// Grants the resource inside the transaction of an execute, so that its commit can follow.
Result<FencingToken> grant_here(WriteTransaction& transaction, const ExecuteCommand& command,
                                const Neighbours& neighbours) {
  const auto stored = transaction.load(command.resource);
  if (!stored) return fail(stored.error());
  const auto freed = neighbours.without_dead(stored->state, transaction);
  const auto grant = rules::decide_acquire(freed ? *freed : stored->state,
                                           {.resource = command.resource,
                                            .holder = command.holder,
                                            .instance = command.instance,
                                            .ttl = min_ttl,
                                            .yields = command.yields},
                                           std::nullopt, transaction.moment());
  if (!grant) return fail(grant.error());
  const std::string no_metadata;
  if (auto ok = transaction.apply(command.resource, *stored, grant->change, &no_metadata); !ok) {
    return fail(ok.error());
  }
  return grant->token;
}

}  // namespace

Result<Committed> Repository::commit(const Lease& lease, std::span<const ActionRequest> actions,
                                     const Work& work, const CommitOptions& options,
                                     Instant deadline) {
  const Instant requested_at = clock_->now();
  auto answer = writer_.run(
      {.flush = Flush::durable, .has_work = static_cast<bool>(work)}, deadline,
      [&](WriteTransaction& transaction) -> Result<Committed> {
        auto replay = find_replay(transaction, lease.resource(), actions);
        if (!replay) return fail(replay.error());
        if (*replay) {
          return answer_replay(transaction, lease, **std::move(replay), options, requested_at);
        }
        const auto stored = transaction.load(lease.resource());
        if (!stored) return fail(stored.error());
        const auto decision = rules::decide_commit(stored->state,
                                                   {.resource = lease.resource(),
                                                    .token = lease.token(),
                                                    .holder = lease.holder(),
                                                    .instance = lease.instance(),
                                                    .after = options.after,
                                                    .ttl = options.ttl.value_or(lease.ttl()),
                                                    .actions = actions.size()},
                                                   transaction.moment());
        if (!decision) return fail(decision.error());
        if (auto ok = writer_.run_work(transaction, lease.token(), work); !ok) {
          return fail(ok.error());
        }
        const Grounds grounds{.resource = lease.resource(),
                              .token = lease.token(),
                              .fence = rules::fence(stored->state, transaction.moment()),
                              .holder = lease.holder()};
        auto results = carry_out(transaction, grounds, actions, *stored, decision->change);
        if (!results) return fail(results.error());
        if (options.after == AfterCommit::release) transaction.frees(lease.resource());
        return Committed(*std::move(results), false,
                         next_lease(lease, *decision, requested_at, transaction.now()));
      });
  if (answer && !answer->replayed()) neighbours_.news_of(actions);
  return answer;
}

Result<Committed> Repository::execute(const ExecuteCommand& command,
                                      std::span<const ActionRequest> actions, const Work& work,
                                      Instant deadline) {
  auto answer = writer_.run(
      {.flush = Flush::durable, .has_work = static_cast<bool>(work)}, deadline,
      [&](WriteTransaction& transaction) -> Result<Committed> {
        auto replay = find_replay(transaction, command.resource, actions);
        if (!replay) return fail(replay.error());
        if (*replay) return Committed(**std::move(replay), true);
        const auto token = grant_here(transaction, command, neighbours_);
        if (!token) return fail(token.error());
        const auto stored = transaction.load(command.resource);
        if (!stored) return fail(stored.error());
        const auto decision = rules::decide_commit(stored->state,
                                                   {.resource = command.resource,
                                                    .token = *token,
                                                    .holder = command.holder,
                                                    .instance = command.instance,
                                                    .after = AfterCommit::release,
                                                    .actions = actions.size()},
                                                   transaction.moment());
        if (!decision) return fail(decision.error());
        if (auto ok = writer_.run_work(transaction, *token, work); !ok) return fail(ok.error());
        const Grounds grounds{.resource = command.resource,
                              .token = *token,
                              .fence = rules::fence(stored->state, transaction.moment()),
                              .holder = command.holder};
        auto results = carry_out(transaction, grounds, actions, *stored, decision->change);
        if (!results) return fail(results.error());
        transaction.frees(command.resource);
        return Committed(*std::move(results), false);
      });
  if (answer && !answer->replayed()) neighbours_.news_of(actions);
  return answer;
}

}  // namespace wallock::sqlite
