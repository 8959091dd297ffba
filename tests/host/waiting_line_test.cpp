// The line: who is first, who is called, who no longer counts. The clock stands still until moved.
#include <atomic>
#include <optional>
#include <vector>

#include "host/waiting_queue.hpp"
#include "host_support.hpp"

using namespace wallock;
using namespace wallock::test;
using host::WaitingLine;

namespace {

constexpr auto moment = 1ns;

// Two openings of one store on one clock.
struct World {
  ManualClock clock{};
  Shore shore{};
  std::unique_ptr<Sidecar> a = shore.open(1, clock);
  std::unique_ptr<Sidecar> b = shore.open(2, clock);

  [[nodiscard]] WaitingLine::Place join(const std::unique_ptr<Sidecar>& sidecar,
                                        std::string_view resource = "r",
                                        Instant until = Instant::max()) const {
    auto place = sidecar->line().join(resource, until);
    REQUIRE(place);
    return *std::move(place);
  }
};

// Whether `act` calls the place.
template <class Act>
[[nodiscard]] bool calls(const WaitingLine::Place& place, Act act) {
  const auto before = place.calls();
  act();
  return place.calls() != before;
}

}  // namespace

TEST_CASE("places in line are in order of arrival, over all openings") {
  World w;
  auto first = std::make_optional(w.join(w.a));
  auto second = std::make_optional(w.join(w.b));
  auto third = w.join(w.a);
  CHECK(first->is_first());
  CHECK_FALSE(second->is_first());
  CHECK_FALSE(third.is_first());
  first.reset();
  CHECK(second->is_first());
  CHECK_FALSE(third.is_first());
  second.reset();
  CHECK(third.is_first());
}

TEST_CASE("each resource has a line of its own, also in one shard") {
  World w;
  // Enough names that many share a shard.
  std::vector<WaitingLine::Place> places;
  for (int i = 0; i < 200; ++i)
    places.push_back(w.join(i % 2 == 0 ? w.a : w.b, "r" + std::to_string(i)));
  for (auto& place : places)
    CHECK(place.is_first());
  CHECK(w.a->line().count() == 200);
  CHECK(w.b->line().is_waited_for("r7"));
  CHECK_FALSE(w.b->line().is_waited_for("r200"));
  places.clear();
  CHECK(w.a->line().count() == 0);
}

TEST_CASE("a resource is waited for until the last has left its line") {
  World w;
  CHECK_FALSE(w.a->line().is_waited_for("r"));
  auto first = std::make_optional(w.join(w.a));
  auto second = std::make_optional(w.join(w.b));
  CHECK(w.a->line().is_waited_for("r"));
  CHECK_FALSE(w.a->line().is_waited_for("other"));
  first.reset();
  CHECK(w.a->line().is_waited_for("r"));
  second.reset();
  CHECK_FALSE(w.a->line().is_waited_for("r"));
  CHECK(w.a->line().count() == 0);
}

TEST_CASE("a call goes to the first in line and to nobody else") {
  World w;
  auto first = w.join(w.a);
  auto second = w.join(w.b);
  auto other = w.join(w.b, "other");
  const auto call = [&] { w.b->line().call_first("r"); };
  CHECK(calls(first, call));
  CHECK_FALSE(calls(second, call));
  CHECK_FALSE(calls(other, call));
}

TEST_CASE("who leaves the line calls the next, who then watches the holder") {
  World w;
  auto first = std::make_optional(w.join(w.a));
  auto second = std::make_optional(w.join(w.b));
  auto third = w.join(w.a);
  CHECK_FALSE(calls(third, [&] { CHECK(calls(*second, [&] { first.reset(); })); }));
  CHECK(calls(third, [&] { second.reset(); }));
}

TEST_CASE("a called place that does not react is passed over after the grace") {
  World w;
  auto slow = w.join(w.a);
  auto next = w.join(w.b);
  const auto call = [&] { w.b->line().call_first("r"); };
  CHECK(calls(slow, call));
  w.clock.advance(WaitingLine::grace);
  CHECK_FALSE(next.is_first());
  w.clock.advance(moment);
  CHECK(next.is_first());
  CHECK_FALSE(calls(slow, [&] { CHECK(calls(next, call)); }));
  w.clock.advance(WaitingLine::grace + moment);
  CHECK_FALSE(w.b->line().is_waited_for("r"));
}

TEST_CASE("a place that was passed over has its old place again when it stays") {
  World w;
  auto slow = w.join(w.a);
  auto next = w.join(w.b);
  w.b->line().call_first("r");
  w.clock.advance(WaitingLine::grace + moment);
  REQUIRE(next.is_first());
  CHECK(slow.is_first());
  slow.stay();
  CHECK_FALSE(next.is_first());
  CHECK(calls(slow, [&] { w.b->line().call_first("r"); }));
}

