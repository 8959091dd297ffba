// The repository's outbox operations.
#include "sqlite/repository.hpp"

#include <algorithm>

namespace wallock::sqlite {
namespace {

using rules::DeliveryDecision;

// A claim goes on past so many damaged deliveries, and one more round: a transaction has an end.
constexpr std::uint32_t most_damaged = 1000;
// And past so many on pages that SQLite cannot read, each of which takes a transaction to find.
constexpr std::size_t most_unreadable = 100;

// Appends the record and moves the row the way that the rule decided. The record comes first: the
// schema looks for the claim that a sealing relies on.
Status carry_out(WriteTransaction& transaction, const DeliveryDecision& decision) {
  OutboxStore& outbox = transaction.session().outbox;
  if (auto position = transaction.append(decision.entry); !position) {
    return fail(position.error());
  }
  using enum DeliveryDecision::Way;
  if (decision.way == keep) return outbox.update(transaction.db(), decision.next);
  if (decision.way == sealed) return outbox.remove(transaction.db(), decision.next);
  return outbox.bury(transaction.db(), decision.next, transaction.wall());
}

Settled settled_as(DeliveryDecision::Way way) {
  using enum DeliveryDecision::Way;
  return way == keep ? Settled::queued : way == sealed ? Settled::sealed : Settled::dead;
}

// What became of one row of a claim: shown, or taken out because its attempts or age ran out or it
// is damaged.
struct ClaimedRow {
  std::optional<Delivery> shown = {};
  bool is_damaged = false;
};

Result<ClaimedRow> take_damaged(WriteTransaction& transaction, const ClaimableRow& found,
                                const rules::ClaimCommand& command, FencingToken token) {
  const auto decision = rules::decide_damaged(found.row, command, token);
  if (!decision) return fail(decision.error());
  if (auto ok = carry_out(transaction, *decision); !ok) return fail(ok.error());
  return ClaimedRow{.is_damaged = true};
}

using Positions = std::vector<std::uint64_t>;

// Adds the row to `unreadable` if SQLite finds a page of its content damaged.
Result<std::optional<OutboxStore::Content>> read_content(WriteTransaction& transaction,
                                                         std::uint64_t position,
                                                         Positions& unreadable) {
  if (std::ranges::find(unreadable, position) != unreadable.end()) {
    return std::optional<OutboxStore::Content>();
  }
  auto content = transaction.session().outbox.content(transaction.db(), position);
  if (!content && (content.error().facts().native & 0xff) == SQLITE_CORRUPT) {
    unreadable.push_back(position);
  }
  return content;
}

// The content is read before anything is written of the row: what cannot be shown is not claimed.
Result<ClaimedRow> claim_row(WriteTransaction& transaction, const ClaimableRow& found,
                             const rules::ClaimCommand& command, const DeliveryPolicy& policy,
                             Positions& unreadable) {
  const auto moment = transaction.moment();
  const auto token = moment.token();
  if (!token) return fail(invalid(Errc::invalid_token, "claim_token"));
  const auto decision = rules::decide_claim(found.row, command, policy, *token, moment);
  if (!decision && decision.error().code() == Errc::invariant_violated) {
    return take_damaged(transaction, found, command, *token);
  }
  if (!decision) return fail(decision.error());
  if (decision->way != DeliveryDecision::Way::keep) {
    if (auto ok = carry_out(transaction, *decision); !ok) return fail(ok.error());
    return ClaimedRow();
  }
  auto content = read_content(transaction, found.row.position, unreadable);
  if (!content) return fail(content.error());
  if (!*content) return take_damaged(transaction, found, command, *token);
  if (auto ok = carry_out(transaction, *decision); !ok) return fail(ok.error());
  return ClaimedRow{.shown = Delivery({.action_id = std::move((*content)->action_id),
                                       .position = found.row.position,
                                       .resource = found.row.resource,
                                       .destination = found.destination,
                                       .payload = std::move((*content)->payload),
                                       .attempt = decision->next.attempt,
                                       .claim_token = decision->next.claim_token,
                                       .claim_expires_at = decision->next.due})};
}

// Adds what may be claimed to `deliveries`, up to request.limit of them; answers how many damaged
// rows were taken out, in whose place others may be looked for.
Result<std::uint32_t> claim_some(WriteTransaction& transaction, const ClaimRequest& request,
                                 const DeliveryPolicy& policy, Positions& unreadable,
                                 std::vector<Delivery>& deliveries) {
  const auto left = request.limit - static_cast<std::uint32_t>(deliveries.size());
  const auto rows = transaction.session().outbox.claimable(transaction.db(), request.destination,
                                                           left, transaction.now());
  if (!rows) return fail(rows.error());
  std::uint32_t damaged = 0;
  for (const ClaimableRow& row : *rows) {
    auto claimed = claim_row(transaction, row, request.claim, policy, unreadable);
    if (!claimed) return fail(claimed.error());
    if (claimed->shown) deliveries.push_back(*std::move(claimed->shown));
    if (claimed->is_damaged) ++damaged;
  }
  return damaged;
}

// A refusal by the rules, or a row that cannot be read, changed nothing: it is the answer to this
// one. Any other error is that of the transaction.
Result<Result<Settled>> settle_one(WriteTransaction& transaction, const SettleRequest& request,
                                   const DeliveryPolicy& policy, std::uint64_t random) {
  const auto row = transaction.session().outbox.find(transaction.db(), request.position);
  if (!row && row.error().code() == Errc::store_corrupt) return Result<Settled>(fail(row.error()));
  if (!row) return fail(row.error());
  const auto decision =
      rules::decide_settle(*row, request.settle, policy, random, transaction.moment());
  if (!decision) return Result<Settled>(fail(decision.error()));
  if (auto ok = carry_out(transaction, *decision); !ok) return fail(ok.error());
  return Result<Settled>(settled_as(decision->way));
}

Result<std::vector<Delivery>> claim_all(WriteTransaction& transaction, const ClaimRequest& request,
                                        const DeliveryPolicy& policy, Positions& unreadable) {
  std::vector<Delivery> deliveries;
  for (std::uint32_t damaged = 0; damaged < most_damaged;) {
    const auto more = claim_some(transaction, request, policy, unreadable, deliveries);
    if (!more) return fail(more.error());
    damaged += *more;
    if (*more == 0 || deliveries.size() == request.limit) break;
  }
  return deliveries;
}

}  // namespace

// A transaction in which SQLite found a damaged page writes nothing more: the claim begins again,
// knowing the row.
Result<std::vector<Delivery>> Repository::claim(const ClaimRequest& request, Instant deadline) {
  Positions unreadable;
  for (;;) {
    const std::size_t known = unreadable.size();
    auto deliveries = writer_.run({.flush = Flush::rides}, deadline, [&](auto& transaction) {
      return claim_all(transaction, request, delivery_policy_, unreadable);
    });
    if (deliveries || unreadable.size() == known || known == most_unreadable) return deliveries;
  }
}

Result<std::vector<Result<Settled>>> Repository::settle_all(std::span<const SettleRequest> requests,
                                                            Instant deadline) {
  auto settled =
      writer_.run({.flush = Flush::durable}, deadline,
                  [&](WriteTransaction& transaction) -> Result<std::vector<Result<Settled>>> {
                    std::vector<Result<Settled>> answers;
                    answers.reserve(requests.size());
                    for (const SettleRequest& request : requests) {
                      auto answer = settle_one(transaction, request, delivery_policy_, random_());
                      if (!answer) return fail(answer.error());
                      answers.push_back(*std::move(answer));
                    }
                    return answers;
                  });
  if (settled) neighbours_.news_of(requests, *settled);
  return settled;
}

}  // namespace wallock::sqlite
