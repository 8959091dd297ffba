// Sits in the middle of a commit until it is told to go on.
//
//   sitter DATABASE
//
// Prints "inside" from inside the commit's work, waits for a line, and prints how the commit ended.
#include <iostream>
#include <string>

#include "child_process.hpp"
#include "counters.hpp"
#include "wallock/coordinator.hpp"

int main(int, char** words) {
  wallock::test::die_with_parent();
  auto coordinator = wallock::Coordinator::open(words[1]);
  if (!coordinator) return 2;
  const auto lease = coordinator->acquire("r", {.ttl = std::chrono::milliseconds(50)});
  if (!lease) return 3;
  const auto work = [](wallock::Transaction& transaction) {
    SQLite::Database& database = wallock::database(transaction);
    wallock::test::create_counter(database, "r");
    wallock::test::write_counter(database, {.action = "sat", .resource = "r", .value = 1});
    std::cout << "inside" << std::endl;
    std::string line;
    std::getline(std::cin, line);
  };
  const auto committed = coordinator->commit(*lease, wallock::ActionFields{.id = "sat"}, work,
                                             {.after = wallock::AfterCommit::release});
  std::cout << (committed ? "committed" : std::string(to_string(committed.error().code())))
            << std::endl;
  return 0;
}
