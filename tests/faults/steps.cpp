#include "steps.hpp"

#include <utility>

#include "allocations.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {
namespace {

using namespace std::chrono_literals;

// A scenario that is not told as it goes: a mistake in the test, or a wrong answer.
tl::unexpected<Error> wrong() { return fail(Errc::invariant_violated); }

Status open_into(Stage& stage, std::optional<Coordinator>& store, const Options& options) {
  if (store) return {};
  const std::string path = stage.path();
  Options given = options;
  auto opened = within([&] { return Coordinator::open(path, std::move(given)); });
  if (!opened) return fail(opened.error());
  store.emplace(*std::move(opened));
  return {};
}

AcquireOptions acquire_options(const std::string& holder, const std::string& id) {
  AcquireOptions options;
  options.ttl = 10s;
  options.holder = Given<HolderId>(holder);
  if (!id.empty()) options.action_id = Given<ActionId>(id);
  return options;
}

Batch batch_of(const Names& ids, const CommitSpec& spec) {
  std::vector<ActionRequest> actions;
  for (const std::string& id : ids) {
    ActionFields fields{.id = id, .payload = std::string(spec.payload, 'p')};
    if (spec.sent) fields.destination = Given<Destination>("bank");
    actions.push_back(ActionRequest::create(std::move(fields)).value());
  }
  return actions;
}

Work work_of(const Names& ids) {
  return [ids](Transaction& transaction) {
    SQLite::Database& db = database(transaction);
    db.exec("CREATE TABLE IF NOT EXISTS app (action TEXT PRIMARY KEY, token INTEGER)");
    for (const std::string& id : ids) {
      SQLite::Statement insert(db, "INSERT INTO app VALUES (?, ?)");
      insert.bind(1, id);
      insert.bind(2, static_cast<std::int64_t>(transaction.token().value()));
      insert.exec();
    }
  };
}

// Keeps the receipts; a repetition must have the ones that were answered before.
Status keep_receipts(Stage& stage, const std::string& resource, const Names& ids,
                     const CommitSpec& spec, const Result<Committed>& done) {
  if (!done) return fail(done.error());
  std::string key = ids.front();
  const auto before = stage.receipts.find(key);
  if (spec.repeats && (before == stage.receipts.end() || !done->replayed() ||
                       before->second.results() != done->results())) {
    return wrong();
  }
  stage.receipts.insert_or_assign(std::move(key), *done);
  if (done->lease()) {
    stage.note(done->lease()->token());
    stage.leases.insert_or_assign(resource, *done->lease());
  }
  return {};
}

}  // namespace

Step opened() {
  return {"open", true, [](Stage& stage) { return open_into(stage, stage.store, stage.options); },
          true};
}

Step closed() {
  return {"close", false, [](Stage& stage) -> Status {
            within([&] {
              stage.store.reset();
              stage.other.reset();
              return 0;
            });
            return {};
          }};
}

Step restarted(std::string boot_id) {
  return {"restart", false, [boot_id](Stage& stage) -> Status {
            stage.clock->reboot(boot_id);
            return {};
          }};
}

Step opened_restored() {
  return {"open restored", true,
          [](Stage& stage) {
            Options options = stage.options;
            options.adopt_restored = true;
            return open_into(stage, stage.store, options);
          },
          true};
}

Step opened_twice() {
  return {"open twice", true,
          [](Stage& stage) { return open_into(stage, stage.other, stage.options); }, true};
}

Step swapped() {
  return {"swap", false, [](Stage& stage) -> Status {
            std::swap(stage.store, stage.other);
            return {};
          }};
}

Step passed(Duration time) {
  return {"pass", false, [time](Stage& stage) -> Status {
            stage.clock->advance(time);
            return {};
          }};
}

Step acquired(std::string resource, std::string holder, std::string id) {
  return {"acquire " + resource, false, [=](Stage& stage) -> Status {
            AcquireOptions options = acquire_options(holder, id);
            Given<ResourceName> name(resource);
            auto lease =
                within([&] { return stage.store->acquire(std::move(name), std::move(options)); });
            if (!lease) return fail(lease.error());
            stage.note(lease->token());
            stage.leases.insert_or_assign(resource, *std::move(lease));
            return {};
          }};
}

Step acquired_all(Names resources) {
  return {"acquire all", false, [=](Stage& stage) -> Status {
            AcquireOptions options = acquire_options("ann", "");
            std::vector<Given<ResourceName>> names(resources.begin(), resources.end());
            auto leases = within(
                [&] { return stage.store->acquire_all(std::move(names), std::move(options)); });
            if (!leases) return fail(leases.error());
            for (Lease& lease : *leases) {
              stage.note(lease.token());
              stage.leases.insert_or_assign(lease.resource().str(), std::move(lease));
            }
            return {};
          }};
}

Step renewed(std::string resource) {
  return {"renew " + resource, false, [=](Stage& stage) -> Status {
            auto lease = within([&] { return stage.store->renew(stage.leases.at(resource), 20s); });
            if (!lease) return fail(lease.error());
            stage.leases.insert_or_assign(resource, *std::move(lease));
            return {};
          }};
}

