// Opens a store, acquires, commits, releases, and says so after each; or is killed on the way.
//
//   cycle DATABASE LAST_CALL BOOT_ID ACTION BYTES
//
// LAST_CALL is the number of the call that it dies at, 0 for none, -1 to die when all is done. With
// BYTES the commit also writes a blob of that size: one that is large enough makes the library
// checkpoint. A program that is not killed prints the number of its calls.
#include "process/kill_at_call.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "counters.hpp"
#include "other_boot_clock.hpp"
#include "wallock/coordinator.hpp"

namespace {

// At once, so that it is said whatever comes next; not a counted call.
void say(const std::string& text) {
  const std::string line = text + "\n";
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) std::abort();
}

int failed(const wallock::Error& error) {
  say("failed " + to_string(error));
  return 1;
}

wallock::Work work_for(const std::string& action, long bytes) {
  return [action, bytes](wallock::Transaction& transaction) {
    SQLite::Database& database = wallock::database(transaction);
    wallock::test::create_counter(database, "r");
    wallock::test::write_counter(database, {.action = action,
                                            .resource = "r",
                                            .value = wallock::test::read_counter(database, "r") + 1,
                                            .token = transaction.token().value()});
    if (bytes == 0) return;
    database.exec("CREATE TABLE IF NOT EXISTS blobs (data BLOB)");
    database.exec("INSERT INTO blobs VALUES (randomblob(" + std::to_string(bytes) + "))");
  };
}

int run(const std::string& path, const std::string& boot, const std::string& action, long bytes) {
  using std::chrono::milliseconds;
  auto coordinator = wallock::Coordinator::open(
      path, {.clock = std::make_shared<wallock::test::OtherBootClock>(boot)});
  if (!coordinator) return failed(coordinator.error());
  say("opened");
  const auto lease = coordinator->acquire("r", {.ttl = milliseconds(50)});
  if (!lease) return failed(lease.error());
  say("granted");
  const auto committed =
      coordinator->commit(*lease, wallock::ActionFields{.id = action}, work_for(action, bytes));
  if (!committed) return failed(committed.error());
  say("committed");
  const auto released = coordinator->release(*lease);
  if (!released) return failed(released.error());
  say("released");
  return 0;
}

}  // namespace

int main(int count, char** words) {
  wallock::test::die_with_parent();
  const std::vector<std::string> arguments(words, words + count);
  const long last = std::stol(arguments.at(2));
  wallock::test::last_call = last;
  wallock::test::counting = true;
  const int result =
      run(arguments.at(1), arguments.at(3), arguments.at(4), std::stol(arguments.at(5)));
  wallock::test::counting = false;
  say("calls " + std::to_string(wallock::test::calls));
  // Without an end of its own: nothing is closed, and what SQLite tidies up then is left.
  if (last < 0) ::kill(::getpid(), SIGKILL);
  return result;
}
