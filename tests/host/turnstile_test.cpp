// Turns: one at a time, in order of arrival, back from the dead.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "host/waiting_queue.hpp"
#include "host_support.hpp"

using namespace wallock;
using namespace wallock::test;
using host::Turnstile;

namespace {

std::size_t in_line(const RawSidecar& raw) { return host::slots_in_use(raw->turnstile.shard); }

// How many have come so far that their place among the others is certain.
std::ptrdiff_t with_ticket(const RawSidecar& raw) {
  return std::ranges::count_if(raw->turnstile.slots,
                               [](const auto& slot) { return slot.ticket.load() != 0; });
}

// A process that is next in line and stopped, so that it cannot be the quicker one; on a clock that
// stands still it is not passed over for that.
struct StoppedWaiter {
  const ManualClock clock;
  const Shore shore;
  const std::unique_ptr<host::Sidecar> own = shore.open(1, clock);
  const RawSidecar raw{shore.sidecar()};
  std::optional<Fork> process;

  void queue_behind(Turnstile& turnstile) {
    REQUIRE(turnstile.enter(0s));
    queue();
  }
  void queue() {
    process.emplace([this] {
      const auto sidecar = shore.open(2, clock);
      if (!sidecar->turnstile().enter(long_enough)) return 1;
      sidecar->turnstile().leave();
      return 0;
    });
    REQUIRE(await([this] { return with_ticket(raw) == 1; }));
    process->signal(SIGSTOP);
    REQUIRE(waitpid(process->pid(), nullptr, WUNTRACED) == process->pid());
  }
  // Has its turn; 0 if it could.
  int go_on() {
    process->signal(SIGCONT);
    return process->wait();
  }
};

}  // namespace

TEST_CASE("a turn is one opening's and one thread's at a time") {
  const Shore shore;
  const auto a = shore.open(1);
  const auto b = shore.open(2);
  REQUIRE(a->turnstile().enter(0s));
  CHECK_FALSE(a->turnstile().enter(0s));
  CHECK_FALSE(b->turnstile().enter(0s));
  a->turnstile().leave();
  REQUIRE(b->turnstile().enter(0s));
  CHECK_FALSE(a->turnstile().enter(0s));
  b->turnstile().leave();
  CHECK(a->turnstile().enter(0s));
}

TEST_CASE("who gave up waiting for a turn leaves nothing in the line (case L19)") {
  const Shore shore;
  const auto a = shore.open(1);
  const auto b = shore.open(2);
  const RawSidecar raw(shore.sidecar());
  REQUIRE(a->turnstile().enter(0s));
  CHECK_FALSE(b->turnstile().enter(5ms));
  CHECK(in_line(raw) == 0);
  a->turnstile().leave();
  CHECK(b->turnstile().enter(0s));
}

TEST_CASE("a turn that one does not have is not given back") {
  const Shore shore;
  const auto a = shore.open(1);
  const auto b = shore.open(2);
  REQUIRE(a->turnstile().enter(0s));
  b->turnstile().leave();
  CHECK_FALSE(b->turnstile().enter(0s));
}

// The clock stands still, so that nobody is passed over for being slow on a busy machine.
TEST_CASE("turns are taken in order of arrival, over threads and openings") {
  const ManualClock clock;
  const Shore shore;
  std::vector<std::unique_ptr<Sidecar>> openings;
  for (std::uint64_t i = 1; i <= 3; ++i)
    openings.push_back(shore.open(i, clock));
  const RawSidecar raw(shore.sidecar());
  REQUIRE(openings[0]->turnstile().enter(0s));
  constexpr std::size_t waiters = 12;
  std::atomic<std::size_t> next{0};
  std::vector<std::size_t> served(waiters, waiters);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < waiters; ++i) {
    threads.emplace_back([&, i] {
      Turnstile& turnstile = openings[i % openings.size()]->turnstile();
      if (!turnstile.enter(long_enough)) return;
      served[i] = next++;
      turnstile.leave();
    });
    REQUIRE(await([&] { return with_ticket(raw) == std::ssize(threads); }));
  }
  openings[0]->turnstile().leave();
  for (std::thread& thread : threads)
    thread.join();
  for (std::size_t i = 0; i < waiters; ++i)
    CHECK(served[i] == i);
  CHECK(in_line(raw) == 0);
}

TEST_CASE("who leaves does not overtake the next in line without a stint of its own") {
  StoppedWaiter next;
  Turnstile without_stint(next.raw->turnstile, next.own->membership(), next.clock, 0s);
  Turnstile with_stint(next.raw->turnstile, next.own->membership(), next.clock, long_enough);
  next.queue_behind(without_stint);
  without_stint.leave();
  CHECK_FALSE(without_stint.enter(0s));
  CHECK_FALSE(with_stint.enter(0s));  // its stint has not begun: it had no turn
  CHECK(in_line(next.raw) == 1);
  CHECK(next.go_on() == 0);
  CHECK(without_stint.enter(0s));
}

TEST_CASE("a stint goes on from turn to turn, and is over once somebody else had one") {
  StoppedWaiter next;
  const auto other = next.shore.open(3, next.clock);
  Turnstile turnstile(next.raw->turnstile, next.own->membership(), next.clock, long_enough);
  next.queue_behind(turnstile);
  for (int turn = 0; turn < 3; ++turn) {
    turnstile.leave();
    CHECK(turnstile.enter(0s));
  }
  turnstile.leave();
  next.raw->turnstile.holder.store(other->membership().mark());
  CHECK_FALSE(turnstile.enter(0s));
  next.raw->turnstile.holder.store(0);
  CHECK_FALSE(turnstile.enter(0s));  // behind the waiter now
  CHECK(next.go_on() == 0);
  CHECK(turnstile.enter(0s));
}

