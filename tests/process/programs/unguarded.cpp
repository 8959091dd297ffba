// Two threads count in the work of their commits, in one variable without a lock.
//
//   unguarded DATABASE             both on one store, whose works run one after the other
//   unguarded DATABASE DATABASE    each on a store of its own: a race
//
// Prints how often they counted. What a sanitizer has to say about the race is not printed: its
// exit code tells.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "child_process.hpp"
#include "wallock/coordinator.hpp"

namespace {

constexpr unsigned rounds = 50;  // of each thread

struct Count {
  bool together = false;  // whether the two can be in their works at the same time
  unsigned value = 0;
  // Relaxed, so that they order nothing: they only bring the two threads together.
  std::atomic<unsigned> entered{0};

  // Counts, and stays until the other thread has counted too.
  void in_work(unsigned round) {
    ++value;
    entered.fetch_add(1, std::memory_order_relaxed);
    while (together && entered.load(std::memory_order_relaxed) < 2 * round)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
};

// Ends the program if a commit fails.
void run(wallock::Coordinator& store, const std::string& name, Count& count) {
  for (unsigned round = 1; round <= rounds; ++round) {
    const wallock::ActionFields action{.id = name + "-" + std::to_string(round)};
    if (const auto done = store.execute(name, action, [&] { count.in_work(round); }); !done) {
      std::puts(to_string(done.error()).c_str());
      std::fflush(stdout);
      std::_Exit(1);
    }
  }
}

}  // namespace

int main(int argument_count, char** words) {
  wallock::test::die_with_parent();
  const std::vector<std::string> paths(words + 1, words + argument_count);
  if (paths.size() == 2) ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
  std::vector<wallock::Coordinator> stores;
  for (const std::string& path : paths) {
    // Without flushes, and with time: it is about threads, not about the disk.
    auto store = wallock::Coordinator::open(path, {.durability = wallock::Durability::relaxed,
                                                   .operation_timeout = std::chrono::minutes(1)});
    if (!store) {
      std::puts(to_string(store.error()).c_str());
      return 1;
    }
    stores.push_back(*std::move(store));
  }
  Count count{.together = stores.size() == 2};
  std::thread other([&] { run(stores.front(), "a", count); });
  run(stores.back(), "b", count);
  other.join();
  std::printf("%u\n", count.value);
  return 0;
}
