// Opens a store again in a child of fork: refused while the parent had it open, and only then.
//
//   fork_opener DATABASE OTHER
//
// Prints what each child was answered, the parent last.
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <optional>
#include <string>

#include "child_process.hpp"
#include "wallock/coordinator.hpp"

namespace {

using wallock::ActionFields;
using wallock::Coordinator;

// Opens and commits, and says how that went.
void use(const std::string& who, const std::string& path) {
  auto coordinator = Coordinator::open(path);
  if (!coordinator) {
    std::cout << who << ": " << to_string(coordinator.error().code()) << std::endl;
    return;
  }
  const auto committed = coordinator->execute("r", ActionFields{.id = who});
  std::cout << who << ": " << (committed ? "ok" : to_string(committed.error())) << std::endl;
}

template <class Function>
void in_child(Function function) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    function();
    std::exit(0);
  }
  ::waitpid(pid, nullptr, 0);
}

}  // namespace

int main(int, char** words) {
  wallock::test::die_with_parent();
  const std::string path = words[1];
  const std::string other = words[2];
  in_child([&] { use("before", path); });
  {
    auto first = Coordinator::open(path);
    in_child([&] {
      use("child", path);
      use("child-elsewhere", other);
      in_child([&] {
        use("grandchild", path);
        use("grandchild-elsewhere", other);
      });
    });
    auto second = Coordinator::open(path);
    first = std::move(second);
    in_child([&] { use("child-of-the-second", path); });
  }
  in_child([&] { use("after", path); });
  use("parent", path);
}
