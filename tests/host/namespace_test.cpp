// Containers: processes that all have the number 1.
#include <iostream>

#include "host/waiting_queue.hpp"
#include "host_support.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

// As in a container, or as an ordinary child where that is not permitted: what is checked holds for
// both.
Fork fork_contained(const std::function<int()>& work) {
  static const bool is_permitted = may_have_namespaces();
  if (is_permitted) return fork_as_pid_1(work);
  std::cout << "PID namespaces are not permitted: an ordinary child instead\n";
  return Fork(work);
}

}  // namespace

TEST_CASE("a killed container's turn, place and lease are free at once") {
  const Shore shore;
  const auto own = shore.open(1);
  const Shared<std::atomic<bool>> ready;
  Fork container = fork_contained([&] {
    const auto sidecar = shore.open(2);
    const auto place = sidecar->line().join("r", Instant::max());
    *ready = place && sidecar->turnstile().enter(0s);
    return pause();
  });
  REQUIRE(await([&] { return ready->load(); }));
  CHECK_FALSE(own->membership().is_dead(2));
  CHECK_FALSE(own->turnstile().enter(0s));
  CHECK(own->line().is_waited_for("r"));
  container.kill();
  REQUIRE(await([&] { return own->membership().is_dead(2); }));
  CHECK(own->turnstile().enter(0s));
  CHECK_FALSE(own->line().is_waited_for("r"));
}

// Fails with a robust mutex of the C library, which tells its owner by the thread's number.
TEST_CASE("a waiter killed in one container takes no turn from a holder of its number in another") {
  const Shore shore;
  const auto own = shore.open(1);
  const RawSidecar raw(shore.sidecar());
  const Shared<std::atomic<bool>> inside;
  const Shared<std::atomic<bool>> done;
  Fork holder = fork_contained([&] {
    const auto sidecar = shore.open(2);
    if (!sidecar->turnstile().enter(0s)) return 1;
    *inside = true;
    while (!*done)
      std::this_thread::sleep_for(1ms);
    sidecar->turnstile().leave();
    return 0;
  });
  REQUIRE(await([&] { return inside->load(); }));
  Fork waiter =
      fork_contained([&] { return shore.open(3)->turnstile().enter(long_enough) ? 1 : 2; });
  REQUIRE(await([&] { return host::slots_in_use(raw->turnstile.shard) == 1; }));
  waiter.kill();
  REQUIRE(await([&] { return own->membership().is_dead(3); }));
  CHECK_FALSE(own->turnstile().enter(5ms));
  *done = true;
  CHECK(holder.wait() == 0);
  CHECK(own->turnstile().enter(0s));
}

TEST_CASE("containers wait for each other and ring for each other") {
  const Shore shore;
  const auto own = shore.open(1);
  REQUIRE(own->turnstile().enter(0s));
  const RawSidecar raw(shore.sidecar());
  Fork container = fork_contained([&] {
    const auto sidecar = shore.open(2);
    if (!sidecar->turnstile().enter(long_enough)) return 1;
    const auto seen = sidecar->doorbell().rings("mail");
    sidecar->turnstile().leave();
    sidecar->doorbell().sleep("mail", seen, Duration::max());
    return sidecar->doorbell().rings("mail") != seen ? 0 : 2;
  });
  REQUIRE(await([&] { return host::slots_in_use(raw->turnstile.shard) == 1; }));
  own->turnstile().leave();
  REQUIRE(await([&] {
    return std::ranges::any_of(raw->doorbell.bells,
                               [](const auto& bell) { return bell.sleepers != 0; });
  }));
  own->doorbell().ring("mail");
  CHECK(container.wait() == 0);
}
