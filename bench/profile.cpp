// Runs one operation in a loop, for a profiler to watch; with --statements prints what each SQL
// statement costs SQLite's virtual machine instead. See profile.sh.
#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "support/counts.hpp"
#include "support/questions.hpp"
#include "support/statement_trace.hpp"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION static_cast<void>(0)
#define CALLGRIND_STOP_INSTRUMENTATION static_cast<void>(0)
#endif

namespace {

using wallock::Durability;
using namespace wallock::bench;

constexpr std::size_t warm_operations = 200;

struct Request {
  std::string operation = "lease";
  Durability level = Durability::relaxed;
  std::size_t operations = 2000;
  std::string dir = ".";
  bool baseline = false;
  bool statements = false;
  std::string sql;
};

[[noreturn]] void usage() {
  std::fputs(
      "usage: wallock_bench_profile OPERATION [--level=every_answer|commits|relaxed] [--n=N]\n"
      "                             [--dir=FOLDER] [--baseline] [--statements] [--sql=SCRIPT]\n"
      "operations:",
      stderr);
  for (const auto& topic :
       {lease_questions(), commit_questions(), job_questions(), delivery_questions()})
    for (const Question& question : topic)
      std::fprintf(stderr, " %s", question.name.c_str());
  std::fputs("\n", stderr);
  std::exit(EXIT_FAILURE);
}

Durability level_of(std::string_view name) {
  for (const Durability level :
       {Durability::every_answer, Durability::commits, Durability::relaxed})
    if (to_string(level) == name) return level;
  usage();
}

Question question_of(const std::string& name) {
  for (const auto& topic :
       {lease_questions(), commit_questions(), job_questions(), delivery_questions()})
    for (const Question& question : topic)
      if (question.name == name) return question;
  usage();
}

Request parse(int argc, char** argv) {
  Request request;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--level=")) {
      request.level = level_of(argument.substr(8));
    } else if (argument.starts_with("--n=")) {
      request.operations = std::strtoul(argv[i] + 4, nullptr, 10);
    } else if (argument.starts_with("--dir=")) {
      request.dir = argument.substr(6);
    } else if (argument.starts_with("--sql=")) {
      request.sql = argument.substr(6);
    } else if (argument == "--baseline") {
      request.baseline = true;
    } else if (argument == "--statements") {
      request.statements = true;
    } else if (argument.starts_with("-")) {
      usage();
    } else {
      request.operation = argument;
    }
  }
  return request;
}

void print_statements(const Counts& counts, std::size_t operations) {
  const auto per_operation = [operations](std::int64_t value) {
    return static_cast<double>(value) / static_cast<double>(operations);
  };
  std::printf("per operation: %.2f statements, %.2f triggers, %.2f flushes, %.2f log writes\n",
              per_operation(counts.statements), per_operation(counts.triggers),
              per_operation(counts.flushes), per_operation(counts.writes));
  std::printf("%10s %10s %8s %8s  statement\n", "runs", "vm steps", "sorts", "scanned");
  for (const StatementCost& cost : statement_costs())
    std::printf("%10.3f %10.1f %8.2f %8.2f  %.110s\n", per_operation(cost.runs),
                per_operation(cost.machine_steps), per_operation(cost.sorts),
                per_operation(cost.full_scan_steps), cost.sql.c_str());
}

// Changes the schema under the open store: what does an operation cost without this trigger?
void run_script(const std::string& path, const std::string& sql) {
  sqlite3* connection = nullptr;
  if (sqlite3_open_v2(path.c_str(), &connection, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK ||
      sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    std::fprintf(stderr, "--sql: %s\n", sqlite3_errmsg(connection));
    std::exit(EXIT_FAILURE);
  }
  sqlite3_close(connection);
}

void loop(Side& side, std::size_t parts, std::size_t operations) {
  Recorder recorder(parts);
  for (std::size_t i = 0; i < operations; ++i)
    side.operate(recorder);
}

}  // namespace

int main(int argc, char** argv) {
  const Request request = parse(argc, argv);
  const Question question = question_of(request.operation);
  const std::filesystem::path folder = std::filesystem::path(request.dir) / "wallock_profile";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  {
    std::optional<Counting> counting;
    if (request.statements) counting.emplace();
    const auto side =
        (request.baseline ? question.baseline : question.wallock)(folder.string(), request.level);
    if (!request.sql.empty()) {
      run_script((folder / (request.baseline ? "baseline.db" : "store.db")).string(), request.sql);
    }
    side->prepare(warm_operations + request.operations);
    loop(*side, question.parts, warm_operations);
    if (counting) static_cast<void>(statement_costs());
    const Counts before = counting ? counting->now() : Counts{};
    CALLGRIND_START_INSTRUMENTATION;
    loop(*side, question.parts, request.operations);
    CALLGRIND_STOP_INSTRUMENTATION;
    if (counting) print_statements(counting->now() - before, request.operations);
  }
  std::filesystem::remove_all(folder);
  return EXIT_SUCCESS;
}
