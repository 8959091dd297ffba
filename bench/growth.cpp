// Does an operation get dearer as the store grows? Each condition is held against a small store of
// the same run, asked by turns. What a large store holds is put into it by plain SQL: an acquire
// reads single rows by their keys, and looks at nothing else of them. The baseline, a lease row and
// nothing else, tells how much of it is SQLite's.
#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <random>

#include "support/arguments.hpp"
#include "support/levels.hpp"
#include "support/machine.hpp"
#include "support/process_use.hpp"
#include "support/recorder.hpp"
#include "support/rows.hpp"
#include "support/scratch_folder.hpp"
#include "support/sides.hpp"
#include "support/statistics.hpp"

namespace {

using namespace wallock;
using namespace wallock::bench;

constexpr const char* usage =
    "usage: wallock_bench_growth [--dir=FOLDER] [--level=every_answer|commits|relaxed]\n"
    "  [--resources=1000000] [--records=10000000] [--operations=1000000 for memory]\n"
    "  [--rounds=5] [--turns=2000 acquires of a round] [--json=FILE]";

constexpr std::size_t few = 100;

// A plain connection to a store that nobody has open.
class Raw {
 public:
  explicit Raw(const std::string& path) {
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) give_up();
    sqlite3_wal_autocheckpoint(db_, 100'000);
    // Of a position: how many subtrees its record completes.
    sqlite3_create_function(db_, "trailing_ones", 1, SQLITE_UTF8, nullptr, &trailing_ones, nullptr,
                            nullptr);
    run("PRAGMA synchronous=OFF");
    run("PRAGMA cache_size=-200000");
  }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;
  ~Raw() {
    sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    sqlite3_close(db_);
  }
  void run(const std::string& sql) {
    if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) give_up();
  }

 private:
  static void trailing_ones(sqlite3_context* context, int, sqlite3_value** values) {
    sqlite3_result_int(context,
                       std::countr_one(static_cast<std::uint64_t>(sqlite3_value_int64(values[0]))));
  }
  [[noreturn]] void give_up() const {
    std::fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(db_));
    std::exit(EXIT_FAILURE);
  }
  sqlite3* db_ = nullptr;
};

std::string name_of(std::size_t i) {
  const std::string digits = std::to_string(i);
  return "account-" + std::string(8 - std::min<std::size_t>(digits.size(), 8), '0') + digits;
}

std::string numbers_below(std::size_t count) {
  return "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < " +
         std::to_string(count) + ") ";
}

enum class Leases { none, expired };

// Under a token of the store's first epoch: resources as they are after a grant that was released,
// or that ran out long ago.
void add_resources(const std::string& path, std::size_t count, Leases leases) {
  Raw raw(path);
  raw.run("BEGIN");
  const std::string tenure =
      leases == Leases::expired ? "'worker-0', 1, 1, 2" : "NULL, NULL, NULL, NULL";
  raw.run(numbers_below(count) +
          "INSERT INTO wallock_resources (resource, max_fence, issued, has_breaker, holder, "
          "instance, granted_at, expires_at) SELECT printf('account-%08d', i), (1 << 43) - 1, "
          "1 << 43, 0, " +
          tenure + " FROM n");
  raw.run("COMMIT");
}

// The same rows of the baseline's.
void add_baseline_resources(const std::string& path, std::size_t count) {
  Raw raw(path);
  raw.run("BEGIN");
  raw.run(numbers_below(count) +
          "INSERT INTO leases (resource, token, expires) SELECT printf('account-%08d', i), 1, 0 "
          "FROM n");
  raw.run("COMMIT");
}

// Records of the usual size. Their hashes are of no tree: nothing is verified here.
void add_records(const std::string& path, std::size_t count) {
  constexpr std::size_t at_once = 1'000'000;
  Raw raw(path);
  for (std::size_t from = 1; from < count; from += at_once) {
    raw.run("BEGIN");
    raw.run(numbers_below(std::min(at_once, count - from)) +
            "INSERT INTO wallock_lease_queue_events (position, kind, resource, token, until_at, "
            "actor, recorded_at, leaf_hash, nodes) SELECT p, 10, printf('account-%08d', p % 100), "
            "(1 << 43) | p, 1, 'worker-0', 1, randomblob(32), nullif(zeroblob(32 * "
            "trailing_ones(p)), x'') FROM (SELECT i + " +
            std::to_string(from) + " AS p FROM n)");
    raw.run("COMMIT");
  }
}

// One of so many resources, any of them.
class AnyResource {
 public:
  explicit AnyResource(std::size_t count) : count_(count) {}
  [[nodiscard]] std::string operator()() { return name_of(random_() % count_); }

 private:
  std::size_t count_;
  std::mt19937_64 random_{4711};
};

double microseconds_since(Time::time_point start) {
  return std::chrono::duration<double, std::micro>(Time::now() - start).count();
}

// A store to be asked by turns.
class Asked {
 public:
  Asked(std::string path, Durability level, std::size_t resources)
      : path_(std::move(path)), level_(level), resource_(resources) {
    static_cast<void>(must(Coordinator::open(path_, {.durability = level_})));
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  void open() { coordinator_.emplace(must(Coordinator::open(path_, {.durability = level_}))); }
  [[nodiscard]] Coordinator& coordinator() { return coordinator_.value(); }

  // Acquires one of its resources, any of them, and gives it back untimed.
  [[nodiscard]] double acquire() {
    const std::string name = resource_();
    const auto start = Time::now();
    const Lease lease = must(coordinator().acquire(name));
    const double took = microseconds_since(start);
    static_cast<void>(must(coordinator().release(lease)));
    return took;
  }

 private:
  std::string path_;
  Durability level_;
  AnyResource resource_;
  std::optional<Coordinator> coordinator_ = {};
};

// The same of the baseline.
class AskedBaseline {
 public:
  AskedBaseline(std::string path, Durability level, std::size_t resources)
      : path_(std::move(path)), level_(level), resource_(resources) {
    const Baseline creates_the_tables(path_, level_);
    add_baseline_resources(path_, resources);
  }

