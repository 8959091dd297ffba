// Opens a store at the moment it is told to, together with others, and says what it found.
//
//   opener DATABASE [BOOT_ID]
//
// Waits for a line, opens, prints "open EPOCH" or the error, waits for the end of its input, ends.
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "other_boot_clock.hpp"
#include "wallock/coordinator.hpp"

int main(int count, char** words) {
  wallock::test::die_with_parent();
  const std::vector<std::string> arguments(words, words + count);
  wallock::Options options;
  if (arguments.size() > 2) {
    options.clock = std::make_shared<wallock::test::OtherBootClock>(arguments.at(2));
  }
  std::cout << "ready" << std::endl;
  std::string line;
  std::getline(std::cin, line);
  auto coordinator = wallock::Coordinator::open(arguments.at(1), options);
  if (!coordinator) {
    std::cout << to_string(coordinator.error()) << std::endl;
    return 1;
  }
  const auto health = coordinator->health();
  std::cout << (health ? "open " + std::to_string(health->epoch) : to_string(health.error()))
            << std::endl;
  while (std::getline(std::cin, line)) {
  }
  return 0;
}
