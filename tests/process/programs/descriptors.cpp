// Prints what its descriptors refer to, one a line, then "end"; stays until its input ends.
#include <filesystem>
#include <iostream>
#include <string>

#include "child_process.hpp"

int main() {
  wallock::test::die_with_parent();
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone);
    if (!gone) std::cout << target.string() << '\n';
  }
  std::cout << "end" << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
  }
}