TEST_CASE("a call that found its place not the first is void") {
  World w;
  auto stopped = w.join(w.a);
  auto called = w.join(w.b);
  auto third = w.join(w.b);
  w.clock.advance(WaitingLine::silence + moment);
  REQUIRE(calls(called, [&] {
    REQUIRE(called.is_first());
    w.b->line().call_first("r");
  }));
  CHECK(stopped.is_first());
  CHECK_FALSE(called.is_first());
  // Long after the call it still counts: it has not been asked to react since.
  w.clock.advance(WaitingLine::grace + moment);
  stopped = w.join(w.a);
  CHECK_FALSE(third.is_first());
}

TEST_CASE("a second call does not prolong the grace") {
  World w;
  auto slow = w.join(w.a);
  auto next = w.join(w.b);
  w.b->line().call_first("r");
  w.clock.advance(WaitingLine::grace);
  CHECK(calls(slow, [&] { w.b->line().call_first("r"); }));
  w.clock.advance(moment);
  CHECK(next.is_first());
}

TEST_CASE("a place that stopped looking is passed over until it looks again") {
  World w;
  auto silent = w.join(w.a);
  auto next = w.join(w.b);
  w.clock.advance(WaitingLine::silence);
  CHECK_FALSE(next.is_first());
  w.clock.advance(moment);
  CHECK(next.is_first());
  CHECK(w.a->line().is_waited_for("r"));
  CHECK(silent.is_first());
  CHECK_FALSE(next.is_first());
}

TEST_CASE("a place counts no longer than it was asked for (case L20)") {
  World w;
  auto timed = w.join(w.a, "r", w.clock.now() + 10ms);
  auto next = w.join(w.b);
  w.clock.advance(10ms - moment);
  CHECK_FALSE(next.is_first());
  w.clock.advance(moment);
  CHECK(next.is_first());
  CHECK_FALSE(calls(timed, [&] { CHECK(calls(next, [&] { w.a->line().call_first("r"); })); }));
}

TEST_CASE("a place is moved, and overwriting it leaves the line") {
  World w;
  auto first = w.join(w.a);
  auto second = w.join(w.b);
  auto moved = std::move(first);
  CHECK_FALSE(second.is_first());
  CHECK(moved.is_first());
  moved = std::move(second);
  CHECK(w.a->line().count() == 1);
  CHECK(moved.is_first());
  auto& same = moved;
  moved = std::move(same);
  CHECK(w.a->line().count() == 1);
}

TEST_CASE("an interrupt ends a sleep and is no call") {
  World w;
  auto place = w.join(w.a);
  auto next = w.join(w.b);
  const auto seen = place.calls();
  std::thread interrupter([&] { place.interrupt(); });
  while (place.calls() == seen)
    place.sleep(seen, Duration::max());
  interrupter.join();
  w.clock.advance(WaitingLine::grace + moment);
  CHECK_FALSE(next.is_first());
}

TEST_CASE("a sleep in line ends with a call, with its patience, and at once if called before") {
  World w;
  auto place = w.join(w.a);
  const auto seen = place.calls();
  place.sleep(seen, 1ms);
  w.b->line().call_first("r");
  place.sleep(seen, Duration::max());
  const auto called = place.calls();
  std::thread caller([&] { w.b->line().call_first("r"); });
  while (place.calls() == called)
    place.sleep(called, Duration::max());
  caller.join();
  CHECK(place.calls() == called + 1);
}

TEST_CASE("a full shard refuses places and has one again when somebody leaves") {
  World w;
  std::vector<WaitingLine::Place> places;
  for (std::size_t i = 0; i < WaitingLine::places_per_shard; ++i)
    places.push_back(w.join(i % 2 == 0 ? w.a : w.b));
  CHECK_FALSE(w.a->line().join("r", Instant::max()));
  CHECK(places.front().is_first());
  CHECK_FALSE(places.back().is_first());
  places.erase(places.begin() + 100);
  CHECK(w.a->line().join("r", Instant::max()));
}

TEST_CASE("a full shard has room again when those in it died") {
  World w;
  const auto own = w.join(w.a);
  CHECK(Fork([&] {
          const auto sidecar = w.shore.open(3, w.clock);
          std::vector<WaitingLine::Place> places;
          while (auto place = sidecar->line().join("r", Instant::max()))
            places.push_back(*std::move(place));
          return raise(SIGKILL);
        }).wait() == 128 + SIGKILL);
  REQUIRE(w.a->line().count() == WaitingLine::places_per_shard);
  CHECK(w.join(w.b).calls() == 0);
}
