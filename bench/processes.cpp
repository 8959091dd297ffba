// How do processes get along on one file? Each does operations on a resource of its own in a closed
// loop: how many in all, how evenly, and how long did the unluckiest one wait?
#include <algorithm>
#include <map>

#include "support/arguments.hpp"
#include "support/closed_loop.hpp"
#include "support/crowd.hpp"
#include "support/levels.hpp"
#include "support/machine.hpp"
#include "support/rows.hpp"
#include "support/scratch_folder.hpp"

namespace {

using namespace wallock;
using namespace wallock::bench;

constexpr const char* usage =
    "usage: wallock_bench_processes [--dir=FOLDER] [--level=every_answer|commits|relaxed]\n"
    "  [--processes=1,2,4,8,16] [--rounds=3] [--milliseconds=2000 of each round] [--json=FILE]\n"
    "An operation that fails, with busy or anything else, ends the run.";

// What one process tells the others' parent.
struct Told {
  std::uint64_t operations = 0;
  double seconds = 0, p50 = 0, p99 = 0, longest = 0;
};

// The figures of one number of processes, one value per round.
struct Rounds {
  std::vector<double> per_second, p50, p99, longest, longest_share, jain;
};

// Jain's index of fairness: 1 when all got the same, 1/n when one got everything.
double jain(const Shared<Told>& told) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < told.size(); ++i) {
    const auto got = static_cast<double>(told[i].operations);
    sum += got;
    squares += got * got;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(told.size()) * squares) : 0;
}

void run_processes(const std::string& path, Durability level, LoopKind kind,
                   const std::string& round, std::chrono::milliseconds length, Shared<Told>& told) {
  StartLine start(told.size());
  run_crowd(told.size(), [&](std::size_t i) {
    Coordinator coordinator = must(Coordinator::open(path, {.durability = level}));
    start.wait();
    const Served served =
        loop_on_own_resource(coordinator, kind, round + "-" + std::to_string(i), length);
    const auto& times = served.microseconds;
    told[i] = {.operations = times.size(),
               .seconds = served.seconds,
               .p50 = percentile(times, 50),
               .p99 = percentile(times, 99),
               .longest = percentile(times, 100)};
  });
}

void add_round(const Shared<Told>& told, Rounds& rounds) {
  double operations = 0, seconds = 0, p50 = 0, p99 = 0, longest = 0;
  const auto processes = static_cast<double>(told.size());
  for (std::size_t i = 0; i < told.size(); ++i) {
    operations += static_cast<double>(told[i].operations);
    seconds = std::max(seconds, told[i].seconds);
    p50 += told[i].p50 / processes;
    p99 = std::max(p99, told[i].p99);
    longest = std::max(longest, told[i].longest);
  }
  // In a closed loop everybody's fair share of waiting is the time divided by its own operations.
  const double fair_us = 1e6 * seconds * processes / std::max(operations, 1.0);
  rounds.per_second.push_back(seconds > 0 ? operations / seconds : 0);
  rounds.p50.push_back(p50);
  rounds.p99.push_back(p99);
  rounds.longest.push_back(longest);
  rounds.longest_share.push_back(longest / fair_us);
  rounds.jain.push_back(jain(told));
}

std::vector<Row> rows_of(LoopKind kind, const std::map<std::size_t, Rounds>& measured) {
  std::vector<Row> rows;
  const double alone = median(measured.begin()->second.per_second);
  for (const auto& [processes, rounds] : measured) {
    const std::string name = to_string(kind) + "/" + std::to_string(processes) + " processes/";
    rows.push_back(row_of_rounds(name + "operations", rounds.per_second, "per s",
                                 median(rounds.per_second) / alone));
    rows.push_back(row_of_rounds(name + "jain", rounds.jain, "index"));
    rows.push_back(row_of_rounds(name + "p50", rounds.p50, "us"));
    rows.push_back(row_of_rounds(name + "p99", rounds.p99, "us"));
    rows.push_back(row_of_rounds(name + "longest", rounds.longest, "us"));
    rows.push_back(row_of_rounds(name + "longest_share", rounds.longest_share, "x fair"));
  }
  return rows;
}

std::vector<Row> measure(LoopKind kind, const Arguments& arguments, Durability level) {
  const ScratchFolder folder(arguments.text("dir", "."), "processes");
  const std::string path = folder.str() + "/store.db";
  const std::chrono::milliseconds length(arguments.number("milliseconds", 2000));
  {
    Shared<Told> unused(2);
    run_processes(path, level, kind, "warm", length / 4, unused);
  }
  std::map<std::size_t, Rounds> measured;
  for (std::size_t round = 0; round < arguments.number("rounds", 3); ++round) {
    for (const std::size_t processes : arguments.numbers("processes", {1, 2, 4, 8, 16})) {
      Shared<Told> told(processes);
      run_processes(path, level, kind, std::to_string(processes) + "-" + std::to_string(round),
                    length, told);
      add_round(told, measured[processes]);
    }
  }
  return rows_of(kind, measured);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, usage);
  const Durability level = level_of(arguments.text("level", "every_answer"));
  const std::string dir = arguments.text("dir", ".");
  std::filesystem::create_directories(dir);
  const Machine machine = describe_machine(dir, level);
  std::vector<Row> rows = measure(LoopKind::execute, arguments, level);
  for (Row& row : measure(LoopKind::lease, arguments, level))
    rows.push_back(std::move(row));
  print(machine, rows);
  write_json(arguments.text("json", ""), machine, rows);
  return EXIT_SUCCESS;
}
