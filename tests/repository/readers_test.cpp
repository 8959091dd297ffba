// Readers that never pause, and a writer beside them.
#include <atomic>
#include <iostream>
#include <thread>

#include "repository_support.hpp"

namespace wallock::test {
namespace {

// Reads one snapshot after the other; each overlaps those of the other readers.
void read_on(Coordinator own, const std::atomic<bool>& over, std::atomic<int>& rounds) {
  while (!over) {
    if (!own.leases() || !own.audit({.limit = 200}) || !own.verify()) break;
    ++rounds;
  }
}

}  // namespace

// Case L23. A reader keeps its snapshot and takes no lock that a writer needs. What it does hold up
// is the log's new start: as long as there is no moment without a reader in it, the log grows.
TEST_CASE("readers without a pause keep no writer waiting, and the log starts anew after them") {
  TempStore at;
  auto options = at.options();
  options.clock = system_clock();
  options.operation_timeout = 30s;
  auto store = at.open(options);
  std::atomic<bool> over{false};
  std::atomic<int> rounds{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back(
        [&, own = at.open(options)]() mutable { read_on(std::move(own), over, rounds); });
  int done = 0;
  std::uint64_t longest = 0;
  while (done < 1500 || rounds < 40) {
    if (answer(store.execute("r", recorded("a" + std::to_string(done)))) != "ok") break;
    longest = std::max(longest, store.health().value().wal_frames);
    ++done;
  }
  over = true;
  for (auto& reader : readers)
    reader.join();
  std::cout << "readers: " << done << " commits beside " << rounds << " rounds of reading, "
            << longest << " frames in the log at most" << std::endl;
  CAPTURE(done, rounds.load(), longest);
  CHECK(done >= 1500);
  CHECK(rounds >= 40);
  for (int i = 0; i < 200; ++i)
    REQUIRE(answer(store.execute("r", recorded("b" + std::to_string(i)))) == "ok");
  CHECK(store.health().value().wal_frames < 2000);
  CHECK(store.health().value().checkpoints > 0);
  CHECK(verdict(store) == "UNANCHORED");
}

}  // namespace wallock::test
