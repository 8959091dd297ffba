// A guard where the system gives no thread for its heartbeats.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "coordinator_support.hpp"
#include "fork.hpp"
#include "thread_sanitizer.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

// How many threads and processes this user may have from now on. Root has no such limit, so a child
// stops being root first.
[[nodiscard]] bool limit_threads(rlim_t most) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NPROC, &limit) != 0) return false;
  limit.rlim_cur = std::min(most, limit.rlim_max);
  return setrlimit(RLIMIT_NPROC, &limit) == 0;
}

[[nodiscard]] bool is_no_thread(const Result<LeaseGuard>& guard) {
  return !guard && guard.error().code() == Errc::no_thread &&
         guard.error().error_class() == ErrorClass::transient &&
         guard.error().facts().native == EAGAIN;
}

// 0, or the number of what did not hold.
int ask_for_guards() {
  constexpr uid_t nobody = 65534;
  if (geteuid() == 0 && setuid(nobody) != 0) return 0;
  const World world;
  Coordinator coordinator = world.open();
  if (!limit_threads(0)) return 1;
  const auto refused = coordinator.guard("r");
  if (!is_no_thread(refused)) return 2;
  if (!coordinator.leases().value().empty()) return 3;
  if (!coordinator.acquire("s")) return 4;  // what needs no thread goes on
  if (!limit_threads(RLIM_INFINITY)) return 5;
  const auto guard = coordinator.guard("r");
  return guard && guard->valid() ? 0 : 6;
}

}  // namespace

TEST_CASE(
    "a guard without a thread for its heartbeats says so, takes no lease and can be had later") {
  if (thread_sanitizer) return;  // its own threads are in the child's way
  Fork child(ask_for_guards);
  CHECK(child.wait() == 0);
}
