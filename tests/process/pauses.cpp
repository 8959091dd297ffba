#include "pauses.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "child_process.hpp"
#include "counters.hpp"
#include "process_support.hpp"
#include "sqlite/invariants.hpp"

namespace wallock::test {
namespace {

using std::chrono::microseconds;
using SteadyClock = std::chrono::steady_clock;
using Outcome = PauseGround::Outcome;

template <class Predicate>
void await(Predicate is_so) {
  const auto end = SteadyClock::now() + patience;
  while (!is_so()) {
    REQUIRE(SteadyClock::now() < end);
    std::this_thread::sleep_for(microseconds(100));
  }
}

// In a process of its own: one that has the store open must not fork the workers.
int prepare(const std::string& database) {
  auto coordinator = Coordinator::open(database);
  if (!coordinator) return 1;
  const auto work = [](Transaction& transaction) {
    for (std::size_t i = 0; i < pause_resources; ++i)
      create_counter(wallock::database(transaction), "r" + std::to_string(i));
  };
  return coordinator->execute("setup", ActionFields{.id = "setup"}, work) ? 0 : 1;
}

}  // namespace

Pauses::Pauses(bool fenced, unsigned seed) : fenced_(fenced), random_(seed) {
  REQUIRE(Fork([this] { return prepare(database()); }).wait() == 0);
  for (std::size_t i = 0; i < pause_workers; ++i) {
    const auto own_seed = static_cast<unsigned>(random_());
    workers_.emplace_back([this, i, own_seed] {
      return work_with_pauses(*ground_, database(), fenced_, i, own_seed);
    });
  }
}

// Somebody who says that it is there.
std::size_t Pauses::find(Phase phase) {
  std::size_t place = random_() % pause_workers;
  await([&] {
    place = (place + 1) % pause_workers;
    return ground_->places[place].phase == phase || ground_->broken != 0;
  });
  return place;
}

// True if it stands still there; false, and it goes on, if it was somewhere else by then.
bool Pauses::stop_in(std::size_t place, Phase phase) {
  const bool stands = workers_[place].stop();
  INFO(ground_->answer.data());
  REQUIRE(stands);
  if (ground_->places[place].phase == phase) return true;
  workers_[place].signal(SIGCONT);
  return false;
}

bool Pauses::is_superseded(std::size_t place) const {
  const auto& own = ground_->places[place];
  return ground_->latest[own.resource] > own.token;
}

Outcome Pauses::outcome_of(std::size_t place) {
  auto& own = ground_->places[place];
  own.watched = true;
  workers_[place].signal(SIGCONT);
  await([&] { return own.outcome != Outcome::pending || ground_->broken != 0; });
  const Outcome outcome = own.outcome;
  own.watched = false;
  return outcome;
}

void Pauses::stop_working() {
  constexpr std::size_t most = pause_workers / 2;
  std::vector<std::size_t> stopped;
  for (std::size_t i = 0; i < most; ++i) {
    const std::size_t place = find(Phase::working);
    if (std::ranges::find(stopped, place) != stopped.end()) continue;
    if (stop_in(place, Phase::working)) stopped.push_back(place);
  }
  for (const std::size_t place : stopped) {
    await([&] { return is_superseded(place) || ground_->broken != 0; });
    ++tally_.working;
  }
  for (const std::size_t place : stopped)
    ++(outcome_of(place) == Outcome::stale ? tally_.refused : tally_.accepted);
}

// Somebody began a call after the stop and was answered busy, while the stop lasts.
bool Pauses::was_refused_in_time(std::size_t stopped,
                                 const std::array<std::uint32_t, pause_workers>& calls) const {
  for (std::size_t i = 0; i < pause_workers; ++i) {
    if (i != stopped && ground_->places[i].busy_call > calls[i]) return true;
  }
  return ground_->broken != 0;
}

void Pauses::stop_inside() {
  const std::size_t place = find(Phase::inside);
  if (!stop_in(place, Phase::inside)) return;
  const auto& own = ground_->places[place];
  std::array<std::uint32_t, pause_workers> calls{};
  for (std::size_t i = 0; i < pause_workers; ++i)
    calls[i] = ground_->places[i].calls;
  await([&] {
    const bool is_over = system_clock()->now().time_since_epoch().count() > own.expires_at;
    return is_over && was_refused_in_time(place, calls);
  });
  ++tally_.inside;
  // Nobody can have had the resource since it was found to have the right to write.
  CHECK(outcome_of(place) == Outcome::accepted);
}

std::uint64_t Pauses::commits() const {
  std::uint64_t sum = 0;
  for (const auto& place : ground_->places)
    sum += place.commits;
  return sum;
}

std::vector<std::string> Pauses::end() {
  ground_->over = true;
  std::vector<std::string> wrong;
  for (Fork& worker : workers_) {
    if (worker.wait() != 0) wrong.emplace_back("a worker failed");
  }
  if (ground_->broken != 0) wrong.push_back(std::string("answered: ") + ground_->answer.data());
  for (const auto& violation : must(sqlite::check_invariants(database())))
    wrong.push_back(to_string(violation));
  if (integrity_check(database()) != "ok") wrong.emplace_back("integrity_check");
  History rows;
  SQLite::Database connection(database(), SQLite::OPEN_READONLY, 10'000);
  read_increments(connection, rows);
  std::int64_t sum = 0;
  for (const auto& [resource, counter] : rows.counters)
    sum += counter;
  if (sum != static_cast<std::int64_t>(commits())) {
    wrong.push_back("acknowledged " + std::to_string(commits()) + ", counted " +
                    std::to_string(sum));
  }
  return wrong;
}

}  // namespace wallock::test
