// Many threads on one Coordinator, and several Coordinators of one process on one file.
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "counters.hpp"
#include "process_support.hpp"
#include "temp_folder.hpp"

using namespace wallock::test;
using wallock::ActionFields;
using wallock::AfterCommit;
using wallock::Coordinator;
using wallock::ErrorClass;
using wallock::RecordKind;
using wallock::Transaction;

namespace {

constexpr unsigned threads = 8;
constexpr unsigned operations = 375;  // of each thread: 3000 in all

std::string resource_of(unsigned dice) { return dice % 2 == 0 ? "even" : "odd"; }

wallock::Work increment(std::string resource, std::string action) {
  return [resource = std::move(resource), action = std::move(action)](Transaction& transaction) {
    SQLite::Database& database = wallock::database(transaction);
    write_counter(database, {.action = action,
                             .resource = resource,
                             .value = read_counter(database, resource) + 1,
                             .token = transaction.token().value()});
  };
}

// What the threads did, added up.
struct Sum {
  std::atomic<unsigned> committed{0};
  std::atomic<unsigned> refused{0};
  std::atomic<unsigned> broken{0};
};

void add(Sum& sum, const wallock::Result<wallock::Committed>& answer) {
  if (answer) {
    ++sum.committed;
  } else if (answer.error().error_class() == ErrorClass::business) {
    ++sum.refused;
  } else {
    ++sum.broken;
  }
}

// Acquire, sometimes renew, commit, and let go in one of the ways there are.
void hold(Coordinator& coordinator, unsigned dice, const std::string& action, Sum& sum) {
  const std::string resource = resource_of(dice);
  const auto lease = coordinator.acquire(
      resource, {.ttl = std::chrono::seconds(30), .wait = std::chrono::seconds(30)});
  if (!lease) {
    ++sum.broken;
    return;
  }
  if (dice % 3 == 0 && !coordinator.renew(*lease, std::chrono::seconds(30))) ++sum.broken;
  const auto after = dice % 5 == 0 ? AfterCommit::release : AfterCommit::nothing;
  add(sum, coordinator.commit(*lease, ActionFields{.id = action}, increment(resource, action),
                              {.after = after}));
  if (dice % 7 == 0) {
    // A token commits once.
    add(sum, coordinator.commit(*lease, ActionFields{.id = action + "-late"},
                                increment(resource, action + "-late")));
  }
  if (!coordinator.release(*lease)) ++sum.broken;
}

void work(Coordinator& coordinator, unsigned thread, Sum& sum) {
  std::mt19937 random(thread);
  for (unsigned i = 0; i < operations; ++i) {
    const auto dice = static_cast<unsigned>(random() % 1000);
    const std::string action = std::to_string(thread) + "-" + std::to_string(i);
    if (dice < 200) {
      if (!coordinator.health() || !coordinator.breaker(resource_of(dice))) ++sum.broken;
    } else if (dice < 300) {
      if (!coordinator.leases() || !coordinator.root()) ++sum.broken;
    } else if (dice < 600) {
      add(sum, coordinator.execute(resource_of(dice), ActionFields{.id = action},
                                   increment(resource_of(dice), action),
                                   {.wait = std::chrono::seconds(30)}));
    } else {
      hold(coordinator, dice, action, sum);
    }
  }
}

// Runs all threads, each on one of the Coordinators, and checks what is left behind.
void run(std::vector<Coordinator>& coordinators, const std::string& database) {
  const auto setup = [](Transaction& transaction) {
    create_counter(wallock::database(transaction), "even");
    create_counter(wallock::database(transaction), "odd");
  };
  static_cast<void>(
      must(coordinators.front().execute("setup", ActionFields{.id = "setup"}, setup)));
  Sum sum;
  std::vector<std::thread> crew;
  for (unsigned i = 0; i < threads; ++i) {
    crew.emplace_back([&, i] { work(coordinators[i % coordinators.size()], i, sum); });
  }
  for (std::thread& thread : crew)
    thread.join();

  CHECK(sum.broken == 0);
  CHECK(sum.committed > 0);
  CHECK(sum.refused > 0);
  History history;
  {
    SQLite::Database connection(database, SQLite::OPEN_READONLY, 10'000);
    read_increments(connection, history);
  }
  CHECK(history.increments.size() == sum.committed);
  CHECK(history.counters["even"] + history.counters["odd"] == static_cast<long>(sum.committed));
  const auto records = all_records(coordinators.front());
  CHECK(count(records, RecordKind::action_recorded) == sum.committed + 1);
  std::uint64_t highest = 0;
  for (const auto& record : records) {
    if (record.entry().kind != RecordKind::lease_granted) continue;
    CHECK(record.entry().token.value() > highest);
    highest = record.entry().token.value();
  }
  CHECK(must(coordinators.back().verify()).verdict == wallock::VerifyVerdict::unanchored);
  CHECK(integrity_check(database) == "ok");
}

}  // namespace

TEST_CASE("threads: 8 threads on one Coordinator, mixed operations: tokens rise, nothing is lost") {
  const TempFolder folder;
  std::vector<Coordinator> one;
  one.push_back(must(Coordinator::open(folder / "store.db")));
  run(one, folder / "store.db");
}

TEST_CASE("threads: several Coordinators of one process on one file are as several processes") {
  const TempFolder folder;
  std::vector<Coordinator> several;
  for (int i = 0; i < 4; ++i)
    several.push_back(must(Coordinator::open(folder / "store.db")));
  run(several, folder / "store.db");
}

TEST_CASE(
    "two Coordinators of one process on one file take turns, and closing one leaves the "
    "other's locks alone") {
  const TempFolder folder;
  auto first = must(Coordinator::open(folder / "store.db"));
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    // Opened and closed again and again: closing any descriptor of the file but through SQLite
    // would drop the locks of the one that stays.
    auto second = must(Coordinator::open(folder / "store.db"));
    const auto lease = must(first.acquire("r"));
    const auto held = second.try_acquire("r");
    REQUIRE_FALSE(held);
    CHECK(held.error().code() == wallock::Errc::lease_held);
    const std::string action = "a" + std::to_string(i);
    const auto inside = [&](Transaction&) {
      auto third = Coordinator::open(folder / "store.db",
                                     {.operation_timeout = std::chrono::milliseconds(20)});
      REQUIRE_FALSE(third);
      CHECK(third.error().code() == wallock::Errc::called_inside_work);
    };
    static_cast<void>(must(first.commit(lease, ActionFields{.id = action}, inside)));
    CHECK(must(second.execute("other", ActionFields{.id = action + "-other"})).replayed() == false);
    CHECK(must(first.release(lease)) == wallock::ReleaseEffect::released);
    const auto next = must(second.try_acquire("r"));
    CHECK(next.token() > lease.token());
    CHECK(must(second.release(next)) == wallock::ReleaseEffect::released);
  }
  CHECK(must(first.verify()).verdict == wallock::VerifyVerdict::unanchored);
  CHECK(integrity_check(folder / "store.db") == "ok");
}
