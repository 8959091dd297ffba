// Memory that runs out in a transaction that several threads share: who ran out of it is told so
// and leaves nothing behind. The others keep what they wrote, or are told to repeat it.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <latch>
#include <string>

#include "allocations.hpp"
#include "catch.hpp"
#include "sqlite/invariants.hpp"
#include "sqlite/job.hpp"
#include "temp_store.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {
namespace {

using namespace std::chrono_literals;

ActionRequest action(const std::string& id) {
  return ActionRequest::create({.id = id, .payload = "p"}).value();
}

// Two commits of two threads in one transaction; the second starves.
class Pair {
 public:
  Pair() {
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

  Answers run(const std::string& id, const AllocationFault& fault) {
    std::latch begun(1);
    std::latch go(1);
    auto first = std::async(std::launch::async, [&] {
      return store_->execute("first", action(id + "-first"), [&](Transaction& transaction) {
        begun.count_down();
        go.wait();
        insert(transaction, id + "-first");
      });
    });
    begun.wait();
    bool injected = false;
    std::atomic<bool> is_over{false};
    auto second = std::async(std::launch::async, [&] {
      const ActionRequest request = action(id + "-second");
      const Batch batch = request;
      const Work work = [&](Transaction& transaction) { insert(transaction, id + "-second"); };
      Given<ResourceName> name("second");
      arm_allocations(fault);
      auto done = within([&] { return store_->execute(std::move(name), batch, work, {}); });
      injected = failed_allocations() > 0;
      disarm_allocations();
      is_over = true;
      return done;
    });
    while (!is_over && store_->health().value().waiting_operations == 0)
      std::this_thread::yield();
    go.count_down();
    return {.first = first.get(), .second = second.get(), .injected = injected};
  }

  [[nodiscard]] bool has(const std::string& id) {
    return at_.raw().integer("SELECT count(*) FROM app WHERE note = '" + id + "'") == 1;
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

  TempStore at_;
  std::optional<Coordinator> store_;
};

void starve_the_second(bool for_ever) {
  Pair pair;
  REQUIRE(pair.run("warm", {.at = UINT64_MAX}).second);
  int alone = 0;
  int together = 0;
  bool injected = true;
  for (std::uint64_t at = 0; injected; ++at) {
    CAPTURE(at, for_ever);
    const std::string id = std::to_string(at);
    const auto answers = pair.run(id, {.at = at, .for_ever = for_ever});
    injected = answers.injected;
    CHECK(pair.has(id + "-first") == answers.first.has_value());
    CHECK(pair.has(id + "-second") == answers.second.has_value());
    // The second one's thread also commits for both.
    if (!answers.first) CHECK(answers.first.error().error_class() == ErrorClass::transient);
    if (!answers.second) CHECK(answers.second.error().code() == Errc::out_of_memory);
    alone += answers.first && !answers.second ? 1 : 0;
    together += !answers.first && !answers.second ? 1 : 0;
    if (!answers.first || !answers.second) CHECK(injected);
  }
  std::printf("shared, %s: %d failed alone, %d together\n", for_ever ? "for ever" : "once", alone,
              together);
  CHECK(alone > 0);
  CHECK(alone + together > 50);
  pair.check_sound();
}

}  // namespace

TEST_CASE("memory that runs out in a shared transaction leaves each commit whole or undone",
          "[memory]") {
  starve_the_second(false);
  starve_the_second(true);
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
