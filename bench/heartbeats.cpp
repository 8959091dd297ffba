// What does it cost a process to keep many leases alive? Guards are made and left alone; the
// processor time that the whole process takes meanwhile is that of their heartbeats.
#include <algorithm>
#include <random>
#include <thread>

#include "sqlite/open_repository.hpp"
#include "support/arguments.hpp"
#include "support/levels.hpp"
#include "support/machine.hpp"
#include "support/process_use.hpp"
#include "support/recorder.hpp"
#include "support/rows.hpp"
#include "support/scratch_folder.hpp"
#include "support/sides.hpp"
#include "support/statistics.hpp"
#include "wallock/lease_guard.hpp"

namespace {

using namespace wallock;
using namespace wallock::bench;

constexpr const char* usage =
    "usage: wallock_bench_heartbeats [--dir=FOLDER] [--level=every_answer|commits|relaxed]\n"
    "  [--guards=10000] [--ttl-seconds=30] [--seconds=20 of measuring] [--spread-seconds=10]\n"
    "  [--batches=200] [--json=FILE]\n"
    "A guard that loses its lease ends the run.";

constexpr std::size_t together = 256;  // as the coordinator renews at most

std::string padded(std::size_t number) {
  const std::string digits = std::to_string(number);
  return std::string(8 - std::min<std::size_t>(digits.size(), 8), '0') + digits;
}

// In which order the guards come to be, and over what time.
struct Arrival {
  std::string name;
  bool shuffled = false;
  std::chrono::nanoseconds over{};
};

struct Settings {
  Durability level;
  std::size_t guards;
  std::chrono::seconds ttl;
  std::chrono::seconds length;
};

std::vector<LeaseGuard> make_guards(Coordinator& coordinator, const Settings& settings,
                                    const Arrival& arrival) {
  std::vector<std::size_t> order(settings.guards);
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  if (arrival.shuffled) std::shuffle(order.begin(), order.end(), std::mt19937_64(4711));
  std::vector<LeaseGuard> guards;
  guards.reserve(order.size());
  const auto start = Time::now();
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::this_thread::sleep_until(start + arrival.over * i / order.size());
    guards.push_back(must(coordinator.guard("account-" + padded(order[i]), {.ttl = settings.ttl})));
  }
  return guards;
}

// The share of one core, in percent, and what was done for it.
std::vector<Row> measure(const std::string& dir, const Settings& settings, const Arrival& arrival) {
  const ScratchFolder folder(dir, "heartbeats");
  Coordinator coordinator =
      must(Coordinator::open(folder.str() + "/store.db", {.durability = settings.level}));
  const auto guards = make_guards(coordinator, settings, arrival);
  // Some times around, so that what is measured is how it goes on.
  std::this_thread::sleep_for(settings.ttl);
  const auto before = must(coordinator.health());
  const auto records = must(coordinator.root()).size;
  const auto written = written_bytes();
  const auto start = Time::now();
  const auto used = processor_time();
  std::this_thread::sleep_for(settings.length);
  const std::chrono::duration<double> cpu = processor_time() - used;
  const std::chrono::duration<double> wall = Time::now() - start;
  const auto written_after = written_bytes();
  const auto after = must(coordinator.health());
  const auto records_after = must(coordinator.root()).size;
  for (const LeaseGuard& guard : guards) {
    if (guard.valid()) continue;
    std::fprintf(stderr, "%s was lost: %s\n", guard.lease().resource().str().c_str(),
                 std::string(to_string(guard.reason())).c_str());
    std::exit(EXIT_FAILURE);
  }
  const std::string name = std::to_string(settings.guards) + " guards/" + arrival.name + "/";
  const auto per_second = [&](std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(to - from) / wall.count();
  };
  return {{.name = name + "processor",
           .value = 100 * cpu / wall,
           .unit = "% core",
           .note = settings.guards == 10000 ? "target < 1" : ""},
          {.name = name + "transactions",
           .value = per_second(before.transactions, after.transactions),
           .unit = "per s"},
          {.name = name + "records", .value = per_second(records, records_after), .unit = "per s"},
          {.name = name + "written",
           .value = per_second(written, written_after) / 1024,
           .unit = "KiB/s"}};
}

// How long a batch of renewals takes, and so keeps the write lock.
std::vector<Row> measure_batches(const std::string& dir, const Settings& settings,
                                 std::size_t batches) {
  const ScratchFolder folder(dir, "heartbeats");
  const auto clock = system_clock();
  const auto opened = must(sqlite::open_repository(
      folder.str() + "/store.db", {.durability = settings.level}, InstanceId{7}, clock));
  LeaseRepository& store = *opened.repository;
  const auto soon = [&] { return clock->now() + std::chrono::seconds(10); };
  std::vector<RenewRequest> requests;
  requests.reserve(settings.guards);
  for (std::size_t i = 0; i < settings.guards; ++i) {
    requests.push_back(
        {.lease = must(store.acquire({.resource = must(ResourceName::parse("account-" + padded(i))),
                                      .holder = must(HolderId::parse("worker-1")),
                                      .instance = InstanceId{7},
                                      .ttl = max_ttl},
                                     {}, soon())),
         .ttl = max_ttl});
  }
  std::vector<Row> rows;
  for (const bool shuffled : {false, true}) {
    if (shuffled) std::shuffle(requests.begin(), requests.end(), std::mt19937_64(4711));
    std::vector<double> times;
    for (std::size_t n = 0; n < batches; ++n) {
      const std::size_t from = (n * together) % (requests.size() - together + 1);
      const auto start = Time::now();
      const auto answers =
          must(store.renew_all(std::span(requests).subspan(from, together), soon()));
      for (const auto& answer : answers)
        static_cast<void>(must(answer));
      times.push_back(std::chrono::duration<double, std::micro>(Time::now() - start).count());
    }
    const std::string name = std::string("renew_all/256 ") + (shuffled ? "shuffled" : "in order");
    rows.push_back({.name = name + "/p50", .value = percentile(times, 50), .unit = "us"});
    rows.push_back({.name = name + "/p99", .value = percentile(times, 99), .unit = "us"});
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, usage);
  const std::string dir = arguments.text("dir", ".");
  std::filesystem::create_directories(dir);
  Settings settings{.level = level_of(arguments.text("level", "commits")),
                    .guards = arguments.number("guards", 10'000),
                    .ttl = std::chrono::seconds(arguments.number("ttl-seconds", 30)),
                    .length = std::chrono::seconds(arguments.number("seconds", 20))};
  Machine machine = describe_machine(dir);
  machine.emplace_back("level", std::string(to_string(settings.level)));
  std::vector<Row> rows = measure_batches(dir, settings, arguments.number("batches", 200));
  const std::chrono::seconds spread(arguments.number("spread-seconds", 10));
  for (const Arrival& arrival : {Arrival{"at once, in order"},
                                 {"at once, shuffled", true},
                                 {"spread, in order", false, spread},
                                 {"spread, shuffled", true, spread}}) {
    for (Row& row : measure(dir, settings, arrival))
      rows.push_back(std::move(row));
  }
  settings.guards = 1;
  for (Row& row : measure(dir, settings, {"alone"}))
    rows.push_back(std::move(row));
  print(machine, rows);
  write_json(arguments.text("json", ""), machine, rows);
  return EXIT_SUCCESS;
}
