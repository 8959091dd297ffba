// The store against a model with a perfect memory: a hundred thousand random operations, every
// answer compared. WALLOCK_SEED=<number> repeats a run, WALLOCK_OPERATIONS=<number> its length.
#include <cstdlib>
#include <random>

#include "model_words.hpp"
#include "repository_support.hpp"

namespace wallock::test {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Two handles on one file, the model beside them, and what a caller would have kept.
class Driver {
 public:
  explicit Driver(std::uint64_t seed) : random_(seed) {
    model_.now = nanos(at_.clock->now());
    reopen();
  }

  // One random operation on both. False, with a report, if the answers differ.
  void step() {
    model_.now = nanos(at_.clock->now());
    const auto dice = number(1000);
    if (dice < 150)
      acquire();
    else if (dice < 220)
      renew();
    else if (dice < 400)
      commit();
    else if (dice < 520)
      execute();
    else if (dice < 580)
      release();
    else if (dice < 600)
      revoke();
    else if (dice < 680)
      report();
    else if (dice < 740)
      recover();
    else if (dice < 746)
      force();
    else if (dice < 830)
      claim();
    else if (dice < 920)
      settle();
    else if (dice < 998)
      advance();
    else if (dice < 999)
      reopen();
    else
      reboot();
    if (number(50) == 0) look();
  }

  void finish() {
    look();
    CHECK(store().verify(head_).value().verdict == VerifyVerdict::anchored);
    auto raw = at_.raw();
    CHECK(raw.text("PRAGMA integrity_check") == "ok");
    for (const auto& [answer, times] : answers_) {
      CAPTURE(answer);
      CHECK(times > 0);
    }
    for (const char* seen : {"lease",
                             "lease_held",
                             "already_held",
                             "breaker_open",
                             "request_spent",
                             "action_conflict",
                             "lease_lost",
                             "lease_expired",
                             "released",
                             "expired",
                             "already_ended",
                             "new",
                             "replayed",
                             "stale_token",
                             "batch_partly_recorded",
                             "late",
                             "none",
                             "cleared",
                             "counted",
                             "tripped",
                             "probe",
                             "probe_lost",
                             "breaker_not_open",
                             "recovery_not_due",
                             "ok",
                             "sealed",
                             "queued",
                             "dead",
                             "claim_lost"}) {
      CAPTURE(seen);
      CHECK(answers_[seen] > 0);  // a run that never met it shows nothing about it
    }
  }

 private:
  std::uint64_t number(std::uint64_t below) { return random_() % below; }
  int any_resource() { return static_cast<int>(number(8)); }
  static std::string name(int r) { return "r" + std::to_string(r); }
  Coordinator& store() { return stores_[handle_]; }
  void pick_handle() { handle_ = number(2); }
  int instance() const { return static_cast<int>(2 * openings_ + handle_); }
  Duration ttl() { return Duration(1s) * static_cast<std::int64_t>(1 + number(20)); }

  void compare(const std::string& expected, const std::string& got) {
    ++answers_[got.substr(0, got.find(' '))];
    if (expected != got) FAIL("the model says: " << expected << "; the store: " << got);
  }
  // What the caller keeps of a lease: the real one, and the model's words for it.
  struct Kept {
    Lease lease;
    ModelLease model;
  };
  std::string keep(const Lease& lease, int resource, int holder, int of_instance) {
    kept_.push_back({lease, modelled(lease, resource, holder, of_instance)});
    if (kept_.size() > 24) kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(number(12)));
    return StoreModel::lease_words(kept_.back().model);
  }
  // Mostly a recent one.
  const Kept* any_kept() {
    if (kept_.empty()) return nullptr;
    const auto back =
        number(2) == 0 ? number(std::min<std::size_t>(4, kept_.size())) : number(kept_.size());
    return &kept_[kept_.size() - 1 - back];
  }

  void acquire() {
    pick_handle();
    const int r = any_resource();
    const int holder = static_cast<int>(number(3));
    const auto lasting = ttl();
    auto options = by("h" + std::to_string(holder), lasting);
    std::string request;
    if (number(3) == 0) {
      request = number(3) == 0 && !requests_.empty() ? requests_[number(requests_.size())]
                                                     : "q" + std::to_string(next_id_++);
      requests_.push_back(request);
      options.action_id = Given<ActionId>(request);
    }
    const auto expected = model_.acquire(r, holder, instance(), lasting.count(), request);
    const auto got = store().acquire(name(r), options);
    compare(expected, got ? keep(*got, r, holder, instance()) : refused(got));
  }