  void open() { database_.emplace(path_, level_); }

  [[nodiscard]] double acquire() {
    const std::string name = resource_();
    const auto start = Time::now();
    const std::int64_t token = database_->acquire(name, "worker-0");
    const double took = microseconds_since(start);
    database_->release(name, token);
    return took;
  }

 private:
  std::string path_;
  Durability level_;
  AnyResource resource_;
  std::optional<Baseline> database_ = {};
};

struct Effort {
  std::size_t rounds;
  std::size_t turns;
};

// The p50 of the large store, beside that of the small one in the same round.
template <class Kind>
std::vector<Row> compare(const std::string& name, Kind& small, Kind& large, Effort effort,
                         const std::string& target) {
  small.open();
  large.open();
  for (std::size_t i = 0; i < effort.turns; ++i) {
    static_cast<void>(small.acquire());
    static_cast<void>(large.acquire());
  }
  std::vector<double> of_small, of_large, ratios;
  for (std::size_t round = 0; round < effort.rounds; ++round) {
    std::vector<double> small_us, large_us;
    for (std::size_t i = 0; i < effort.turns; ++i) {
      small_us.push_back(small.acquire());
      large_us.push_back(large.acquire());
    }
    of_small.push_back(percentile(small_us, 50));
    of_large.push_back(percentile(large_us, 50));
    ratios.push_back(of_large.back() / of_small.back());
  }
  Row row = row_of_rounds(name + "/acquire p50", of_large, "us", median(ratios));
  row.note = target;
  return {row_of_rounds(name + "/acquire p50, small", of_small, "us"), row};
}

std::vector<Row> measure_opening(const std::string& path, Durability level, std::size_t rounds) {
  std::vector<double> times;
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto start = Time::now();
    static_cast<void>(must(Coordinator::open(path, {.durability = level})));
    times.push_back(std::chrono::duration<double, std::milli>(Time::now() - start).count());
  }
  Row row = row_of_rounds("open, many resources", times, "ms");
  row.note = "target <= 50; with closing";
  return {row};
}

// Acquires and releases over many resources; what is resident after a tenth, and at the end.
std::vector<Row> measure_memory(Asked& asked, std::size_t operations) {
  asked.open();
  std::size_t early = 0;
  for (std::size_t done = 0; done < operations; done += 2) {
    static_cast<void>(asked.acquire());
    if (early == 0 && done >= operations / 10) early = resident_kib();
  }
  const std::size_t late = resident_kib();
  return {{.name = "memory/after a tenth", .value = static_cast<double>(early), .unit = "KiB"},
          {.name = "memory/at the end",
           .value = static_cast<double>(late),
           .unit = "KiB",
           .ratio = early == 0 ? 0 : static_cast<double>(late) / static_cast<double>(early),
           .note = std::to_string(operations) + " operations; wanted flat"}};
}

void append(std::vector<Row>& rows, std::vector<Row> more) {
  for (Row& row : more)
    rows.push_back(std::move(row));
}

std::vector<Row> measure(const Arguments& arguments, const std::string& dir, Durability level) {
  const std::size_t many = arguments.number("resources", 1'000'000);
  const std::size_t records = arguments.number("records", 10'000'000);
  const Effort effort{arguments.number("rounds", 5), arguments.number("turns", 2000)};
  const ScratchFolder folder(dir, "growth");
  const auto small = [&](const std::string& name) {
    auto asked = std::make_unique<Asked>(folder.str() + "/" + name + "-small.db", level, few);
    add_resources(asked->path(), few, Leases::none);
    return asked;
  };
  std::vector<Row> rows;
  for (const Leases leases : {Leases::none, Leases::expired}) {
    const std::string name = leases == Leases::none ? "resources" : "expired leases";
    const auto little = small(name);
    Asked large(folder.str() + "/" + name + ".db", level, many);
    add_resources(large.path(), many, leases);
    if (leases == Leases::none) append(rows, measure_opening(large.path(), level, effort.rounds));
    append(rows, compare(std::to_string(many) + " " + name, *little, large, effort,
                         leases == Leases::none ? "target ratio <= 1.3" : "as many resources"));
    if (leases == Leases::none) {
      append(rows, measure_memory(large, arguments.number("operations", 1'000'000)));
    }
  }
  AskedBaseline little_baseline(folder.str() + "/baseline-small.db", level, few);
  AskedBaseline large_baseline(folder.str() + "/baseline.db", level, many);
  append(rows, compare("baseline, " + std::to_string(many) + " resources", little_baseline,
                       large_baseline, effort, "what is SQLite's of it"));
  const auto little = small("records");
  Asked large(folder.str() + "/records.db", level, few);
  add_resources(large.path(), few, Leases::none);
  add_records(large.path(), records);
  append(rows, compare(std::to_string(records) + " records", *little, large, effort,
                       "target ratio <= 1.2"));
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, usage);
  const std::string dir = arguments.text("dir", ".");
  std::filesystem::create_directories(dir);
  const Durability level = level_of(arguments.text("level", "commits"));
  Machine machine = describe_machine(dir);
  machine.emplace_back("level", std::string(to_string(level)));
  const std::vector<Row> rows = measure(arguments, dir, level);
  print(machine, rows);
  write_json(arguments.text("json", ""), machine, rows);
  return EXIT_SUCCESS;
}
