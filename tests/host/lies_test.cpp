// What the shared memory says may be anything: whoever may write the database may write it. It
// costs time, never an endless wait, a crash or a step outside.
#include <cstring>
#include <iostream>

#include "host_support.hpp"
#include "thread_sanitizer.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

// Everything behind the header.
void scramble(host::SidecarLayout& layout, std::mt19937& random) {
  auto* const bytes = reinterpret_cast<unsigned char*>(&layout);
  const bool is_sparse = random() % 2 == 0;
  for (std::size_t at = sizeof layout.header; at < sizeof layout; at += sizeof(std::uint32_t)) {
    const auto word = static_cast<std::uint32_t>(random());
    if (!is_sparse || word % 4 == 0) std::memcpy(bytes + at, &word, sizeof word);
  }
}

void use(Sidecar& sidecar, const std::string& resource) {
  if (sidecar.turnstile().enter(1ms)) sidecar.turnstile().leave();
  auto place = sidecar.line().join(resource, Instant::max());
  static_cast<void>(sidecar.line().is_waited_for(resource));
  sidecar.line().call_first(resource);
  if (place) {
    static_cast<void>(place->is_first());
    place->sleep(place->calls(), 1us);
    if (const auto pulse = sidecar.membership().pulse_of(1))
      static_cast<void>(place->sleep(place->calls(), *pulse, 1us));
    place->stay();
    place->interrupt();
  }
  sidecar.doorbell().ring(resource);
  sidecar.doorbell().sleep(resource, sidecar.doorbell().rings(resource), 1us);
  static_cast<void>(sidecar.membership().is_dead(3));
  static_cast<void>(sidecar.membership().count() + sidecar.line().count());
  for (unsigned shift = 0; shift < 64; ++shift)
    static_cast<void>(sidecar.membership().lives(std::uint64_t{1} << shift));
}

}  // namespace

TEST_CASE("a sidecar full of nonsense leads nobody astray") {
  const unsigned seed = draw_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < storm(thread_sanitizer ? 2 : 10); ++round) {
    const Shore shore;
    const auto a = shore.open(1);
    const auto b = shore.open(2);
    const auto place = a->line().join("r", Instant::max());
    const RawSidecar raw(shore.sidecar());
    scramble(*raw, random);
    for (int i = 0; i < 5; ++i) {
      use(*a, "r");
      use(*b, std::to_string(i));
    }
    CHECK_FALSE(a->membership().is_dead(2));
    CHECK_FALSE(b->membership().is_dead(1));
    static_cast<void>(shore.open_error());
  }
}

TEST_CASE("a place that is no one's does not keep a resource from being asked for") {
  const Shore shore;
  const ManualClock clock;
  const auto own = shore.open(1, clock);
  const auto other = shore.open(2, clock);
  const RawSidecar raw(shore.sidecar());
  auto place = own->line().join("r", Instant::max());
  REQUIRE(place);
  const auto shard = host::hash_of("r") % host::WaitingLine::shards;
  host::WaitingSlot& lie = raw->line.slots[shard][200];
  raw->line.shards[shard].used[200 / 64] |= std::uint64_t{1} << (200 % 64);
  const auto told = [&](std::int64_t until, std::int64_t called_at, std::int64_t looked_at) {
    lie.owner = other->membership().mark();
    lie.hash = host::hash_of("r");
    lie.until = until;
    lie.called_at = called_at;
    lie.looked_at = looked_at;
    lie.ticket = 0;
    lie.ticket.exchange(0);
    lie.ticket = 1;
    return place->is_first();
  };
  constexpr auto ever = std::numeric_limits<std::int64_t>::max();
  constexpr auto never = std::numeric_limits<std::int64_t>::min();
  const std::int64_t now = clock.now().time_since_epoch().count();
  raw->line.tickets = 100;
  place = own->line().join("r", Instant::max());
  CHECK_FALSE(told(ever, 0, now));
  CHECK(told(never, 0, now));
  CHECK(told(ever, ever, now));
  CHECK(told(ever, never, now));
  CHECK(told(ever, 0, ever));
  CHECK(told(ever, 0, never));
  CHECK(told(ever, 0, 0));
}

TEST_CASE("a turn that is said to be somebody's who is not there is taken") {
  const Shore shore;
  const auto own = shore.open(1);
  const RawSidecar raw(shore.sidecar());
  for (const std::uint64_t holder : {std::uint64_t{1}, std::uint64_t{4096}, ~std::uint64_t{0}}) {
    raw->turnstile.holder = holder;
    CHECK(own->turnstile().enter(0s));
    own->turnstile().leave();
  }
}
