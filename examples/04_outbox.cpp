// An action with a destination is stored in its commit and delivered later, until it is acked.
#include <memory>
#include <vector>

#include "example.hpp"
#include "wallock/manual_clock.hpp"

using example::must;
using example::show;
using std::chrono::seconds;
using wallock::Coordinator;
using wallock::Delivery;
using wallock::DeliveryOutcome;
using wallock::Settled;

namespace {

std::vector<Delivery> due(Coordinator& coordinator) {
  return must(coordinator.claim({.destination = "mail", .limit = 10}), "claim");
}

}  // namespace

int main() {
  const auto clock = std::make_shared<wallock::ManualClock>();
  auto coordinator = must(Coordinator::open("outbox.db", {.clock = clock}), "open");

  const auto lease = must(coordinator.acquire("order/17"), "acquire");
  const auto done = must(
      coordinator.commit(
          lease,
          {{.id = "order-17-paid", .destination = "mail", .payload = "Thank you for your order."}},
          {}, {.after = wallock::AfterCommit::release}),
      "commit");
  show(done.results().front().state() == wallock::ActionState::validated,
       "the commit stored the mail with the order: VALIDATED");

  const auto first = due(coordinator);
  show(first.size() == 1 && first.front().payload() == "Thank you for your order.",
       "a relay claims it: " + to_string(first.front()));
  show(must(coordinator.settle(first.front(), DeliveryOutcome::retry(seconds(60))), "settle") ==
           Settled::queued,
       "the mail server says: not before a minute. It is queued again");
  show(due(coordinator).empty(), "until then nobody gets it");

  clock->advance(seconds(60));
  const auto second = due(coordinator);
  show(second.size() == 1 && second.front().action_id() == first.front().action_id() &&
           second.front().attempt() == 2,
       "a minute later it is due again, under the same action id: " + to_string(second.front()));
  show(example::refused_as(coordinator.settle(first.front(), DeliveryOutcome::delivered()),
                           wallock::Errc::claim_lost),
       "an ack of the first claim comes too late: claim_lost");
  show(must(coordinator.settle(second.front(), DeliveryOutcome::delivered()), "settle") ==
           Settled::sealed,
       "the second claim's ack seals it");
  show(must(coordinator.health(), "health").deliveries == 0, "the outbox is empty");
}