TEST_CASE("only one has the turn at a time, among threads of several openings") {
  const Shore shore;
  std::vector<std::unique_ptr<Sidecar>> openings;
  for (std::uint64_t i = 1; i <= 3; ++i)
    openings.push_back(shore.open(i));
  std::atomic<int> inside{0};
  std::atomic<int> refused{0};
  std::atomic<bool> overlapped{false};
  int turns = 0;  // guarded by the turn itself
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      Turnstile& turnstile = openings[i % openings.size()]->turnstile();
      for (int round = 0; round < 500; ++round) {
        if (!turnstile.enter(long_enough)) {
          ++refused;
          continue;
        }
        if (inside.fetch_add(1) != 0) overlapped = true;
        ++turns;
        inside.fetch_sub(1);
        turnstile.leave();
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  CHECK(refused == 0);
  CHECK(turns == 6 * 500);
  CHECK_FALSE(overlapped);
}

TEST_CASE("the turn of a process that was killed is the next one's") {
  const Shore shore;
  const auto own = shore.open(1);
  const auto die_inside = [&] {
    return Fork([&] {
             const auto sidecar = shore.open(2);
             return sidecar->turnstile().enter(long_enough) ? raise(SIGKILL) : 1;
           }).wait() == 128 + SIGKILL;
  };
  REQUIRE(die_inside());
  CHECK(own->turnstile().enter(0s));
  own->turnstile().leave();
  REQUIRE(die_inside());
  std::thread([&] { CHECK(own->turnstile().enter(long_enough)); }).join();
}

TEST_CASE("a waiter notices that the holder of the turn was killed, without being called") {
  const Shore shore;
  const auto own = shore.open(1);
  const RawSidecar raw(shore.sidecar());
  const Shared<std::atomic<bool>> inside;
  const Shared<std::atomic<bool>> succeeded;
  Fork holder([&] {
    const auto sidecar = shore.open(2);
    *inside = sidecar->turnstile().enter(0s);
    return pause();
  });
  REQUIRE(await([&] { return inside->load(); }));
  Fork waiter([&] {
    *succeeded = shore.open(3)->turnstile().enter(100 * long_enough);
    return 0;
  });
  REQUIRE(await([&] { return with_ticket(raw) == 1; }));
  holder.kill();
  CHECK(await([&] { return succeeded->load(); }));
}

TEST_CASE("the turn of a stopped process stays its own, and nobody waits for ever") {
  const Shore shore;
  const auto own = shore.open(1);
  const Shared<std::atomic<bool>> inside;
  Fork holder([&] {
    const auto sidecar = shore.open(2);
    if (!sidecar->turnstile().enter(0s)) return 1;
    *inside = true;
    raise(SIGSTOP);
    sidecar->turnstile().leave();
    return 0;
  });
  REQUIRE(await([&] { return inside->load(); }));
  CHECK_FALSE(own->turnstile().enter(30ms));
  REQUIRE(await([&] { return waitpid(holder.pid(), nullptr, WUNTRACED | WNOHANG) != 0; }));
  holder.signal(SIGCONT);
  CHECK(own->turnstile().enter(long_enough));
  CHECK(holder.wait() == 0);
}

TEST_CASE("a stopped waiter holds up nobody for longer than the grace") {
  const Shore shore;
  const auto own = shore.open(1);
  const RawSidecar raw(shore.sidecar());
  REQUIRE(own->turnstile().enter(0s));
  Fork waiter([&] { return shore.open(2)->turnstile().enter(long_enough) ? 0 : 1; });
  REQUIRE(await([&] { return with_ticket(raw) == 1; }));
  waiter.signal(SIGSTOP);
  REQUIRE(waitpid(waiter.pid(), nullptr, WUNTRACED) == waiter.pid());
  own->turnstile().leave();
  CHECK(own->turnstile().enter(long_enough));
  CHECK(in_line(raw) == 1);
  own->turnstile().leave();
  waiter.signal(SIGCONT);
  CHECK(waiter.wait() == 0);
}

// On a clock that stands still nobody is ever passed over, so what is to be seen is the call.
TEST_CASE("who waits behind a stopped one calls him when the holder was killed, to pass him over") {
  StoppedWaiter first;
  Fork holder(
      [&] { return first.shore.open(3, first.clock)->turnstile().enter(0s) ? pause() : 1; });
  REQUIRE(await([&] { return first.raw->turnstile.holder != 0; }));
  first.queue();
  const auto is_called = [&] {
    return std::ranges::any_of(first.raw->turnstile.slots,
                               [](const auto& slot) { return slot.called_at != 0; });
  };
  std::atomic<bool> has_turn{false};
  std::thread second([&] { has_turn = first.own->turnstile().enter(long_enough); });
  CHECK(await([&] { return in_line(first.raw) == 2; }));
  std::this_thread::sleep_for(30ms);
  CHECK_FALSE(is_called());
  holder.kill();
  CHECK(await(is_called));
  CHECK(first.go_on() == 0);
  second.join();
  CHECK(has_turn);
}

TEST_CASE("when the turnstile's line is full, a turn is still to be had") {
  const Shore shore;
  const auto own = shore.open(1);
  const auto other = shore.open(2);
  const RawSidecar raw(shore.sidecar());
  for (host::WaitingSlot& slot : raw->turnstile.slots)
    slot.owner = other->membership().mark();
  raw->turnstile.shard.used[0] = 1;  // so that nobody thinks it empty
  CHECK(own->turnstile().enter(0s));
  CHECK_FALSE(other->turnstile().enter(5ms));
  own->turnstile().leave();
  CHECK(other->turnstile().enter(long_enough));
}
