// ManualClock: stands still until it is moved.
#include "wallock/manual_clock.hpp"

#include <chrono>

#include "catch.hpp"

using namespace wallock;
using namespace std::chrono_literals;

TEST_CASE("a manual clock stands still until it is moved") {
  ManualClock clock(Instant(1h));
  CHECK(clock.now() == Instant(1h));
  CHECK(clock.now() == Instant(1h));
  const WallTime wall = clock.wall_now();
  clock.advance(1500ms);
  CHECK(clock.now() == Instant(1h + 1500ms));
  CHECK(clock.wall_now() == wall + 1500ms);
  clock.advance(-1h);
  CHECK(clock.now() == Instant(1500ms));
}

TEST_CASE("sleeping on a manual clock moves it, and never back") {
  const ManualClock clock(Instant(1h));
  clock.sleep_for(2s);
  CHECK(clock.now() == Instant(1h + 2s));
  clock.sleep_for(-5s);
  CHECK(clock.now() == Instant(1h + 2s));
}

TEST_CASE("a manual clock is held at the end of time instead of overflowing") {
  ManualClock clock;
  for (int i = 0; i < 3'000; ++i)
    clock.sleep_for(Duration::max());
  CHECK(clock.now() == Instant::max());
  CHECK(clock.wall_now() == WallTime::max());
  for (int i = 0; i < 3'000; ++i)
    clock.advance(Duration::min());
  CHECK(clock.now() == Instant::min());
  CHECK(clock.wall_now() == WallTime::min());
}

// Case L11: a step of the wall clock is none of the boot clock.
TEST_CASE("a jump of the wall clock leaves the boot clock alone") {
  ManualClock clock(Instant(1h));
  const WallTime wall = clock.wall_now();
  clock.jump_wall(-1h);
  CHECK(clock.now() == Instant(1h));
  CHECK(clock.wall_now() == wall - 1h);
}

TEST_CASE("a reboot starts the boot clock anew under another id") {
  ManualClock clock(Instant(1h));
  CHECK(clock.boot_id() == "boot-1");
  const WallTime wall = clock.wall_now();
  clock.reboot("boot-2");
  CHECK(clock.boot_id() == "boot-2");
  CHECK(clock.now() == Instant(1s));
  CHECK(clock.wall_now() == wall);
}
