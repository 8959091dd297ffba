// Forks children that exit() while a static Coordinator and a static guard with running threads are
// there to be destroyed; then shows that the parent's lease is as it was.
//     exit_in_children COUNT
#include <cstdlib>
#include <memory>
#include <optional>

#include <sys/wait.h>
#include <unistd.h>

#include "memory_repository.hpp"
#include "wallock/coordinator.hpp"
#include "wallock/lease_guard.hpp"

namespace {

std::shared_ptr<wallock::test::MemoryStore> store = std::make_shared<wallock::test::MemoryStore>();
std::optional<wallock::Coordinator> coordinator;
std::optional<wallock::LeaseGuard> guard;

bool child_exits_well() {
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1;
  coordinator.emplace(wallock::Coordinator::over(std::make_unique<wallock::test::MemoryRepository>(
                                                     store, wallock::system_clock()))
                          .value());
  guard.emplace(coordinator->guard("r", {.ttl = std::chrono::minutes(10)}).value());
  for (int i = 0; i < count; ++i) {
    if (!child_exits_well()) return 1;
  }
  if (!guard->valid()) return 2;
  if (coordinator->leases().value().size() != 1) return 3;
  return guard->commit(wallock::ActionFields{.id = "after"}) ? 0 : 4;
}
