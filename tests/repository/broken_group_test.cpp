// Shared transactions that go wrong without anybody's work, and those whose flush is their own.
#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "crossroads.hpp"

namespace wallock::test {
namespace {

// A clock that stands still, and tells whether somebody waits on it.
class WaitedOn final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override { return still_.now(); }
  [[nodiscard]] WallTime wall_now() const noexcept override { return still_.wall_now(); }
  [[nodiscard]] std::optional<std::string> boot_id() const override { return still_.boot_id(); }
  void sleep_for(Duration /*duration*/) const noexcept override {
    ++sleeps_;
    std::this_thread::sleep_for(1ms);
  }
  [[nodiscard]] unsigned sleeps() const { return sleeps_; }

 private:
  ManualClock still_;
  mutable std::atomic<unsigned> sleeps_{0};
};

// A store whose next transaction cannot begin before a test lets it: another SQLite has the lock.
class Gate {
 public:
  explicit Gate(bool share_flushes) {
    auto options = at_.options();
    options.durability = Durability::commits;
    options.share_flushes = share_flushes;
    options.operation_timeout = 60s;
    options.clock = clock_;
    store_.emplace(at_.open(options));
    raw_.emplace(at_.path());
    static_cast<void>(flushes());
  }

  [[nodiscard]] Coordinator& store() { return *store_; }
  [[nodiscard]] RawDatabase& raw() { return *raw_; }
  [[nodiscard]] std::uint64_t flushes() const { return counter_.taken(); }

  void close() { raw_->must("BEGIN IMMEDIATE"); }
  void open() { raw_->must("ROLLBACK"); }

  // Starts the operation whose transaction waits at the gate.
  template <class Operation>
  auto lead(Operation operation) {
    const unsigned before = clock_->sleeps();
    auto leads = std::async(std::launch::async, std::move(operation));
    while (clock_->sleeps() == before)
      std::this_thread::yield();
    return leads;
  }
  // Starts one more, behind that one.
  template <class Operation>
  auto join(Operation operation) {
    return join_line(store(), std::move(operation));
  }
  auto commit(const std::string& id) {
    return [this, id] { return store().execute("resource of " + id, recorded(id)); };
  }
  auto acquire(const std::string& holder) {
    return [this, holder] { return store().try_acquire("r", by(holder)); };
  }

 private:
  SyncCounter counter_;
  TempStore at_;
  std::shared_ptr<WaitedOn> clock_ = std::make_shared<WaitedOn>();
  std::optional<Coordinator> store_;
  std::optional<RawDatabase> raw_;
};

std::int64_t recorded_actions(RawDatabase& raw) {
  return raw.integer("SELECT count(*) FROM wallock_lease_queue_events WHERE kind = 20");
}

}  // namespace

TEST_CASE("an operation that fails after it wrote takes nobody along, whoever flushes") {
  Gate at(GENERATE(true, false));
  refuse(at.raw(), "bad");
  at.close();
  auto first = at.lead(at.commit("first"));
  auto grant = at.join(at.acquire("ann"));
  auto refused = at.join(at.acquire("bob"));
  auto bad = at.join(at.commit("bad"));
  auto last = at.join(at.commit("last"));
  at.open();
  CHECK(answer(first.get()) == "ok");
  CHECK(answer(grant.get()) == "ok");
  CHECK(answer(refused.get()) == "lease_held");
  CHECK(answer(bad.get()) == "invariant_violated");
  CHECK(answer(last.get()) == "ok");
  CHECK(recorded_actions(at.raw()) == 2);
  CHECK(at.store().leases().value().size() == 1);
  CHECK(verdict(at.store()) == "UNANCHORED");
  at.raw().must("DROP TRIGGER refuses");
  CHECK(answer(at.commit("bad")()) == "ok");
}

TEST_CASE("an operation that fails behind work is undone alone, and the work does not run again") {
  Crossroads at(60s, GENERATE(true, false), "bad");
  auto worked = at.commit("worked", inserting("worked"));
  auto bad = at.commit("bad");
  auto last = at.commit("last", inserting("last"));
  CHECK(at.go() == "ok");
  CHECK(answer(worked.get()) == "ok");
  CHECK(answer(bad.get()) == "invariant_violated");
  CHECK(answer(last.get()) == "ok");
  CHECK(at.flushes() == 1);
  CHECK(at.notes() == "last worked");
  CHECK_FALSE(at.is_recorded("bad"));
  CHECK(verdict(at.store()) == "UNANCHORED");
}

TEST_CASE("with its own flushes, a commit does not join a transaction that is not flushed") {
  Gate at(false);
  const auto before = at.store().health().value();
  at.close();
  auto grant = at.lead(at.acquire("ann"));
  auto refused = at.join(at.acquire("bob"));
  auto committed = at.join(at.commit("a"));
  at.open();
  CHECK(answer(grant.get()) == "ok");
  CHECK(answer(refused.get()) == "lease_held");
  CHECK(answer(committed.get()) == "ok");
  CHECK(at.flushes() == 1);
  const auto after = at.store().health().value();
  CHECK(after.transactions - before.transactions == 2);
  CHECK_FALSE(after.shares_flushes);
}

TEST_CASE("whose commit is under way is answered when it is done, however slow the disk is") {
  Crossroads at(1s, false);
  auto grant = at.join([&] { return at.store().try_acquire("r", by("ann")); });
  at.slow_down(1500ms);
  CHECK(at.go() == "ok");
  CHECK(answer(grant.get()) == "ok");
  CHECK(at.store().leases().value().size() == 1);
}

TEST_CASE("with its own flushes, a grant before a commit is flushed with it") {
  Crossroads at(60s, false);
  auto ending = at.commit("ending", [](Transaction& transaction) {
    insert(transaction, "x");
    database(transaction).exec("INSERT OR ROLLBACK INTO app (note) VALUES ('x')");
  });
  // These two are in line when the transaction before them is gone.
  auto grant = at.join([&] { return at.store().try_acquire("r", by("ann")); });
  auto committed = at.commit("a");
  const auto before = at.store().health().value().transactions;
  CHECK(at.go() == "busy");
  CHECK(answer(ending.get()) == "work_failed");
  CHECK(answer(grant.get()) == "ok");
  CHECK(answer(committed.get()) == "ok");
  CHECK(at.flushes() == 1);
  CHECK(at.store().health().value().transactions - before == 1);
}

}  // namespace wallock::test
