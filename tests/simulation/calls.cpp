// The kinds of calls of a simulated worker: leases and commits.
#include <utility>

#include "call_words.hpp"
#include "wallock/sqlite.hpp"
#include "world.hpp"

namespace wallock::test {
Duration World::any_ttl() {
  return std::chrono::seconds(1) * static_cast<std::int64_t>(1 + below(8));
}

void World::keep(const Lease& lease, int resource, int holder, int instance) {
  const ModelLease model{resource, lease.token().value(),     holder,
                         instance, nanos(lease.granted_at()), nanos(lease.expires_at())};
  leases_.push_back({lease, model});
  if (leases_.size() > 12) leases_.erase(leases_.begin());
}

// Mostly a recent one.
const KeptLease* World::any_lease() {
  if (leases_.empty()) return nullptr;
  const auto back =
      below(3) == 0 ? below(leases_.size()) : below(std::min<std::uint64_t>(3, leases_.size()));
  return &leases_[leases_.size() - 1 - back];
}

void World::any_call(Worker& worker) {
  using Kind = void (World::*)(Worker&);
  struct Choice {
    std::uint64_t until;
    Kind kind;
  };
  constexpr Choice choices[] = {
      {180, &World::acquire},   {200, &World::acquire_all}, {250, &World::renew},
      {270, &World::renew_all}, {450, &World::commit},      {510, &World::repeat},
      {620, &World::execute},   {670, &World::release},     {690, &World::revoke},
      {770, &World::report},    {820, &World::recover},     {835, &World::force},
      {890, &World::claim},     {960, &World::settle},      {1000, &World::read},
  };
  const auto dice = below(1000);
  for (const Choice& choice : choices)
    if (dice < choice.until) return (this->*choice.kind)(worker);
}

void World::acquire(Worker& worker) {
  const int r = any_resource();
  const int holder = static_cast<int>(below(3));
  const auto ttl = any_ttl();
  std::string request;
  if (below(4) == 0) {
    request = below(2) == 0 && !requests_.empty() ? requests_[below(requests_.size())]
                                                  : "q" + std::to_string(next_id_++);
    requests_.push_back(request);
  }
  rules::AcquireCommand command{.resource = name_of(r),
                                .holder = holder_of(holder),
                                .instance = instance_of(worker.process),
                                .ttl = ttl};
  if (!request.empty()) command.request = ActionId::parse(request).value();
  const bool was_left_behind = expected_->now().model.is_left_behind(r);
  std::optional<Lease> lease;
  const int process = worker.process;
  const bool answered =
      does(worker, {.name = "acquire r" + std::to_string(r) + " " + request,
                    .ask =
                        [&](LeaseRepository& store) {
                          const auto got = store.acquire(command, "", deadline());
                          if (got) lease = *got;
                          return said(got, [](const Lease& given) { return words_of(given); });
                        },
                    .model =
                        [&](StoreModel& model) {
                          return plain(model.acquire(r, holder, process, ttl.count(), request));
                        }});
  if (!answered || !lease) return;
  if (was_left_behind) saw("took over from the dead");
  if (lease->token() > highest_ || request.empty()) note_granted(lease->token());
  keep(*lease, r, holder, process);
}

void World::acquire_all(Worker& worker) {
  const int first = static_cast<int>(below(resources - 1));
  const int holder = static_cast<int>(below(3));
  const auto ttl = any_ttl();
  std::vector<rules::AcquireCommand> commands;
  for (int r = first; r < first + 2; ++r) {
    commands.push_back({.resource = name_of(r),
                        .holder = holder_of(holder),
                        .instance = instance_of(worker.process),
                        .ttl = ttl});
  }
  std::vector<Lease> got;
  const int process = worker.process;
  const bool answered =
      does(worker, {.name = "acquire_all r" + std::to_string(first),
                    .ask =
                        [&](LeaseRepository& store) {
                          auto given = store.acquire_all(commands, "", deadline());
                          if (given) got = *given;
                          return said(given, [](const std::vector<Lease>& leases) {
                            std::string words;
                            for (const Lease& lease : leases)
                              words += words_of(lease) + " ";
                            return words;
                          });
                        },
                    .model = [&](StoreModel& model) -> std::string {
                      StoreModel after = model;
                      std::string words;
                      for (int r = first; r < first + 2; ++r) {
                        const auto one = after.acquire(r, holder, process, ttl.count(), "");
                        if (!one.starts_with("lease ")) return one;
                        words += plain(one) + " ";
                      }
                      model = std::move(after);
                      return words;
                    }});
  if (!answered) return;
  for (std::size_t i = 0; i < got.size(); ++i) {
    note_granted(got[i].token());
    keep(got[i], first + static_cast<int>(i), holder, process);
  }
}

void World::renew(Worker& worker) {
  const auto* kept = any_lease();
  if (kept == nullptr) return;
  const KeptLease used = *kept;
  const auto ttl = any_ttl();
  std::optional<Lease> lease;
  const bool answered = does(
      worker,
      {.name = "renew r" + std::to_string(used.model.resource),
       .ask =
           [&](LeaseRepository& store) {
             const auto got = store.renew(used.lease, ttl, deadline());
             if (got) lease = *got;
             return said(got, [](const Lease& given) { return words_of(given); });
           },
       .model = [&](StoreModel& model) { return plain(model.renew(used.model, ttl.count())); }});
  if (answered && lease) {
    keep(*lease, used.model.resource, used.model.holder, used.model.instance);
  }
}

// Two that share their record.
void World::renew_all(Worker& worker) {
  if (leases_.size() < 2) return;
  const auto first = below(leases_.size() - 1);
  const KeptLease used[] = {leases_[first], leases_[first + 1]};
  if (used[0].model.resource == used[1].model.resource) return;
  const auto ttl = any_ttl();
  const RenewRequest requests[] = {{used[0].lease, ttl}, {used[1].lease, ttl}};
  static_cast<void>(does(
      worker,
      {.name = "renew_all",
       .ask =
           [&](LeaseRepository& store) {
             return said(store.renew_all(requests, deadline()), [](const auto& answers) {
               std::string words;
               for (const auto& answer : answers) {
                 words +=
                     said(answer, [](const Lease& given) { return words_of(given); }).words + " ";
               }
               return words;
             });
           },
       .model =
           [&](StoreModel& model) {
             const auto size = model.size;
             std::string words;
             for (const KeptLease& each : used)
               words += plain(model.renew(each.model, ttl.count())) + " ";
             model.size = std::min(model.size, size + 1);
             return words;
           }}));
}

// 1 or 2 actions, now and then with ids used before. A payload that begins with w comes with work.
StoreModel::Batch World::any_batch() {
  if (below(8) == 0 && !batches_.empty()) {
    auto batch = batches_[below(batches_.size())];
    if (below(4) == 0) batch.front().payload += "!";
    if (below(4) == 0) batch.push_back({"a" + std::to_string(next_id_++), "p", false});
    return batch;
  }
  const char* const kind = below(2) == 0 ? "w" : "p";
  StoreModel::Batch batch(1 + below(below(4) == 0 ? 2 : 1));
  for (auto& action : batch) {
    action = {"a" + std::to_string(next_id_++), kind + std::to_string(below(5)), below(2) == 0};
  }
  batches_.push_back(batch);
  if (batches_.size() > 16) batches_.erase(batches_.begin());
  return batch;
}

// Writes a row for each action; now and then a lot more, or for longer than any lease lasts, or in
// vain.
Work World::work_of(const StoreModel::Batch& batch, bool& fails) {
  fails = false;
  if (batch.front().payload.front() != 'w') return {};
  fails = below(16) == 0;
  const bool is_long = below(6) == 0;
  const bool is_large = below(40) == 0;
  return Work([this, batch, fails, is_long, is_large](Transaction& transaction) -> Status {
    work_began_ = now();
    if (is_long) {
      saw("a lease ran out in its work");
      clock_->advance(std::chrono::seconds(9));
    }
    SQLite::Database& db = database(transaction);
    db.exec("CREATE TABLE IF NOT EXISTS app (action TEXT PRIMARY KEY, token INTEGER)");
    for (const StoreModel::Action& action : batch) {
      SQLite::Statement insert(db, "INSERT INTO app VALUES (?, ?)");
      insert.bind(1, action.id);
      insert.bind(2, static_cast<std::int64_t>(transaction.token().value()));
      insert.exec();
    }
    if (is_large) {
      db.exec("CREATE TABLE IF NOT EXISTS large (n INTEGER PRIMARY KEY, bytes BLOB)");
      db.exec("INSERT OR REPLACE INTO large VALUES (1, randomblob(2100000))");
    }
    if (fails) return fail(work_error(7));
    return {};
  });
}

void World::commit(Worker& worker) {
  const auto* kept = any_lease();
  if (kept == nullptr) return acquire(worker);
  const KeptLease used = *kept;
  commit_batch(worker, used, any_batch(), static_cast<StoreModel::After>(below(3)));
}

// What was not answered is asked again: it had happened, or happens now.
void World::repeat(Worker& worker) {
  if (!unanswered_lease_) return commit(worker);
  const KeptLease used = *unanswered_lease_;
  saw("an open commit was repeated");
  commit_batch(worker, used, batches_.back(), StoreModel::After::nothing);
}

void World::commit_batch(Worker& worker, const KeptLease& used, const StoreModel::Batch& batch,
                         StoreModel::After after) {
  bool fails = false;
  const Work work = work_of(batch, fails);
  const auto actions = requests_of(batch);
  std::optional<Lease> next;
  const bool answered = does(
      worker, {.name = "commit r" + std::to_string(used.model.resource) + " " + batch.front().id,
               .promise = Promise::durable,
               .ask =
                   [&](LeaseRepository& store) {
                     const CommitOptions options{.after = static_cast<AfterCommit>(after)};
                     const auto done = store.commit(used.lease, actions, work, options, deadline());
                     if (done && done->lease()) next = *done->lease();
                     return said(done, [](const Committed& given) { return words_of(given); });
                   },
               .model = [&](StoreModel& model) -> std::string {
                 StoreModel done = model;
                 auto words = plain(done.commit(used.model, batch, after));
                 if (fails && words.starts_with("new")) return "work_failed";
                 model = std::move(done);
                 return words;
               }});
  unanswered_lease_.reset();
  if (!answered) {
    // The newest batch is the one to repeat. Leases do not outlive a power cut.
    if (!leases_.empty()) unanswered_lease_ = used;
    if (unanswered_lease_) batches_.push_back(batch);
    return;
  }
  if (!next) return;
  if (next->token() > highest_) note_granted(next->token());
  keep(*next, used.model.resource, used.model.holder, used.model.instance);
}

void World::execute(Worker& worker) {
  const int r = any_resource();
  const int holder = static_cast<int>(below(3));
  const auto batch = any_batch();
  bool fails = false;
  const Work work = work_of(batch, fails);
  const auto actions = requests_of(batch);
  const int process = worker.process;
  const ExecuteCommand command{
      .resource = name_of(r), .holder = holder_of(holder), .instance = instance_of(process)};
  static_cast<void>(does(worker, {.name = "execute r" + std::to_string(r) + " " + batch.front().id,
                                  .promise = Promise::durable,
                                  .ask =
                                      [&](LeaseRepository& store) {
                                        return said(
                                            store.execute(command, actions, work, deadline()),
                                            [](const Committed& given) { return words_of(given); });
                                      },
                                  .model = [&](StoreModel& model) -> std::string {
                                    StoreModel done = model;
                                    auto words = done.execute(r, holder, process, batch);
                                    if (fails && words.starts_with("new")) return "work_failed";
                                    model = std::move(done);
                                    return words;
                                  }}));
}

void World::release(Worker& worker) {
  const auto* kept = any_lease();
  if (kept == nullptr) return;
  const KeptLease used = *kept;
  static_cast<void>(
      does(worker, {.name = "release r" + std::to_string(used.model.resource),
                    .ask =
                        [&](LeaseRepository& store) {
                          return said_effect(store.release(used.lease, deadline()));
                        },
                    .model = [&](StoreModel& model) { return model.release(used.model); }}));
}

void World::revoke(Worker& worker) {
  const auto* kept = any_lease();
  if (kept == nullptr) return;
  const KeptLease used = *kept;
  static_cast<void>(does(worker, {.name = "revoke r" + std::to_string(used.model.resource),
                                  .promise = Promise::durable,
                                  .ask =
                                      [&](LeaseRepository& store) {
                                        return said_done(store.revoke(used.lease.resource(),
                                                                      used.lease.token(), "revoked",
                                                                      deadline()));
                                      },
                                  .model =
                                      [&](StoreModel& model) {
                                        return model.revoke(used.model.resource, used.model.token);
                                      }}));
}

}  // namespace wallock::test
