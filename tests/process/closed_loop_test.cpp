// Sixteen processes that write without a pause, each flushed: nobody is ever answered busy, and
// everybody gets on.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <iostream>
#include <thread>

#include "child_process.hpp"
#include "fork.hpp"
#include "process_support.hpp"
#include "temp_folder.hpp"
#include "thread_sanitizer.hpp"

using namespace wallock::test;
using wallock::ActionFields;
using wallock::Coordinator;

namespace {

constexpr std::size_t writers = 16;

struct Ground {
  std::array<std::atomic<std::uint64_t>, writers> answered;
  std::atomic<std::uint64_t> refused;  // and that with anything at all
  std::array<char, 256> answer;        // one of them
  std::atomic<bool> over;
};

void note(Ground& ground, const wallock::Error& error) {
  if (ground.refused++ != 0) return;
  const std::string text = to_string(error);
  text.copy(ground.answer.data(), ground.answer.size() - 1);
}

// Four writers share a destination: they put into it and take out of it at once.
bool deliver(Coordinator& coordinator, Ground& ground, std::string_view destination) {
  const auto claimed = coordinator.claim({.destination = destination, .limit = 4});
  if (!claimed) return note(ground, claimed.error()), false;
  for (const wallock::Delivery& delivery : *claimed) {
    const auto settled = coordinator.settle(delivery, wallock::DeliveryOutcome::delivered());
    if (!settled) return note(ground, settled.error()), false;
  }
  return true;
}

// Grant, renewal, commit, claim, settlement and release, each flushed before it is answered.
bool cycle(Coordinator& coordinator, Ground& ground, std::size_t writer) {
  const std::string resource = "r" + std::to_string(writer);
  const std::string destination = "d" + std::to_string(writer % 4);
  const std::string action = resource + "-" + std::to_string(ground.answered[writer].load());
  const auto lease = coordinator.try_acquire(resource);
  if (!lease) return note(ground, lease.error()), false;
  const auto renewed = coordinator.renew(*lease, std::chrono::seconds(30));
  if (!renewed) return note(ground, renewed.error()), false;
  const auto committed = coordinator.commit(
      *renewed,
      ActionFields{.id = action, .destination = wallock::Given<wallock::Destination>(destination)});
  if (!committed) return note(ground, committed.error()), false;
  if (!deliver(coordinator, ground, destination)) return false;
  const auto released = coordinator.release(*lease);
  if (!released) return note(ground, released.error()), false;
  ++ground.answered[writer];
  return true;
}

struct Settings {
  bool shares_flushes = true;
  wallock::Duration operation_timeout = wallock::Options().operation_timeout;
};

int write(Ground& ground, const std::string& database, const Settings& settings,
          std::size_t writer) {
  auto coordinator = Coordinator::open(database, {.durability = wallock::Durability::every_answer,
                                                  .share_flushes = settings.shares_flushes,
                                                  .operation_timeout = settings.operation_timeout});
  if (!coordinator) {
    note(ground, coordinator.error());
    return 0;
  }
  while (!ground.over && cycle(*coordinator, ground, writer)) {
  }
  return 0;
}

// Ends early when somebody was refused.
std::string run(const Settings& settings, std::chrono::milliseconds time) {
  const TempFolder folder;
  const Shared<Ground> ground;
  std::vector<Fork> crew;
  for (std::size_t i = 0; i < writers; ++i) {
    crew.emplace_back([&, i] { return write(*ground, folder / "store.db", settings, i); });
  }
  const auto begun = std::chrono::steady_clock::now();
  const auto all_have_answers = [&ground] {
    return std::ranges::all_of(ground->answered, [](const auto& n) { return n > 0; });
  };
  while (ground->refused == 0 &&
         (std::chrono::steady_clock::now() < begun + time || !all_have_answers())) {
    REQUIRE(std::chrono::steady_clock::now() < begun + time + patience);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ground->over = true;
  for (Fork& writer : crew)
    CHECK(writer.wait() == 0);
  auto whole = Coordinator::open(folder / "store.db").value();
  CHECK(whole.verify().value().verdict == wallock::VerifyVerdict::unanchored);  // and no damage
  std::uint64_t sum = 0;
  for (const auto& answered : ground->answered)
    sum += answered;
  const auto [least, most] = std::ranges::minmax_element(
      ground->answered, {}, [](const auto& answered) { return answered.load(); });
  std::cout << "closed loop" << (settings.shares_flushes ? "" : ", own flushes") << ": " << sum
            << " cycles by " << writers << " processes, " << least->load() << " to " << most->load()
            << " each" << std::endl;
  return ground->answer.data();
}

std::chrono::milliseconds time_of_each() {
  return std::chrono::milliseconds(how_many("WALLOCK_SOAK_SECONDS", 3) * 1000 / 2);
}

}  // namespace

// Case O1: enqueue, claim, settle and renew meet, and no SQLITE_BUSY reaches a caller. Case G4: the
// sixteen append to one ledger, and it is whole.
TEST_CASE("16 processes in a closed loop at every_answer: nobody is answered busy") {
  CHECK(run({.shares_flushes = true}, time_of_each()).empty());
  CHECK(run({.shares_flushes = false}, time_of_each()).empty());
}

TEST_CASE("closed loop: who allows a millisecond only is answered busy, and it is seen") {
  const auto answer = run({.operation_timeout = std::chrono::milliseconds(1)}, patience);
  INFO(answer);
  CHECK(answer.starts_with("busy"));
}
