// Memory that runs out, and statements that are interrupted, in a transaction that several threads
// share: who met it is told so and leaves nothing behind. The others keep what they wrote, or are
// told to repeat it.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <latch>
#include <string>

#include "allocations.hpp"
#include "catch.hpp"
#include "interrupts.hpp"
#include "sqlite/invariants.hpp"
#include "sqlite/job.hpp"
#include "stepwise.hpp"
#include "temp_store.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {
namespace {

using namespace std::chrono_literals;

ActionRequest action(const std::string& id) {
  return ActionRequest::create({.id = id, .payload = "p"}).value();
}

// Where the trouble comes: in the second one's thread, which commits for both; or in the first
// one's, which runs the second's operation too, as that has no work.
enum class Where : std::uint8_t { second, first };

// Two commits of two threads in one transaction.
class Pair {
 public:
  explicit Pair(Where where) : where_(where) {
    at_.raw().must("CREATE TABLE app (note TEXT)");
    auto options = at_.options();
    options.operation_timeout = 60s;
    store_.emplace(at_.open(options));
  }

  struct Answers {
    Result<Committed> first;
    Result<Committed> second;
    bool injected = false;
  };

  Answers run(const std::string& id, const Trouble& trouble, std::uint64_t at) {
    std::latch begun(1);
    std::latch go(1);
    std::atomic<bool> injected{false};
    std::atomic<bool> is_over{false};
    auto first = std::async(std::launch::async, [&] {
      const ActionRequest request = action(id + "-first");
      const Batch batch = request;
      const Work work = [&](Transaction& transaction) {
        begun.count_down();
        go.wait();
        insert(transaction, id + "-first");
        if (where_ == Where::first) trouble.begin(at);
      };
      Given<ResourceName> name("first");
      auto done = within([&] { return store_->execute(std::move(name), batch, work, {}); });
      if (where_ == Where::first) injected = trouble.end();
      return done;
    });
    begun.wait();
    auto second = std::async(std::launch::async, [&] {
      const ActionRequest request = action(id + "-second");
      const Batch batch = request;
      const Work work = [&](Transaction& transaction) { insert(transaction, id + "-second"); };
      Given<ResourceName> name("second");
      if (where_ == Where::second) trouble.begin(at);
      auto done = within([&] {
        return store_->execute(std::move(name), batch, where_ == Where::second ? work : Work(), {});
      });
      if (where_ == Where::second) injected = trouble.end();
      is_over = true;
      return done;
    });
    while (!is_over && store_->health().value().waiting_operations == 0)
      std::this_thread::yield();
    go.count_down();
    return {.first = first.get(), .second = second.get(), .injected = injected};
  }

  // True if what the commit wrote is there.
  [[nodiscard]] bool has_first(const std::string& id) {
    return at_.raw().integer("SELECT count(*) FROM app WHERE note = '" + id + "-first'") == 1;
  }
  [[nodiscard]] bool has_second(const std::string& id) {
    return at_.raw().integer("SELECT count(*) FROM wallock_lease_queue_events WHERE action_id = '" +
                             id + "-second'") == 1;
  }
  void check_sound() {
    store_.reset();
    const auto found = sqlite::check_invariants(at_.path());
    REQUIRE(found);
    CHECK(found->empty());
  }

 private:
  static void insert(Transaction& transaction, const std::string& note) {
    SQLite::Statement statement(database(transaction), "INSERT INTO app VALUES (?)");
    statement.bind(1, note);
    statement.exec();
  }

  const Where where_;
  TempStore at_;
  std::optional<Coordinator> store_;
};

struct Failures {
  int alone = 0;     // of the second one, while the first was done
  int together = 0;  // of both
};

// With the trouble at one place after the other.
Failures trouble_pairs(Where where, const Trouble& trouble) {
  Pair pair(where);
  Failures failures;
  bool injected = true;
  for (std::uint64_t at = 0; injected; ++at) {
    CAPTURE(at, trouble.name, static_cast<int>(where));
    const std::string id = std::to_string(at);
    const auto [first, second, came] = pair.run(id, trouble, at);
    injected = came;
    CHECK(pair.has_first(id) == first.has_value());
    CHECK(pair.has_second(id) == second.has_value());
    if (!first) CHECK(first.error().error_class() == ErrorClass::transient);
    if (!second) CHECK(trouble.may_answer(second.error().code()));
    failures.alone += first && !second ? 1 : 0;
    failures.together += !first && !second ? 1 : 0;
    if (!first || !second) CHECK(injected);
  }
  std::printf("shared, %s: %d failed alone, %d together\n", trouble.name.c_str(), failures.alone,
              failures.together);
  pair.check_sound();
  return failures;
}

}  // namespace

TEST_CASE("memory that runs out in a shared transaction leaves each commit whole or undone",
          "[memory]") {
  for (const bool for_ever : {false, true}) {
    const auto second = trouble_pairs(Where::second, starvation(for_ever));
    CHECK(second.alone > 0);
    CHECK(second.alone + second.together > 50);
    const auto first = trouble_pairs(Where::first, starvation(for_ever));
    CHECK(first.alone + first.together > 0);
  }
}

TEST_CASE(
    "a statement that is interrupted in a shared transaction leaves each commit whole or undone",
    "[interrupt]") {
  StatementWatch statements;
  const Trouble interruption{
      .name = "statement",
      .begin = [&](std::uint64_t at) { statements.interrupt(at); },
      .end = [&] { return statements.end(); },
      .may_answer = [](Errc code) { return code == Errc::busy || code == Errc::work_failed; }};
  for (const Where where : {Where::second, Where::first}) {
    const auto failures = trouble_pairs(where, interruption);
    CHECK(failures.alone + failures.together > 0);
  }
}

TEST_CASE("a job is refused without memory for what the error says", "[memory]") {
  const auto nothing = [](sqlite::WriteTransaction&) -> Status { return {}; };
  sqlite::JobOf<const decltype(nothing)> job(nothing, {});
  const Error error = invalid(Errc::setting_refused, "the name of a setting that is long");
  arm_allocations({.at = 0, .for_ever = true});
  within([&] { job.refuse(error); });
  disarm_allocations();
  REQUIRE(job.failure() != nullptr);
  CHECK(job.failure()->code() == Errc::out_of_memory);
  job.refuse(error);
  CHECK(*job.failure() == error);
}

}  // namespace wallock::test
