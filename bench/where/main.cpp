// Where does the time of one operation go: into the flush, the file's other calls, hashing, or the
// rest, which is SQLite's own code and ours? instructions.sh tells how that rest divides.
#include <algorithm>
#include <array>
#include <filesystem>

#include "spent.hpp"
#include "support/arguments.hpp"
#include "support/crowd.hpp"
#include "support/machine.hpp"
#include "support/rows.hpp"
#include "support/scratch_folder.hpp"
#include "support/sides.hpp"

namespace {

using namespace wallock;
using namespace wallock::bench;

constexpr const char* usage =
    "usage: wallock_bench_where [--dir=FOLDER] [--operations=1000] [--json=FILE]";
constexpr std::size_t warm_operations = 300;
constexpr const char* destination = "webhooks";

// Nanoseconds of one operation.
struct Parts {
  std::int64_t total = 0;
  Spent spent;

  [[nodiscard]] std::int64_t rest() const {
    return total - spent.flush - spent.files - spent.hashing;
  }
};

template <class Operation>
auto measure(std::vector<Parts>& parts, const Operation& operation) {
  const Spent before = spent_so_far();
  const std::int64_t start = now_ns();
  auto result = operation();
  const std::int64_t total = now_ns() - start;
  const Spent after = spent_so_far();
  parts.push_back(
      {total,
       {after.flush - before.flush, after.files - before.files, after.hashing - before.hashing}});
  return result;
}

struct Measured {
  std::vector<Parts> acquire, commit, release, claim, settle;
};

// One action on its way from acquire to settled.
void operate(Coordinator& coordinator, std::size_t number, Measured& measured) {
  const std::string resource = resource_name(number);
  const Lease lease =
      measure(measured.acquire, [&] { return must(coordinator.acquire(resource)); });
  const Batch batch(ActionFields{.id = action_id(number),
                                 .destination = destination,
                                 .payload = std::string(payload_bytes, 'p')});
  measure(measured.commit, [&] { return must(coordinator.commit(lease, batch)); });
  measure(measured.release, [&] { return must(coordinator.release(lease)); });
  const auto deliveries = measure(
      measured.claim, [&] { return must(coordinator.claim({.destination = destination})); });
  measure(measured.settle,
          [&] { return must(coordinator.settle(deliveries.at(0), DeliveryOutcome::delivered())); });
}

// The mean of the middle half by total time, in which there is neither a checkpoint nor a hiccup of
// the disk: unlike medians, its parts add up.
std::array<double, 5> typical(std::vector<Parts> parts) {
  std::sort(parts.begin(), parts.end(),
            [](const Parts& a, const Parts& b) { return a.total < b.total; });
  std::array<double, 5> sums{};
  const std::size_t first = parts.size() / 4, last = parts.size() - parts.size() / 4;
  for (std::size_t i = first; i < last; ++i) {
    const std::array<std::int64_t, 5> values{parts[i].total, parts[i].spent.flush,
                                             parts[i].spent.files, parts[i].spent.hashing,
                                             parts[i].rest()};
    for (std::size_t j = 0; j < sums.size(); ++j)
      sums[j] += static_cast<double>(values[j]) / 1000 / static_cast<double>(last - first);
  }
  return sums;
}

void append(std::vector<Row>& rows, const std::string& name, const std::vector<Parts>& parts) {
  constexpr std::array figures{"total", "flush", "files", "hashing", "rest"};
  const auto values = typical(parts);
  for (std::size_t i = 0; i < figures.size(); ++i)
    rows.push_back({.name = name + figures[i], .value = values[i], .unit = "us"});
}

std::vector<Row> measure_level(const std::string& dir, Durability level, std::size_t operations) {
  const ScratchFolder folder(dir, "where");
  Coordinator coordinator = must(Coordinator::open(
      folder.str() + "/store.db", {.durability = level, .holder = Given<HolderId>("worker-1")}));
  Measured unused, measured;
  for (std::size_t i = 0; i < warm_operations; ++i)
    operate(coordinator, i, unused);
  for (std::size_t i = 0; i < operations; ++i)
    operate(coordinator, warm_operations + i, measured);
  std::vector<Row> rows;
  const std::string suffix = "/" + std::string(to_string(level)) + "/";
  append(rows, "acquire" + suffix, measured.acquire);
  append(rows, "commit" + suffix, measured.commit);
  append(rows, "release" + suffix, measured.release);
  append(rows, "claim" + suffix, measured.claim);
  append(rows, "settle" + suffix, measured.settle);
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, usage);
  const std::string dir = arguments.text("dir", ".");
  std::filesystem::create_directories(dir);
  Machine machine = describe_machine(dir);
  machine.pop_back();  // the other programs' baseline
  std::vector<Row> rows;
  for (const Durability level : {Durability::every_answer, Durability::relaxed})
    for (Row& row : measure_level(dir, level, arguments.number("operations", 1000)))
      rows.push_back(std::move(row));
  print(machine, rows);
  write_json(arguments.text("json", ""), machine, rows);
  return EXIT_SUCCESS;
}
