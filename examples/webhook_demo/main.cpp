// wallock's demonstration: 329 GitHub webhooks, a few worker processes, one SQLite file, and a
// parent that kills and pauses workers in mid-work. Ends with a table; see usage() for the rest.
//
//   options     the command line                     worker      what a worker process does
//   webhooks    the payloads                         supervisor  the parent while workers run
//   application the application's tables and SQL     faults      which faults a run promises
//   messages    what workers tell their parent       check_*     what became of every payload
//   process     a child process and its pipe         report      the table and the verdict

#include <fmt/core.h>
#include <stdlib.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>

#include "application.hpp"
#include "checks.hpp"
#include "options.hpp"
#include "process.hpp"
#include "report.hpp"
#include "supervisor.hpp"
#include "webhooks.hpp"
#include "worker.hpp"

namespace {

namespace fs = std::filesystem;

// A fresh folder for the database: below $TMPDIR, else beside this program, which is most likely on
// a real disk. Removed in the end unless it is to be kept.
class ScratchFolder {
 public:
  explicit ScratchFolder(bool keep) : keep_(keep) {
    const char* const chosen = std::getenv("TMPDIR");
    const fs::path parent =
        chosen != nullptr ? fs::path(chosen) : fs::read_symlink("/proc/self/exe").parent_path();
    std::string name = (parent / "wallock-demo-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": cannot be made");
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;  // a folder that stays behind is no reason to fail
    if (!keep_) fs::remove_all(path_, ignored);
  }

  [[nodiscard]] const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
  bool keep_;
};

demo::Findings consume(const demo::Options& options, const std::string& database) {
  const auto webhooks = demo::read_webhooks(options.data);
  auto coordinator = wallock::Coordinator::open(database, {.holder = "parent"});
  if (!coordinator) throw std::runtime_error("open: " + to_string(coordinator.error()));
  demo::Application application(database);
  application.create(webhooks);

  demo::Findings findings;
  findings.payloads = webhooks.size();
  {
    demo::Supervisor supervisor(options, database, webhooks.size(), *coordinator);
    findings.run = supervisor.run();
  }
  findings.tables = check_tables(application, webhooks);
  findings.ledger = check_ledger(*coordinator, webhooks, application.effects(), findings.run);
  if (options.fenced) findings.redelivery = redeliver(*coordinator, webhooks);
  return findings;
}

int give_verdict(const demo::Findings& findings, bool fenced) {
  const auto broken = broken_promises(findings, fenced);
  const auto missing = missing_faults(findings, fenced);
  for (const std::string& message : broken)
    fmt::print(stderr, "BROKEN: {}\n", message);
  for (const std::string& message : missing)
    fmt::print(stderr, "MISSING: {}\n", message);
  if (!broken.empty()) return demo::exit_broken;
  if (!missing.empty()) return demo::exit_failed;
  fmt::print("Nothing was lost, doubled or accepted stale.\n");
  return demo::exit_kept;
}

int run_parent(const demo::Options& options) {
  const ScratchFolder folder(options.keep);
  const std::string database = (folder.path() / "demo.db").string();
  fmt::print("{} workers, seed {}, {} fence\nstore {}{}\n\n", options.workers, options.seed,
             options.fenced ? "with" : "WITHOUT", database, options.keep ? " (kept)" : "");
  std::fflush(stdout);
  const demo::Findings findings = consume(options, database);
  print_table(findings, options.fenced);
  std::fflush(stdout);
  return give_verdict(findings, options.fenced);
}

int run(const demo::Options& options) {
  if (options.help) {
    fmt::print("{}", demo::usage());
    return demo::exit_kept;
  }
  if (options.worker_name.empty()) return run_parent(options);
  demo::die_with_parent();
  demo::run_worker(options);
  return demo::exit_kept;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(demo::parse_options({argv + 1, argv + argc}));
  } catch (const std::exception& error) {
    fmt::print(stderr, "wallock_demo: {}\n", error.what());
    return demo::exit_failed;
  }
}
