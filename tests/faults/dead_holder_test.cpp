// A lease that was taken over early, because the process that held it had died, in the ledger's
// words.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "catch.hpp"
#include "sqlite/invariants.hpp"
#include "temp_store.hpp"

namespace wallock::test {
namespace {

using namespace std::chrono_literals;

// Acquires in a process that dies with the lease in its hands.
void die_with(const std::string& path, const std::string& resource) {
  const pid_t child = fork();
  if (child == 0) {
    auto store = Coordinator::open(path);
    const bool done = store && store->acquire(resource, {.ttl = 10min});
    _exit(done ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
}

}  // namespace

TEST_CASE("a lease that a dead process held is granted at once, and the ledger tells why") {
  const TempFolder folder;
  const std::string path = folder.file("store.db");
  die_with(path, "acquired");
  die_with(path, "executed");
  {
    auto store = Coordinator::open(path).value();
    if (!store.health()->has_sidecar) return;  // nobody can tell who is dead here
    const auto lease = store.acquire("acquired", {.ttl = 1min});
    REQUIRE(lease);
    const auto action = ActionRequest::create({.id = "a", .payload = "p"}).value();
    REQUIRE(store.execute("executed", action, {}));
    REQUIRE(store.release(*lease));
    REQUIRE(store.acquire("acquired", {.ttl = 1min}));
    std::vector<std::string> details;
    const auto records = store.audit({}).value();
    for (const auto& record : records)
      if (record.entry().kind == RecordKind::lease_granted)
        details.push_back(record.entry().detail);
    const std::string gone(holder_gone);
    CHECK(details == std::vector<std::string>{"", "", gone, gone, ""});
  }
  const auto found = sqlite::check_invariants(path);
  REQUIRE(found);
  CHECK(found->empty());
}

}  // namespace wallock::test
