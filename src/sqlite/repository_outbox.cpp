// The repository's outbox operations.
#include "sqlite/repository.hpp"

namespace wallock::sqlite {
namespace {

using rules::DeliveryDecision;

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

// One row of a claim: claimed and shown, or taken out because its attempts or age ran out (empty).
Result<std::optional<Delivery>> claim_row(WriteTransaction& transaction, const ClaimableRow& found,
                                          const rules::ClaimCommand& command,
                                          const DeliveryPolicy& policy) {
  const auto moment = transaction.moment();
  const auto token = moment.token();
  if (!token) return fail(invalid(Errc::invalid_token, "claim_token"));
  const auto decision = rules::decide_claim(found.row, command, policy, *token, moment);
  if (!decision) return fail(decision.error());
  if (auto ok = carry_out(transaction, *decision); !ok) return fail(ok.error());
  if (decision->way != DeliveryDecision::Way::keep) return std::optional<Delivery>();
  auto content = transaction.session().outbox.content(transaction.db(), found.row.position);
  if (!content) return fail(content.error());
  return std::optional(Delivery({.action_id = std::move(content->action_id),
                                 .position = found.row.position,
                                 .resource = found.row.resource,
                                 .destination = found.destination,
                                 .payload = std::move(content->payload),
                                 .attempt = decision->next.attempt,
                                 .claim_token = decision->next.claim_token,
                                 .claim_expires_at = decision->next.claim_expires_at}));
}

// A refusal by the rules, which changed nothing, is the answer to this one. Any other error is that
// of the transaction.
Result<Result<Settled>> settle_one(WriteTransaction& transaction, const SettleRequest& request,
                                   const DeliveryPolicy& policy, std::uint64_t random) {
  const auto row = transaction.session().outbox.find(transaction.db(), request.position);
  if (!row) return fail(row.error());
  const auto decision =
      rules::decide_settle(*row, request.settle, policy, random, transaction.moment());
  if (!decision) return Result<Settled>(fail(decision.error()));
  if (auto ok = carry_out(transaction, *decision); !ok) return fail(ok.error());
  return Result<Settled>(settled_as(decision->way));
}

}  // namespace

Result<std::vector<Delivery>> Repository::claim(const ClaimRequest& request, Instant deadline) {
  return writer_.run({.flush = Flush::rides}, deadline,
                     [&](WriteTransaction& transaction) -> Result<std::vector<Delivery>> {
                       const auto rows = transaction.session().outbox.claimable(
                           transaction.db(), request.destination, request.limit, transaction.now());
                       if (!rows) return fail(rows.error());
                       std::vector<Delivery> deliveries;
                       for (const ClaimableRow& row : *rows) {
                         auto delivery =
                             claim_row(transaction, row, request.claim, delivery_policy_);
                         if (!delivery) return fail(delivery.error());
                         if (*delivery) deliveries.push_back(**std::move(delivery));
                       }
                       return deliveries;
                     });
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