Step released(std::string resource) {
  return {"release " + resource, false, [=](Stage& stage) -> Status {
            const auto effect =
                within([&] { return stage.store->release(stage.leases.at(resource)); });
            if (!effect) return fail(effect.error());
            return {};
          }};
}

Step revoked(std::string resource) {
  return {"revoke " + resource, true, [=](Stage& stage) {
            Given<ResourceName> name(resource);
            std::string reason("by hand");
            const FencingToken token = stage.leases.at(resource).token();
            return within(
                [&] { return stage.store->revoke(std::move(name), token, std::move(reason)); });
          }};
}

Step committed(std::string resource, Names ids, CommitSpec spec) {
  return {"commit " + resource + " " + ids.front(), true, [=](Stage& stage) {
            const Lease lease = stage.leases.at(resource);
            const Batch batch = batch_of(ids, spec);
            const Work work = work_of(ids);
            const auto done = within(
                [&] { return stage.store->commit(lease, batch, work, {.after = spec.after}); });
            return keep_receipts(stage, resource, ids, spec, done);
          }};
}

Step executed(std::string resource, Names ids, CommitSpec spec) {
  return {"execute " + resource + " " + ids.front(), true, [=](Stage& stage) {
            const Batch batch = batch_of(ids, spec);
            const Work work = work_of(ids);
            Given<ResourceName> name(resource);
            ExecuteOptions options{.holder = Given<HolderId>("exe")};
            const auto done = within([&] {
              return stage.store->execute(std::move(name), batch, work, std::move(options));
            });
            return keep_receipts(stage, resource, ids, spec, done);
          }};
}

Step reported(std::string resource, DownstreamOutcome outcome) {
  return {"report " + resource, true, [=](Stage& stage) -> Status {
            const auto effect =
                within([&] { return stage.store->report(stage.leases.at(resource), outcome); });
            if (!effect) return fail(effect.error());
            return {};
          }};
}

Step probed(std::string resource) {
  return {"probe " + resource, true, [=](Stage& stage) -> Status {
            Given<ResourceName> name(resource);
            RecoveryOptions options{.ttl = 1s, .holder = Given<HolderId>("doc")};
            auto probe = within(
                [&] { return stage.store->begin_recovery(std::move(name), std::move(options)); });
            if (!probe) return fail(probe.error());
            stage.note(probe->token());
            stage.probes.insert_or_assign(resource, *std::move(probe));
            return {};
          }};
}

Step recovered(std::string resource, bool is_well) {
  return {"recover " + resource, true, [=](Stage& stage) {
            const RecoveryVerdict verdict{.recovered = is_well, .evidence = "looked"};
            return within(
                [&] { return stage.store->complete_recovery(stage.probes.at(resource), verdict); });
          }};
}

Step forced(std::string resource) {
  return {
      "force " + resource, true, [=](Stage& stage) {
        Given<ResourceName> name(resource);
        std::string reason("by hand");
        return within([&] { return stage.store->force_open(std::move(name), std::move(reason)); });
      }};
}

Step unforced(std::string resource) {
  return {"unforce " + resource, true, [=](Stage& stage) {
            Given<ResourceName> name(resource);
            return within([&] { return stage.store->clear_forced(std::move(name)); });
          }};
}

Step claimed(std::uint32_t limit, std::size_t expected) {
  return {
      "claim", false, [=](Stage& stage) -> Status {
        ClaimOptions options{
            .destination = "bank", .limit = limit, .ttl = 5s, .holder = Given<HolderId>("postman")};
        auto found = within([&] { return stage.store->claim(std::move(options)); });
        if (!found) return fail(found.error());
        if (found->size() != expected) return wrong();
        for (const Delivery& delivery : *found)
          stage.note(delivery.claim_token());
        stage.deliveries = *std::move(found);
        return {};
      }};
}

Step settled(DeliveryOutcome outcome) {
  return {"settle", true, [=](Stage& stage) -> Status {
            if (stage.deliveries.empty()) return wrong();
            const auto done =
                within([&] { return stage.store->settle(stage.deliveries.front(), outcome); });
            if (!done) return fail(done.error());
            stage.deliveries.erase(stage.deliveries.begin());
            return {};
          }};
}

Step looked(std::string resource) {
  return {
      "look", false, [=](Stage& stage) -> Status {
        Coordinator& store = *stage.store;
        Given<ResourceName> name(resource);
        const auto failure = [](const auto& answer) -> Status {
          if (!answer) return fail(answer.error());
          return {};
        };
        const auto head = within([&] { return store.root(); });
        if (!head) return fail(head.error());
        for (const Status& done : {failure(within([&] { return store.breaker(std::move(name)); })),
                                   failure(within([&] { return store.leases(10); })),
                                   failure(within([&] { return store.audit({}); })),
                                   failure(within([&] { return store.health(); }))}) {
          if (!done) return done;
        }
        const auto report = within([&] { return store.verify(*head); });
        if (!report) return fail(report.error());
        if (report->verdict != VerifyVerdict::anchored) return wrong();
        return {};
      }};
}

Step refused(Step step, Errc reason) {
  return {step.name + " refused", false, [run = step.run, reason](Stage& stage) -> Status {
            const Status answer = run(stage);
            if (answer) return wrong();
            if (answer.error().code() == reason) return {};
            return answer;
          }};
}

}  // namespace wallock::test
