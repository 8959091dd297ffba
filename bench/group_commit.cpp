// What do threads gain from sharing one Coordinator, that is, one transaction and one flush? Every
// thread does operations on a resource of its own in a closed loop.
#include <atomic>
#include <map>
#include <thread>

#include "support/arguments.hpp"
#include "support/closed_loop.hpp"
#include "support/levels.hpp"
#include "support/machine.hpp"
#include "support/rows.hpp"
#include "support/scratch_folder.hpp"

namespace {

using namespace wallock;
using namespace wallock::bench;

constexpr const char* usage =
    "usage: wallock_bench_group_commit [--dir=FOLDER] [--level=every_answer|commits|relaxed]\n"
    "  [--threads=1,4,16,64] [--rounds=3] [--milliseconds=1000 of each round] [--json=FILE]";

Served run_threads(Coordinator& coordinator, LoopKind kind, std::size_t threads,
                   const std::string& round, std::chrono::milliseconds length) {
  std::vector<Served> served(threads);
  std::atomic<bool> go = false;
  {
    std::vector<std::jthread> running;
    running.reserve(threads);
    for (std::size_t i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        go.wait(false);
        served[i] =
            loop_on_own_resource(coordinator, kind, round + "-" + std::to_string(i), length);
      });
    }
    go = true;
    go.notify_all();
  }
  Served all;
  for (const Served& one : served)
    all.join(one);
  return all;
}

// The figures of one number of threads, one value per round.
struct Rounds {
  std::vector<double> per_second, p50, p99, per_transaction;
};

std::vector<Row> rows_of(LoopKind kind, const std::map<std::size_t, Rounds>& measured) {
  std::vector<Row> rows;
  const double alone = median(measured.begin()->second.per_second);
  for (const auto& [threads, rounds] : measured) {
    const std::string name = to_string(kind) + "/" + std::to_string(threads) + " threads/";
    rows.push_back(row_of_rounds(name + "operations", rounds.per_second, "per s",
                                 median(rounds.per_second) / alone));
    rows.push_back(row_of_rounds(name + "p50", rounds.p50, "us"));
    rows.push_back(row_of_rounds(name + "p99", rounds.p99, "us"));
    rows.push_back(row_of_rounds(name + "per_transaction", rounds.per_transaction, "per op"));
  }
  return rows;
}

// One store, warmed up, for one kind of loop; the numbers of threads take turns on it.
std::vector<Row> measure(LoopKind kind, const Arguments& arguments, Durability level) {
  const ScratchFolder folder(arguments.text("dir", "."), "group_commit");
  Coordinator coordinator =
      must(Coordinator::open(folder.str() + "/store.db", {.durability = level}));
  const std::chrono::milliseconds length(arguments.number("milliseconds", 1000));
  static_cast<void>(run_threads(coordinator, kind, 4, "warm", length / 2));
  std::map<std::size_t, Rounds> measured;
  for (std::size_t round = 0; round < arguments.number("rounds", 3); ++round) {
    for (const std::size_t threads : arguments.numbers("threads", {1, 4, 16, 64})) {
      const Health before = must(coordinator.health());
      const Served served =
          run_threads(coordinator, kind, threads,
                      std::to_string(threads) + "-" + std::to_string(round), length);
      const Health after = must(coordinator.health());
      Rounds& rounds = measured[threads];
      rounds.per_second.push_back(served.per_second());
      rounds.p50.push_back(percentile(served.microseconds, 50));
      rounds.p99.push_back(percentile(served.microseconds, 99));
      rounds.per_transaction.push_back(static_cast<double>(after.operations - before.operations) /
                                       static_cast<double>(std::max<std::uint64_t>(
                                           after.transactions - before.transactions, 1)));
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
