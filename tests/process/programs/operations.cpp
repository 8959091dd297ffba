// Calls every public operation once, and prints who opened which file on the way, and how many
// writes to the database there were under a lock and under none.
//
//   operations DATABASE [PLANTED]
//
// PLANTED is something that a library must not do with the file: "stream" reads it with ifstream,
// "copy" copies it, "open" opens it as a file, "checkpoint" checkpoints it as SQLite does by
// itself.
#include "process/open_trace.hpp"
#include "process/write_trace.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sqlite3.h>

#include "child_process.hpp"
#include "wallock/coordinator.hpp"
#include "wallock/lease_guard.hpp"
#include "wallock/sqlite.hpp"

namespace {

using std::chrono::milliseconds;
using wallock::ActionFields;
using wallock::Coordinator;

template <class T>
T must(wallock::Result<T> result) {
  if (!result) throw std::runtime_error(to_string(result.error()));
  return *std::move(result);
}

void must(const wallock::Status& status) {
  if (!status) throw std::runtime_error(to_string(status.error()));
}

// Large enough that the log is checkpointed after it.
void write_much(wallock::Transaction& transaction) {
  SQLite::Database& database = wallock::database(transaction);
  database.exec("CREATE TABLE IF NOT EXISTS blobs (data BLOB)");
  database.exec("INSERT INTO blobs VALUES (randomblob(5000000))");
}

void leases_and_commits(Coordinator& coordinator) {
  auto lease = must(coordinator.acquire("r", {.wait = milliseconds(1)}));
  lease = must(coordinator.renew(lease, std::chrono::seconds(30)));
  must(coordinator.commit(lease, ActionFields{.id = "a", .destination = "d"}, write_much));
  must(coordinator.release(lease));
  must(coordinator.execute("r", ActionFields{.id = "b"}));
  lease = must(coordinator.try_acquire("r"));
  must(coordinator.revoke("r", lease.token(), "no longer"));
  auto guard = must(coordinator.guard("g", {.ttl = milliseconds(30)}));
  std::this_thread::sleep_for(milliseconds(50));  // long enough for a heartbeat
  static_cast<void>(guard.commit(ActionFields{.id = "c"}));
  must(guard.release());
}

void outbox_and_breaker(Coordinator& coordinator) {
  for (const auto& delivery : must(coordinator.claim({.destination = "d"})))
    must(coordinator.settle(delivery, wallock::DeliveryOutcome::delivered()));
  const auto lease = must(coordinator.acquire("broken"));
  must(coordinator.report(lease, wallock::DownstreamOutcome::timeout));
  must(coordinator.breaker("broken"));
  std::this_thread::sleep_for(milliseconds(5));
  const auto probe = must(coordinator.begin_recovery("broken"));
  must(coordinator.complete_recovery(probe, {.recovered = true, .evidence = "it answers"}));
  must(coordinator.force_open("broken", "maintenance"));
  must(coordinator.clear_forced("broken"));
}

void everything(const std::string& path) {
  auto coordinator = must(
      Coordinator::open(path, {.breaker = {.trip_after = 1, .first_interval = milliseconds(1)}}));
  leases_and_commits(coordinator);
  outbox_and_breaker(coordinator);
  must(coordinator.leases());
  must(coordinator.audit());
  must(coordinator.verify(must(coordinator.root())));
  if (must(coordinator.health()).checkpoints == 0) throw std::runtime_error("no checkpoint");
  // A second one while the first is open, and one that adopts the file.
  must(Coordinator::open(path, {.adopt_restored = true}));
}

void plant(const std::string& what, const std::string& path) {
  if (what == "stream") std::ifstream(path).get();
  if (what == "copy") std::filesystem::copy_file(path, path + ".copy");
  if (what == "open") ::close(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (what == "checkpoint") {
    auto coordinator = must(Coordinator::open(path));
    must(coordinator.execute("r", ActionFields{.id = "to-be-checkpointed"}));
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec("PRAGMA wal_checkpoint(PASSIVE)");
  }
}

void print(const std::string& path) {
  using wallock::test::opened;
  using wallock::test::openings;
  Dl_info sqlite{};
  ::dladdr(reinterpret_cast<void*>(&sqlite3_libversion), &sqlite);
  Dl_info self{};
  ::dladdr(reinterpret_cast<void*>(&plant), &self);
  std::cout << "sqlite " << sqlite.dli_fname << "\nself " << self.dli_fname << "\n";
  const std::size_t count = opened;
  for (std::size_t i = 0; i < count && i < openings.size(); ++i) {
    if (std::string_view(openings[i].path.data()).substr(0, path.size()) != path) continue;
    const bool closes = (openings[i].flags & O_CLOEXEC) != 0;
    std::cout << "open " << openings[i].module.data() << ' ' << (closes ? "cloexec" : "leaks")
              << ' ' << openings[i].path.data() << '\n';
  }
  std::cout << "writes " << wallock::test::guarded_writes << ' ' << wallock::test::unguarded_writes
            << '\n'
            << (count < openings.size() ? "all" : "too many") << std::endl;
}

}  // namespace

int main(int count, char** words) {
  wallock::test::die_with_parent();
  const std::vector<std::string> arguments(words, words + count);
  try {
    arguments.at(1).copy(wallock::test::watched_database.data(),
                         wallock::test::watched_database.size() - 1);
    everything(arguments.at(1));
    if (arguments.size() > 2) plant(arguments[2], arguments[1]);
    print(arguments.at(1));
    return 0;
  } catch (const std::exception& error) {
    std::cout << "failed: " << error.what() << std::endl;
    return 1;
  }
}
