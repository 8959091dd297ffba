// Who opens the store's files. Closing any descriptor of the database or its -shm file drops all of
// SQLite's locks on it in the process, so nobody but SQLite may ever have one (case O29).
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "process_support.hpp"
#include "temp_folder.hpp"

using namespace wallock::test;

namespace {

struct Opening {
  std::string module;
  std::string closes;
  std::string path;
};

struct Trace {
  std::string sqlite;  // the library that SQLite is in
  std::string self;    // the program
  std::vector<Opening> openings;
  long guarded_writes = 0;    // of the database, under a lock that keeps commits out
  long unguarded_writes = 0;  // under none
};

Trace trace(const std::string& database, const std::string& planted = {}) {
  std::vector<std::string> arguments{database};
  if (!planted.empty()) arguments.push_back(planted);
  ChildProcess child(program("operations"), arguments);
  Trace found;
  const auto lines = child.read_lines();
  for (const std::string& line : lines) {
    INFO(line);
    REQUIRE(line.find("failed") == std::string::npos);
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "sqlite") words >> found.sqlite;
    if (what == "self") words >> found.self;
    if (what == "writes") words >> found.guarded_writes >> found.unguarded_writes;
    if (what != "open") continue;
    Opening opening;
    words >> opening.module >> opening.closes >> opening.path;
    found.openings.push_back(opening);
  }
  REQUIRE(child.wait() == 0);
  REQUIRE(lines.back() == "all");
  return found;
}

// Opened by somebody else than SQLite: the database, its log or its -shm file.
std::vector<std::string> strangers(const Trace& trace, const std::string& database) {
  std::vector<std::string> found;
  for (const Opening& opening : trace.openings) {
    const bool is_sqlites = opening.path == database || opening.path == database + "-shm" ||
                            opening.path == database + "-wal" ||
                            opening.path == database + "-journal";
    if (is_sqlites && opening.module != trace.sqlite) {
      found.push_back(opening.module + " opened " + opening.path);
    }
  }
  return found;
}

// A SQLite that is part of the program cannot be told from the rest of it.
bool can_tell(const Trace& trace) {
  if (trace.sqlite != trace.self) return true;
  WARN("SQLite is linked into the program: who opens its files cannot be told");
  return false;
}

}  // namespace

TEST_CASE("nobody but SQLite opens the database, its log or its -shm file in any operation") {
  const TempFolder folder;
  const std::string database = folder / "store.db";
  const Trace seen = trace(database);
  if (!can_tell(seen)) return;
  for (const std::string& stranger : strangers(seen, database))
    FAIL_CHECK(stranger);
  for (const std::string& path : {database, database + "-shm", database + "-wal"}) {
    CAPTURE(path);
    CHECK(std::ranges::any_of(seen.openings, [&](const Opening& o) { return o.path == path; }));
  }
}

TEST_CASE("no descriptor of the store or its sidecar passes through exec") {
  const TempFolder folder;
  const Trace seen = trace(folder / "store.db");
  CHECK(seen.openings.size() > 5);
  for (const Opening& opening : seen.openings) {
    CAPTURE(opening.module, opening.path);
    CHECK(opening.closes == "cloexec");
  }
}

TEST_CASE("trace of openings: a planted stream, copy or open of the database is seen") {
  for (const std::string planted : {"stream", "copy", "open"}) {
    CAPTURE(planted);
    const TempFolder folder;
    const Trace seen = trace(folder / "store.db", planted);
    if (!can_tell(seen)) return;
    CHECK(strangers(seen, folder / "store.db").size() == 1);
  }
}

TEST_CASE("checkpoint: every page goes into the database under a lock that keeps commits out") {
  const TempFolder folder;
  const Trace seen = trace(folder / "store.db");
  CHECK(seen.guarded_writes > 1000);  // a checkpoint is among them
  CHECK(seen.unguarded_writes == 0);
}

TEST_CASE("trace of writes: a planted checkpoint without the write lock is seen") {
  const TempFolder folder;
  CHECK(trace(folder / "store.db", "checkpoint").unguarded_writes > 0);
}