  void renew() {
    const auto* kept = any_kept();
    if (kept == nullptr) return;
    pick_handle();
    const Kept used = *kept;
    const auto lasting = ttl();
    const auto expected = model_.renew(used.model, lasting.count());
    const auto got = store().renew(used.lease, lasting);
    compare(expected, got ? keep(*got, used.model.resource, used.model.holder, used.model.instance)
                          : refused(got));
  }

  // 1 to 4 actions, now and then with ids or whole batches used before.
  StoreModel::Batch any_batch() {
    if (number(8) == 0 && !batches_.empty()) {
      auto batch = batches_[number(batches_.size())];
      if (number(4) == 0) batch.front().payload += "!";
      if (number(4) == 0) batch.push_back({"a" + std::to_string(next_id_++), "p", false});
      if (number(8) == 0 && !requests_.empty()) batch.front().id = requests_.front();
      return batch;
    }
    StoreModel::Batch batch(1 + number(number(6) == 0 ? 4 : 1));
    for (auto& action : batch)
      action = {"a" + std::to_string(next_id_++), "p" + std::to_string(number(5)), number(3) == 0};
    batches_.push_back(batch);
    if (batches_.size() > 50) batches_.erase(batches_.begin());
    return batch;
  }
  void commit() {
    const auto* kept = any_kept();
    if (kept == nullptr) return;
    pick_handle();
    const Kept used = *kept;
    const auto batch = any_batch();
    const auto after = number(3);
    const auto expected = model_.commit(used.model, batch, static_cast<StoreModel::After>(after));
    const auto got =
        store().commit(used.lease, real(batch), {}, {.after = static_cast<AfterCommit>(after)});
    if (!got) return compare(expected, refused(got));
    std::string said = words(*got);
    if (got->lease()) {
      said +=
          " " + keep(*got->lease(), used.model.resource, used.model.holder, used.model.instance);
    }
    compare(expected, said);
  }

  void execute() {
    pick_handle();
    const int r = any_resource();
    const int holder = static_cast<int>(number(3));
    const auto batch = any_batch();
    ExecuteOptions options;
    options.holder = Given<HolderId>("h" + std::to_string(holder));
    const auto expected = model_.execute(r, holder, instance(), batch);
    const auto got = store().execute(name(r), real(batch), {}, options);
    compare(expected, got ? words(*got) : refused(got));
  }

  void release() {
    const auto* kept = any_kept();
    if (kept == nullptr) return;
    pick_handle();
    compare(model_.release(kept->model), effect(store().release(kept->lease)));
  }

  void revoke() {
    const auto* kept = any_kept();
    if (kept == nullptr) return;
    pick_handle();
    compare(model_.revoke(kept->model.resource, kept->model.token),
            answer(store().revoke(kept->lease.resource(), kept->lease.token(), "revoked")));
  }

  void report() {
    const auto* kept = any_kept();
    if (kept == nullptr) return;
    pick_handle();
    const auto outcome = number(2) == 0 ? 1 : number(4);
    compare(model_.report(kept->model, static_cast<StoreModel::Outcome>(outcome)),
            effect(store().report(kept->lease, static_cast<DownstreamOutcome>(outcome))));
  }

  void recover() {
    pick_handle();
    if (number(2) == 0 || probes_.empty()) {
      const int r = any_resource();
      const auto lasting = ttl();
      const auto expected = model_.begin_recovery(r, lasting.count());
      const auto got = store().begin_recovery(name(r), {.ttl = lasting});
      if (!got) return compare(expected, refused(got));
      probes_.emplace_back(r, *got);
      return compare(expected, "probe " + std::to_string(got->token().value()) + " until " +
                                   std::to_string(nanos(got->expires_at())));
    }
    const auto& [r, probe] =
        probes_[probes_.size() - 1 - number(std::min<std::size_t>(4, probes_.size()))];
    const bool recovered = number(3) != 0;
    compare(model_.complete_recovery(r, probe.token().value(), recovered),
            answer(store().complete_recovery(probe, {recovered, "looked"})));
  }

  void force() {
    pick_handle();
    const int r = any_resource();
    if (number(3) == 0) {
      compare(model_.force_open(r), answer(store().force_open(name(r), "forced")));
    } else {
      for (int each = 0; each < 8; ++each)
        compare(model_.clear_forced(each), answer(store().clear_forced(name(each))));
    }
  }

