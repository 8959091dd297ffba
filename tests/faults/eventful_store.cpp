#include "eventful_store.hpp"

#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ledger/sha256.hpp"
#include "sqlite/event_row.hpp"
#include "sqlite/invariants.hpp"
#include "sqlite/reader.hpp"
#include "wallock/ledger/frame.hpp"
#include "wallock/ledger/merkle.hpp"

namespace wallock::test {
namespace {

using namespace std::chrono_literals;

void must(const Status& status) {
  if (!status) throw std::runtime_error(to_string(status.error()));
}

AcquireOptions held_by(std::string_view holder) {
  AcquireOptions options;
  options.holder = Given<HolderId>(holder);
  options.ttl = 10s;
  return options;
}

ActionFields action(std::string_view id, bool sent = false) {
  ActionFields fields{.id = id, .payload = "payload"};
  if (sent) fields.destination = Given<Destination>("bank");
  fields.security_score = Score::parse("0.25").value();
  return fields;
}

// Leases on "account": granted, renewed, kept, released, revoked, expired, and one that lives.
void work_with_leases(Coordinator& store, ManualClock& clock) {
  auto with_id = held_by("ann");
  with_id.action_id = Given<ActionId>("request-1");
  auto lease = store.acquire("account", with_id).value();
  lease = store.renew(lease, 20s).value();
  auto kept = store.commit(lease, {action("a1"), action("a2")}, {}, {.after = AfterCommit::keep});
  kept = store.commit(*kept->lease(), action("a3"), {}, {.after = AfterCommit::release});
  kept.value();
  store.execute("account", action("a4")).value();
  const auto bob = store.acquire("account", held_by("bob")).value();
  must(store.revoke("account", bob.token(), "by hand"));
  const auto eve = store.acquire("account", held_by("eve")).value();
  static_cast<void>(eve);
  clock.advance(11s);
  const auto joe = store.acquire("account", held_by("joe")).value();
  store.commit(joe, action("a5")).value();
  store.release(joe).value();
  store.acquire("account", held_by("zoe")).value();
}

// The breaker of "bank": counted, cleared, tripped, late, probed in vain, recovered, forced.
void work_with_breaker(Coordinator& store, ManualClock& clock) {
  const auto lease = store.acquire("bank", held_by("ann")).value();
  store.report(lease, DownstreamOutcome::timeout).value();
  store.report(lease, DownstreamOutcome::success).value();
  for (int i = 0; i < 4; ++i)
    store.report(lease, DownstreamOutcome::timeout).value();
  clock.advance(10s);
  auto probe = store.begin_recovery("bank", {.ttl = 1s}).value();
  must(store.complete_recovery(probe, {.recovered = false, .evidence = "no answer"}));
  clock.advance(20s);
  static_cast<void>(store.begin_recovery("bank", {.ttl = 1s}).value());
  clock.advance(60s);
  probe = store.begin_recovery("bank", {.ttl = 1s}).value();
  must(store.complete_recovery(probe, {.recovered = true, .evidence = "answered"}));
  store.execute("bank", action("b1")).value();
  must(store.force_open("bank", "for maintenance"));
  must(store.clear_forced("bank"));
  clock.advance(60s);
  static_cast<void>(store.begin_recovery("bank", {.ttl = 1h}).value());
}

// Deliveries of "mail": sealed, retried, rejected, used up, claimed and waiting ones.
void work_with_outbox(Coordinator& store, ManualClock& clock) {
  for (const auto* id : {"m1", "m2", "m3", "m4", "m5"})
    store.execute("mail", action(id, true)).value();
  store.execute("post", action("p1", true)).value();
  const auto next = [&] { return store.claim({.destination = "bank"}).value().at(0); };
  store.settle(next(), DeliveryOutcome::delivered()).value();  // m1
  store.settle(next(), DeliveryOutcome::retry(1s)).value();    // m2
  store.settle(next(), DeliveryOutcome::reject()).value();     // p1
  clock.advance(60s);
  static_cast<void>(next());  // m2 again, and never settled
  clock.advance(60s);
  static_cast<void>(store.claim({.destination = "bank"}).value());  // m2's attempts are used up
  static_cast<void>(next());                                        // m3
  clock.advance(60s);
  static_cast<void>(next());  // m3 again: it stays claimed, m4 and m5 wait behind it
  store.execute("post", action("p2", true)).value();
}

// The file of the closed store.
std::string make() {
  TempStore at;
  auto options = at.options();
  options.breaker = {.trip_after = 3, .first_interval = 10s, .max_interval = 60s};
  options.delivery.max_attempts = 2;
  {
    auto store = at.open(options);
    work_with_leases(store, *at.clock);
    work_with_breaker(store, *at.clock);
  }
  at.clock->reboot("boot-2");
  {
    auto store = at.open(options);
    work_with_outbox(store, *at.clock);
    store.acquire("account", held_by("ann")).value();
  }
  return read_file(at.path());
}

}  // namespace

EventfulStore::EventfulStore() {
  static const std::string content = make();
  write_file(path(), content);
}

void EventfulStore::spoil(const std::string& sql) const {
  RawDatabase raw(path());
  const auto triggers = raw.text(
      "SELECT group_concat('DROP TRIGGER ' || name, ';') FROM sqlite_schema WHERE type = "
      "'trigger'");
  raw.must(triggers);
  raw.must("DROP INDEX wallock_events_action_id; PRAGMA ignore_check_constraints = 1");
  raw.must(sql);
  if (sqlite3_changes(raw.handle()) == 0) throw std::runtime_error("changes nothing: " + sql);
}

void EventfulStore::reseal() const {
  struct Sealed {
    std::uint64_t position;
    Digest leaf;
    ledger::CompletedNodes nodes;
  };
  RawDatabase raw(path());
  std::vector<Sealed> rows;
  auto hasher = ledger::Sha256::create().value();
  {
    ledger::Frontier frontier;
    sqlite::Statement select("SELECT " WALLOCK_EVENT_COLUMNS
                             " FROM wallock_lease_queue_events ORDER BY position");
    sqlite::Query query(raw.handle(), select);
    while (query.step().value()) {
      const auto event = sqlite::read_event(query);
      std::string frame;
      if (!event || !ledger::append_frame(frame, event->position, event->recorded_at, event->entry))
        throw std::runtime_error("not a record any more");
      const Digest leaf = hasher.leaf(ledger::as_bytes(frame));
      rows.push_back({event->position, leaf, frontier.append(leaf, hasher)});
    }
  }
  sqlite::Statement update(
      "UPDATE wallock_lease_queue_events SET leaf_hash = ?2, nodes = ?3 WHERE position = ?1");
  for (const Sealed& row : rows) {
    const std::span<const std::uint8_t> leaf(row.leaf.bytes());
    const auto nodes = row.nodes.empty() ? std::optional<std::span<const std::uint8_t>>()
                                         : std::optional(row.nodes.bytes());
    must(sqlite::Query(raw.handle(), update, row.position, leaf, nodes).run());
  }
}

std::string EventfulStore::broken() const {
  const auto violations = sqlite::check_invariants(path()).value();
  std::string names;
  std::set<sqlite::Invariant> seen;
  for (const auto& violation : violations) {
    if (!seen.insert(violation.invariant).second) continue;
    names += (names.empty() ? "" : " ") + std::string(to_string(violation.invariant));
  }
  return names;
}

}  // namespace wallock::test
