// The machine's own clocks.
#include <ctime>
#include <thread>

#include "coordinator_support.hpp"
#include "host/process.hpp"

using namespace wallock;
using namespace wallock::test;

TEST_CASE("the system clock is one object, and counts boot time") {
  const auto clock = system_clock();
  CHECK(clock == system_clock());
  timespec before{};
  timespec after{};
  REQUIRE(clock_gettime(CLOCK_BOOTTIME, &before) == 0);
  const Instant now = clock->now();
  REQUIRE(clock_gettime(CLOCK_BOOTTIME, &after) == 0);
  CHECK(now.time_since_epoch() >= std::chrono::seconds(before.tv_sec) + before.tv_nsec * 1ns);
  CHECK(now.time_since_epoch() <= std::chrono::seconds(after.tv_sec) + after.tv_nsec * 1ns);
}

TEST_CASE("the system clock never sleeps too short, and not at all for nothing") {
  const auto clock = system_clock();
  const Instant start = clock->now();
  clock->sleep_for(-1h);
  clock->sleep_for(0s);
  clock->sleep_for(2ms);
  CHECK(clock->now() >= start + 2ms);
}

TEST_CASE("the boot id has the form of a UUID and stays the same") {
  const auto id = system_clock()->boot_id();
  REQUIRE(id);
  CHECK(id->size() == 36);
  CHECK(id->at(8) == '-');
  CHECK(id->find_first_not_of("0123456789abcdef-") == std::string::npos);
  CHECK(system_clock()->boot_id() == id);
}

TEST_CASE("the wall clock tells the time of day") {
  const auto wall = system_clock()->wall_now().time_since_epoch();
  CHECK(wall > std::chrono::seconds(1'700'000'000));
  const std::time_t now = std::time(nullptr);
  CHECK(std::chrono::duration_cast<std::chrono::seconds>(wall).count() <= now + 1);
  CHECK(std::chrono::duration_cast<std::chrono::seconds>(wall).count() >= now - 60);
}

TEST_CASE("a process mark stands in its own process only, on every thread of it") {
  const host::ProcessMark mark;
  CHECK_FALSE(mark.forked());
  bool elsewhere = true;
  std::thread([&] { elsewhere = mark.forked(); }).join();
  CHECK_FALSE(elsewhere);
}

TEST_CASE("threads of the library leave signals to the application") {
  sigset_t before{};
  sigset_t during{};
  sigset_t after{};
  REQUIRE(pthread_sigmask(SIG_BLOCK, nullptr, &before) == 0);
  {
    const host::BlockedSignals blocked;
    REQUIRE(pthread_sigmask(SIG_BLOCK, nullptr, &during) == 0);
  }
  REQUIRE(pthread_sigmask(SIG_BLOCK, nullptr, &after) == 0);
  CHECK(sigismember(&during, SIGTERM) == 1);
  CHECK(sigismember(&during, SIGALRM) == 1);
  CHECK(sigismember(&during, SIGSEGV) == 0);
  CHECK(sigismember(&after, SIGTERM) == sigismember(&before, SIGTERM));
}
