// How does waiting for a lease go? From the release to the next holder in another process, from
// SIGKILL of a holder whose lease would last a minute to its successor, and what a process costs
// while it waits.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "support/arguments.hpp"
#include "support/crowd.hpp"
#include "support/levels.hpp"
#include "support/machine.hpp"
#include "support/recorder.hpp"
#include "support/rows.hpp"
#include "support/scratch_folder.hpp"
#include "support/sides.hpp"
#include "support/statistics.hpp"

namespace {

using namespace wallock;
using namespace wallock::bench;
using namespace std::chrono_literals;

constexpr const char* usage =
    "usage: wallock_bench_waiting [--dir=FOLDER] [--level=every_answer|commits|relaxed]\n"
    "  [--releases=500] [--kills=200] [--idle-waiters=1,8] [--idle-seconds=3] [--json=FILE]";

// Long enough for the other process to be asleep in its acquire.
constexpr auto settle = 3ms;
// A take-over that takes longer counts as none.
constexpr auto take_over_patience = 2s;
constexpr std::size_t most_misses = 3;
constexpr auto long_ttl = 60s;

Coordinator open_store(const std::string& path, Durability level) {
  return must(Coordinator::open(path, {.durability = level}));
}

double micros(std::int64_t ns) { return static_cast<double>(ns) / 1000; }

// Two processes hand one lease to and fro; times[n] is of its n-th holder.
struct Stamps {
  std::int64_t acquired = 0, release_called = 0, release_returned = 0;
};

void pass_to_and_fro(Coordinator& coordinator, std::size_t me, Shared<Stamps>& stamps,
                     std::atomic<std::uint32_t>& holders) {
  for (std::size_t turn = me; turn < stamps.size(); turn += 2) {
    await(holders, static_cast<std::uint32_t>(turn));
    const Lease lease = must(coordinator.acquire("account", {.wait = 30s}));
    stamps[turn].acquired = now_ns();
    holders = static_cast<std::uint32_t>(turn + 1);
    std::this_thread::sleep_for(settle);
    stamps[turn].release_called = now_ns();
    must(coordinator.release(lease));
    stamps[turn].release_returned = now_ns();
  }
}

std::vector<Row> measure_releases(const std::string& path, Durability level, std::size_t releases) {
  Shared<Stamps> stamps(releases + 1);
  Shared<std::atomic<std::uint32_t>> holders;
  run_crowd(2, [&](std::size_t me) {
    Coordinator coordinator = open_store(path, level);
    pass_to_and_fro(coordinator, me, stamps, *holders);
  });
  std::vector<double> from_call, from_return;
  for (std::size_t i = 0; i + 1 < stamps.size(); ++i) {
    from_call.push_back(micros(stamps[i + 1].acquired - stamps[i].release_called));
    from_return.push_back(micros(stamps[i + 1].acquired - stamps[i].release_returned));
  }
  const std::string note = "below 0: acquired before the release had returned";
  return {{.name = "release to acquired/p50", .value = percentile(from_call, 50), .unit = "us"},
          {.name = "release to acquired/p99", .value = percentile(from_call, 99), .unit = "us"},
          {.name = "committed to acquired/p50",
           .value = percentile(from_return, 50),
           .unit = "us",
           .note = note},
          {.name = "committed to acquired/p99",
           .value = percentile(from_return, 99),
           .unit = "us",
           .note = note}};
}

// What parent, holder and waiter tell each other in a take-over; each counts the rounds it is in.
struct Round {
  std::atomic<std::uint32_t> held{0}, waiting{0}, done{0};
  std::atomic<std::int64_t> taken_at{0};  // 0: not taken over in time
};

std::string resource_of(std::uint32_t round) { return "account-" + std::to_string(round); }

void hold_until_killed(const std::string& path, Durability level, std::uint32_t number,
                       Round& round) {
  Coordinator coordinator = open_store(path, level);
  must(coordinator.acquire(resource_of(number), {.ttl = long_ttl}));
  round.held = number;
  for (;;)
    pause();
}

void take_over(const std::string& path, Durability level, std::uint32_t rounds, Round& round) {
  Coordinator coordinator = open_store(path, level);
  for (std::uint32_t number = 1; number <= rounds; ++number) {
    await(round.held, number);
    round.waiting = number;
    const auto lease = coordinator.acquire(resource_of(number), {.wait = take_over_patience});
    round.taken_at = lease ? now_ns() : 0;
    if (lease) must(coordinator.release(*lease));
    round.done = number;
  }
}

std::vector<Row> measure_kills(const std::string& path, Durability level, std::size_t kills) {
  Shared<Round> round;
  const auto rounds = static_cast<std::uint32_t>(kills);
  const pid_t waiter = spawn([&] { take_over(path, level, rounds, *round); });
  std::vector<double> times;
  std::size_t misses = 0;
  for (std::uint32_t number = 1; number <= rounds && misses < most_misses; ++number) {
    const pid_t holder = spawn([&] { hold_until_killed(path, level, number, *round); });
    await(round->waiting, number);
    std::this_thread::sleep_for(settle);
    const std::int64_t killed_at = now_ns();
    kill_and_join(holder);
    await(round->done, number);
    if (round->taken_at == 0) {
      ++misses;
    } else {
      times.push_back(micros(round->taken_at - killed_at));
    }
  }
  kill_and_join(waiter);
  std::vector<Row> rows{{.name = "SIGKILL to acquired/taken over",
                         .value = static_cast<double>(times.size()),
                         .unit = "times",
                         .note = std::to_string(misses) + " not taken over within 2 s"}};
  if (times.empty()) return rows;
  rows.push_back({.name = "SIGKILL to acquired/p50", .value = percentile(times, 50), .unit = "us"});
  rows.push_back({.name = "SIGKILL to acquired/p99", .value = percentile(times, 99), .unit = "us"});
  return rows;
}

// What a process used while it waited.
struct Idle {
  double processor_us = 0, switches = 0, seconds = 0;
};

Idle wait_in_vain(Coordinator& coordinator, std::chrono::seconds length) {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const auto processor_before = processor_time();
  const std::int64_t start = now_ns();
  if (coordinator.acquire("busy", {.wait = length})) std::exit(EXIT_FAILURE);
  const auto used = processor_time() - processor_before;
  getrusage(RUSAGE_SELF, &after);
  return {.processor_us = std::chrono::duration<double, std::micro>(used).count(),
          .switches = static_cast<double>(after.ru_nvcsw - before.ru_nvcsw),
          .seconds = micros(now_ns() - start) / 1e6};
}

std::vector<Row> measure_idle(const std::string& path, Durability level, std::size_t waiters,
                              std::chrono::seconds length) {
  Shared<Idle> idle(waiters);
  Shared<Round> round;
  const pid_t holder = spawn([&] {
    Coordinator coordinator = open_store(path, level);
    must(coordinator.acquire("busy", {.ttl = long_ttl}));
    round->held = 1;
    for (;;)
      pause();
  });
  await(round->held, 1);
  StartLine start(waiters);
  run_crowd(waiters, [&](std::size_t i) {
    Coordinator coordinator = open_store(path, level);
    start.wait();
    idle[i] = wait_in_vain(coordinator, length);
  });
  kill_and_join(holder);
  double share = 0, switches = 0;
  for (std::size_t i = 0; i < waiters; ++i) {
    share = std::max(share, 100 * idle[i].processor_us / 1e6 / idle[i].seconds);
    switches = std::max(switches, idle[i].switches / idle[i].seconds);
  }
  const std::string name = "idle/" + std::to_string(waiters) + " waiters/";
  const std::string note = "the costliest of them";
  return {{.name = name + "processor", .value = share, .unit = "% core", .note = note},
          {.name = name + "wake-ups", .value = switches, .unit = "per s", .note = note}};
}

void append(std::vector<Row>& rows, const std::vector<Row>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, usage);
  const Durability level = level_of(arguments.text("level", "commits"));
  const std::string dir = arguments.text("dir", ".");
  std::filesystem::create_directories(dir);
  const Machine machine = describe_machine(dir, level);
  std::vector<Row> rows;
  {
    const ScratchFolder folder(dir, "waiting");
    append(rows, measure_releases(folder.str() + "/releases.db", level,
                                  arguments.number("releases", 500)));
    append(rows, measure_kills(folder.str() + "/kills.db", level, arguments.number("kills", 200)));
    for (const std::size_t waiters : arguments.numbers("idle-waiters", {1, 8}))
      append(rows,
             measure_idle(folder.str() + "/idle-" + std::to_string(waiters) + ".db", level, waiters,
                          std::chrono::seconds(arguments.number("idle-seconds", 3))));
  }
  print(machine, rows);
  write_json(arguments.text("json", ""), machine, rows);
  return EXIT_SUCCESS;
}
