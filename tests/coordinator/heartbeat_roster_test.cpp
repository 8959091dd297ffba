// The roster of guarded leases: what is due, in which order, and who is renewed with whom.
#include "coordinator/heartbeat_roster.hpp"

#include "coordinator_support.hpp"

using namespace wallock;
using namespace wallock::test;
using detail::HeartbeatRoster;
using detail::HeldLease;
using detail::RenewalBatch;

namespace {

constexpr Instant start{100s};

std::shared_ptr<HeldLease> held(std::string_view resource, Duration ttl = 30s,
                                Instant requested = start, GuardOptions options = {}) {
  const auto lease = Lease::create({.resource = ResourceName::parse(resource).value(),
                                    .token = FencingToken::of(1, 500).value(),
                                    .holder = HolderId::parse("ann").value(),
                                    .requested_at = requested,
                                    .granted_at = requested,
                                    .expires_at = requested + ttl});
  return std::make_shared<HeldLease>(lease.value(), ttl, std::move(options));
}

// The resources of a batch, in its order.
std::string names(const RenewalBatch& batch) {
  std::string all;
  for (const auto& request : batch.requests())
    all += (all.empty() ? "" : " ") + request.lease.resource().str();
  return all;
}

// What the store answers when it renews all of them.
std::vector<Result<Lease>> renewed(const RenewalBatch& batch, Instant now) {
  std::vector<Result<Lease>> answers;
  for (const auto& [lease, ttl] : batch.requests()) {
    answers.push_back(Lease::create({.resource = lease.resource(),
                                     .token = lease.token(),
                                     .holder = lease.holder(),
                                     .requested_at = now,
                                     .granted_at = now,
                                     .expires_at = now + ttl}));
  }
  return answers;
}

void add(HeartbeatRoster& roster, const std::vector<std::shared_ptr<HeldLease>>& leases) {
  for (const auto& lease : leases)
    roster.add(lease);
}

constexpr std::size_t any = 256;

}  // namespace

TEST_CASE("a roster of nobody has nothing due") {
  HeartbeatRoster roster;
  CHECK(roster.next_loss() == Instant::max());
  CHECK(roster.next_renewal(start) == Instant::max());
  CHECK(roster.take_due(start, any).empty());
  CHECK(roster.take_lost(start).empty());
}

TEST_CASE("a roster tells the earliest loss and the earliest renewal") {
  HeartbeatRoster roster;
  const auto one = held("a", 30s);
  const auto two = held("b", 60s);
  const auto three = held("c", 15s, start, {.heartbeat = false});
  add(roster, {one, two, three});
  CHECK(roster.next_loss() == start + 13500ms);
  CHECK(roster.next_renewal(start) == start + 10s);
  CHECK_FALSE(roster.remove(*three).empty());
  CHECK(roster.next_loss() == start + 27s);
  CHECK_FALSE(roster.remove(*one).empty());
  CHECK(roster.next_renewal(start) == start + 20s);
  CHECK(roster.remove(*one).empty());
}

TEST_CASE("nothing is renewed before the first renewal is due") {
  HeartbeatRoster roster;
  add(roster, {held("a"), held("b")});
  CHECK(roster.take_due(start + 10s - 1ns, any).empty());
  CHECK(names(roster.take_due(start + 10s, any)) == "a b");
}

TEST_CASE("those due within three tenths of the interval are renewed along, others are not") {
  HeartbeatRoster roster;
  add(roster, {held("a"), held("b", 30s, start + 3s), held("c", 30s, start + 3s + 1ns),
               held("d", 30s, start, {.heartbeat = false})});
  const auto batch = roster.take_due(start + 10s, any);
  CHECK(names(batch) == "a b");
  CHECK(roster.next_renewal(start + 10s) == start + 13s + 1ns);
}

TEST_CASE("the lease that is lost first is renewed first, then its neighbours by name") {
  HeartbeatRoster roster;
  add(roster, {held("a"), held("b"), held("m", 30s, start - 1s), held("n"), held("z")});
  CHECK(names(roster.take_due(start + 10s, 3)) == "m n z");
  CHECK(roster.next_renewal(start + 10s) == Instant::min());
  CHECK(names(roster.take_due(start + 10s, 3)) == "a b");
}

TEST_CASE("a batch holds no more leases than asked for, and none of them twice") {
  HeartbeatRoster roster;
  std::vector<std::shared_ptr<HeldLease>> leases;
  for (int i = 0; i < 1000; ++i)
    leases.push_back(held("r" + std::to_string(i)));
  add(roster, leases);
  std::vector<RenewalBatch> batches;
  std::size_t taken = 0;
  for (;;) {
    auto batch = roster.take_due(start + 10s, any);
    if (batch.empty()) break;
    CHECK(batch.size() <= any);
    taken += batch.size();
    batches.push_back(std::move(batch));
  }
  CHECK(taken == 1000);
  CHECK(batches.size() == 4);
}

TEST_CASE("a lease of little patience is not kept waiting by those of much, nor they cut short") {
  HeartbeatRoster roster;
  add(roster, {held("a", 30s), held("b", 90ms, start + 9970ms), held("c", 30s)});
  const auto first = roster.take_due(start + 10s, any);
  CHECK(names(first) == "b");
  CHECK(first.deadline() == start + 10s + 10ms);
  const auto second = roster.take_due(start + 10s, any);
  CHECK(names(second) == "a c");
  CHECK(second.deadline() == start + 10s + 250ms);
}

