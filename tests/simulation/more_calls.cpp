// The kinds of calls of a simulated worker: breakers, the outbox, questions.
#include <utility>

#include "call_words.hpp"
#include "world.hpp"

namespace wallock::test {

// Now and then as many in a row as trip a breaker.
void World::report(Worker& worker) {
  const auto* kept = any_lease();
  if (kept == nullptr) return;
  const KeptLease used = *kept;
  const std::uint64_t times = below(3) == 0 ? ModelBreaker::trip_after : 1;
  for (std::uint64_t i = 0; i < times && worker.is_open(); ++i) {
    report_once(worker, used, static_cast<StoreModel::Outcome>(below(4) != 0 ? 1 : below(4)));
  }
}

void World::report_once(Worker& worker, const KeptLease& kept, StoreModel::Outcome outcome) {
  const Call call{.name = "report r" + std::to_string(kept.model.resource),
                  .promise = Promise::durable,
                  .ask =
                      [&](LeaseRepository& store) {
                        return said_effect(store.report(
                            kept.lease, static_cast<DownstreamOutcome>(outcome), deadline()));
                      },
                  .model = [&](StoreModel& model) { return model.report(kept.model, outcome); }};
  static_cast<void>(does(worker, call));
}

// Mostly of a breaker that is open, and at a time when it may be probed.
void World::recover(Worker& worker) {
  int r = any_resource();
  for (int other = 0; other < static_cast<int>(resources); ++other)
    if (!expected_->now().model.is_closed(other) && below(4) != 0) r = other;
  const bool is_open = !expected_->now().model.is_closed(r);
  if (is_open && below(4) != 0) clock_->advance(std::chrono::seconds(11));
  if (below(3) != 0 || probes_.empty()) begin_recovery(worker, r);
  if (probes_.empty() || !worker.is_open() || below(5) == 0) return;
  if (below(5) == 0) clock_->advance(std::chrono::seconds(9));  // longer than any probe lasts
  complete_recovery(worker, KeptProbe(probes_.back()), below(3) != 0);
}

void World::begin_recovery(Worker& worker, int r) {
  const auto ttl = any_ttl();
  const int process = worker.process;
  const rules::BeginRecoveryCommand command{
      .resource = name_of(r), .holder = holder_of(0), .instance = instance_of(process), .ttl = ttl};
  std::optional<Probe> probe;
  const bool answered = does(
      worker,
      {.name = "begin_recovery r" + std::to_string(r),
       .promise = Promise::durable,
       .ask =
           [&](LeaseRepository& store) {
             const auto got = store.begin_recovery(command, deadline());
             if (got) probe = *got;
             return said(got, [](const Probe& given) {
               return "probe " + std::to_string(given.token().value()) + " until " +
                      std::to_string(nanos(given.expires_at()));
             });
           },
       .model = [&](StoreModel& model) { return model.begin_recovery(r, ttl.count(), process); }});
  if (!answered || !probe) return;
  note_granted(probe->token());
  probes_.push_back({r, *probe});
  if (probes_.size() > 3) probes_.erase(probes_.begin());
}

void World::complete_recovery(Worker& worker, const KeptProbe& kept, bool recovered) {
  const KeptProbe used = kept;
  const bool was_open = !expected_->now().model.is_closed(used.resource);
  const bool answered = does(
      worker, {.name = "complete_recovery r" + std::to_string(used.resource),
               .promise = Promise::durable,
               .ask =
                   [&](LeaseRepository& store) {
                     return said_done(store.complete_recovery(
                         used.probe, {.recovered = recovered, .evidence = "looked"}, deadline()));
                   },
               .model =
                   [&](StoreModel& model) {
                     return model.complete_recovery(used.resource, used.probe.token().value(),
                                                    recovered);
                   }});
  if (answered && was_open && expected_->now().model.is_closed(used.resource)) {
    saw(is_calm_ ? "a breaker was closed at last" : "a breaker was closed");
  }
}

void World::force(Worker& worker) {
  const int r = any_resource();
  const bool opens = below(2) == 0;
  static_cast<void>(does(
      worker, {.name = (opens ? "force_open r" : "clear_forced r") + std::to_string(r),
               .promise = Promise::durable,
               .ask =
                   [&](LeaseRepository& store) {
                     return said_done(opens ? store.force_open(name_of(r), "forced", deadline())
                                            : store.clear_forced(name_of(r), deadline()));
                   },
               .model =
                   [&](StoreModel& model) {
                     return opens ? model.force_open(r) : model.clear_forced(r);
                   }}));
}

void World::claim(Worker& worker) {
  const auto limit = static_cast<std::uint32_t>(1 + below(3));
  const auto ttl = any_ttl();
  const ClaimRequest request{.destination = Destination::parse("bank").value(),
                             .limit = limit,
                             .claim = {.holder = holder_of(0), .ttl = ttl}};
  std::vector<Delivery> claimed;
  const bool answered = does(
      worker,
      {.name = "claim",
       .ask =
           [&](LeaseRepository& store) {
             auto got = store.claim(request, deadline());
             if (got) claimed = *got;
             return said(got, [](const auto& given) { return "claims " + words(given); });
           },
       .model = [&](StoreModel& model) { return "claims " + model.claim(limit, ttl.count()); }});
  if (!answered) return;
  for (Delivery& delivery : claimed) {
    note_granted(delivery.claim_token());
    if (delivery.attempt() > 1) saw("a delivery was claimed again");
    deliveries_.push_back(std::move(delivery));
    if (deliveries_.size() > 6) deliveries_.erase(deliveries_.begin());
  }
}

void World::settle(Worker& worker) {
  if (deliveries_.empty()) return claim(worker);
  const bool both = deliveries_.size() > 1 && below(3) == 0;
  const auto first = below(deliveries_.size() - (both ? 1 : 0));
  std::vector<SettleRequest> requests;
  std::vector<std::pair<StoreModel::Settle, Nanos>> outcomes;
  for (std::size_t i = first; i < first + (both ? 2 : 1); ++i) {
    const Delivery& delivery = deliveries_[i];
    const auto dice = below(10);
    const Duration wait = std::chrono::seconds(below(3));
    requests.push_back({.position = delivery.position(),
                        .destination = delivery.destination(),
                        .settle = {.claim_token = delivery.claim_token(),
                                   .outcome = dice < 5   ? DeliveryOutcome::delivered()
                                              : dice < 9 ? DeliveryOutcome::retry(wait)
                                                         : DeliveryOutcome::reject()}});
    outcomes.emplace_back(dice < 5   ? StoreModel::Settle::delivered
                          : dice < 9 ? StoreModel::Settle::retry
                                     : StoreModel::Settle::reject,
                          wait.count());
  }
  static_cast<void>(does(
      worker, {.name = "settle",
               .promise = Promise::durable,
               .ask =
                   [&](LeaseRepository& store) {
                     return said(store.settle_all(requests, deadline()), [](const auto& answers) {
                       std::string words;
                       for (const auto& answer : answers)
                         words += said_effect(answer).words + " ";
                       return words;
                     });
                   },
               .model =
                   [&](StoreModel& model) {
                     std::string words;
                     for (std::size_t i = 0; i < requests.size(); ++i) {
                       words += model.settle(requests[i].position,
                                             requests[i].settle.claim_token.value(),
                                             outcomes[i].first, outcomes[i].second) +
                                " ";
                     }
                     return words;
                   }}));
}

void World::read(Worker& worker) {
  const int r = any_resource();
  const auto kind = below(4);
  const auto ask = [&](LeaseRepository& store) -> Said {
    switch (kind) {
      case 0:
        return said(store.breaker(name_of(r)),
                    [](const BreakerStatus& shown) { return words(shown); });
      case 1:
        return said(store.leases(100), [](const std::vector<LeaseInfo>& listed) {
          std::string words;
          for (const LeaseInfo& info : listed) {
            words += info.lease.resource().str().substr(1) + ":" +
                     std::to_string(info.lease.token().value()) + " ";
          }
          return words;
        });
      case 2:
        return said(store.audit({.from = 0, .limit = 10'000}),
                    [](const std::vector<AuditRecord>& records) {
                      return std::to_string(records.size()) + " records";
                    });
      default:
        return said(store.root(), [&](const TreeHead& head) {
          head_ = head;
          return std::to_string(head.size) + " records";
        });
    }
  };
  static_cast<void>(does(worker, {.name = "read " + std::to_string(kind),
                                  .promise = Promise::reads,
                                  .ask = ask,
                                  .model = [&](StoreModel& model) {
                                    if (kind == 0) return model.breaker(r);
                                    if (kind == 1) return model.leases();
                                    return std::to_string(model.size) + " records";
                                  }}));
}

}  // namespace wallock::test