  void claim() {
    pick_handle();
    ClaimOptions options{.destination = "bank"};
    options.limit = static_cast<std::uint32_t>(1 + number(5));
    options.ttl = ttl();
    const auto expected = model_.claim(options.limit, options.ttl.count());
    const auto got = store().claim(options);
    if (!got) return compare(expected, refused(got));
    claimed_.insert(claimed_.end(), got->begin(), got->end());
    while (claimed_.size() > 20)
      claimed_.erase(claimed_.begin());
    const auto said = words(*got);
    if (expected != said) FAIL("the model claims: " << expected << "; the store: " << said);
  }

  void settle() {
    if (claimed_.empty()) return;
    pick_handle();
    const auto& delivery = claimed_[number(claimed_.size())];
    const auto dice = number(10);
    const Duration wait = Duration(1s) * static_cast<std::int64_t>(number(5));
    const auto outcome = dice < 6   ? DeliveryOutcome::delivered()
                         : dice < 9 ? DeliveryOutcome::retry(wait)
                                    : DeliveryOutcome::reject();
    const auto modelled = dice < 6   ? StoreModel::Settle::delivered
                          : dice < 9 ? StoreModel::Settle::retry
                                     : StoreModel::Settle::reject;
    compare(
        model_.settle(delivery.position(), delivery.claim_token().value(), modelled, wait.count()),
        effect(store().settle(delivery, outcome)));
  }

  void advance() {
    at_.clock->jump_wall(Duration(1s) * (static_cast<std::int64_t>(number(7200)) - 3600));
    at_.clock->advance(number(200) == 0 ? Duration(700s)
                                        : Duration(1ms) * static_cast<std::int64_t>(number(4000)));
  }

  void reopen() {
    stores_.clear();
    ++openings_;
    for (int i = 0; i < 2; ++i) {
      auto options = at_.options();
      options.breaker = {.trip_after = ModelBreaker::trip_after,
                         .first_interval = Duration(ModelBreaker::first_interval),
                         .max_interval = Duration(ModelBreaker::max_interval)};
      options.delivery.max_attempts = StoreModel::max_attempts;
      options.delivery.max_age = Duration(StoreModel::max_age);
      stores_.push_back(at_.open(options));
    }
  }

  void reboot() {
    if (number(3) != 0) return;
    stores_.clear();
    const Nanos start = static_cast<Nanos>(number(30)) * StoreModel::second + 1;
    at_.clock->reboot("boot " + std::to_string(model_.epoch + 1), Instant(Duration(start)));
    model_.reboot(start);
    reopen();
  }

  // What the store shows, against what it should.
  void look() {
    pick_handle();
    model_.now = nanos(at_.clock->now());
    std::string leases;
    const auto listed = store().leases().value();
    for (const auto& info : listed) {
      leases += info.lease.resource().str().substr(1) + ":" +
                std::to_string(info.lease.token().value()) + " ";
    }
    CHECK(leases == model_.leases());
    const auto health = store().health().value();
    CHECK(health.ledger_size == model_.size);
    CHECK(health.epoch == model_.epoch);
    CHECK(health.deliveries == model_.deliveries.size());
    CHECK(health.dead_letters == model_.dead);
    const int r = any_resource();
    CHECK(words(store().breaker(name(r)).value()) == model_.breaker(r));
    if (head_.size == 0 || number(100) == 0) head_ = store().root().value();
  }

  std::mt19937_64 random_;
  TempStore at_;
  StoreModel model_;
  std::vector<Coordinator> stores_;
  std::size_t handle_ = 0;
  std::uint64_t openings_ = 0;
  std::uint64_t next_id_ = 0;
  std::vector<Kept> kept_;
  std::vector<std::string> requests_;
  std::vector<StoreModel::Batch> batches_;
  std::vector<std::pair<int, Probe>> probes_;
  std::vector<Delivery> claimed_;
  TreeHead head_;
  std::map<std::string, std::uint64_t> answers_;
};

}  // namespace

TEST_CASE("a hundred thousand random operations answer as a perfect memory would") {
  const auto seed = from_environment("WALLOCK_SEED", 20'260'501);
  const auto operations = from_environment("WALLOCK_OPERATIONS", 100'000);
  UNSCOPED_INFO("WALLOCK_SEED=" << seed);
  Driver driver(seed);
  for (std::uint64_t i = 0; i < operations; ++i) {
    INFO("WALLOCK_SEED=" << seed << " operation " << i);
    driver.step();
  }
  driver.finish();
}

}  // namespace wallock::test