TEST_CASE("leases that are renewed together are due together from then on") {
  HeartbeatRoster roster;
  add(roster, {held("a"), held("b", 30s, start + 900ms)});
  auto batch = roster.take_due(start + 10s, any);
  REQUIRE(names(batch) == "a b");
  CHECK(roster.next_renewal(start + 10s) == Instant::max());
  batch.answer(renewed(batch, start + 10s), start + 10s);
  for (const auto& lease : batch.leases())
    roster.refile(*lease);
  CHECK(roster.next_renewal(start + 10s) == start + 20s);
  CHECK(roster.next_loss() == start + 37s);
  CHECK(names(roster.take_due(start + 20s, any)) == "a b");
}

TEST_CASE("each lease of a batch gets its own answer") {
  HeartbeatRoster roster;
  const std::vector leases{held("a"), held("b"), held("c")};
  add(roster, leases);
  auto batch = roster.take_due(start + 10s, any);
  REQUIRE(names(batch) == "a b c");
  auto answers = renewed(batch, start + 10s);
  answers[1] = fail(Errc::lease_lost);
  answers.pop_back();  // a store that forgets one
  batch.answer(answers, start + 10s);
  for (const auto& lease : leases)
    roster.refile(*lease);
  CHECK(leases[0]->lease().requested_at() == start + 10s);
  CHECK(leases[2]->lease().requested_at() == start);
  CHECK(roster.next_loss() == Instant::min());
  const auto lost = roster.take_lost(start + 10s);
  REQUIRE(lost.size() == 1);
  CHECK(lost.begin()->second.held == leases[1]);
  CHECK(leases[1]->reason() == LossReason::revoked);
  CHECK(roster.next_renewal(start + 10s) == start + 10s + 250ms);
}

TEST_CASE("a batch that nobody answered gives its turns back") {
  HeartbeatRoster roster;
  const auto lease = held("a");
  roster.add(lease);
  {
    const auto batch = roster.take_due(start + 10s, any);
    REQUIRE(batch.size() == 1);
    Errc code{};
    std::thread([&] { code = lease->take_turn(0s).error().code(); }).join();
    CHECK(code == Errc::busy);
  }
  REQUIRE(lease->take_turn(0s));
  static_cast<void>(lease->give_turn_back());
}

TEST_CASE("a pause after a failure is not cut short by the company of others") {
  HeartbeatRoster roster;
  const auto failed = held("a", 30s, start);
  const auto other = held("b", 30s, start + 100ms);
  add(roster, {failed, other});
  failed->refused(Error(Errc::busy), start + 10s);
  roster.refile(*failed);
  CHECK(names(roster.take_due(start + 10s + 100ms, any)) == "b");
  CHECK(names(roster.take_due(start + 10s + 250ms, any)) == "a");
}

TEST_CASE("a lease whose commit has the turn is passed over, without a rush of attempts") {
  HeartbeatRoster roster;
  const auto busy = held("a");
  add(roster, {busy, held("b")});
  REQUIRE(busy->take_turn(0s));
  CHECK(names(roster.take_due(start + 10s, any)) == "b");
  CHECK(roster.next_renewal(start + 10s) == start + 27s);
  CHECK(busy->give_turn_back());
  CHECK(names(roster.take_due(start + 10s, any)) == "a");
}

TEST_CASE("a lease whose time is over is not renewed, and waits for nobody to take it out") {
  HeartbeatRoster roster;
  const auto lease = held("a");
  roster.add(lease);
  CHECK(roster.take_due(start + 27s, any).empty());
  CHECK(roster.next_renewal(start + 27s) == Instant::max());
  const auto lost = roster.take_lost(start + 27s);
  CHECK(lost.size() == 1);
  CHECK(lease->reason() == LossReason::expired);
  CHECK_FALSE(lease->lost().stop_requested());  // that is for whoever tells
  CHECK(roster.next_loss() == Instant::max());
}

TEST_CASE("a lease that a commit moved on is found to be due later, and lost later") {
  HeartbeatRoster roster;
  const auto lease = held("a");
  roster.add(lease);
  const auto later = Lease::create({.resource = lease->resource(),
                                    .token = lease->lease().token(),
                                    .holder = lease->lease().holder(),
                                    .requested_at = start + 9s,
                                    .granted_at = start + 9s,
                                    .expires_at = start + 39s});
  lease->renewed(later, start + 9s);
  CHECK(roster.take_due(start + 10s, any).empty());
  CHECK(roster.next_renewal(start + 10s) == start + 19s);
  CHECK(roster.take_lost(start + 27s).empty());
  CHECK(roster.next_loss() == start + 36s);
}

TEST_CASE("two leases on one resource stand side by side in a roster") {
  HeartbeatRoster roster;
  const auto one = held("a");
  const auto two = held("a", 30s, start + 500ms);
  add(roster, {one, two});
  CHECK(roster.remove(*one).mapped().held == one);
  CHECK(roster.next_renewal(start) == start + 10500ms);
}
