#include "fuzz/golden_store.hpp"

#include <chrono>
#include <stdexcept>

#include "sqlite/invariants.hpp"
#include "temp_store.hpp"
#include "wallock/coordinator.hpp"

namespace wallock::fuzz {
namespace {

using namespace std::chrono_literals;
using test::RawDatabase;
using test::read_file;
using test::TempFolder;
using test::write_file;

constexpr const char* boot = "golden-boot";
constexpr auto last_moment = std::chrono::hours(2);

void must(const Status& status) {
  if (!status) throw std::runtime_error(to_string(status.error()));
}

AcquireOptions held_by(std::string_view holder, Duration ttl = 1h) {
  AcquireOptions options;
  options.holder = Given<HolderId>(holder);
  options.ttl = ttl;
  return options;
}

ActionFields action(std::string_view id, bool sent = false) {
  ActionFields fields{.id = id, .payload = "what it carries"};
  if (sent) fields.destination = Given<Destination>("post");
  fields.security_score = Score::parse("0.5").value();
  return fields;
}

Options options_on(std::shared_ptr<ManualClock> clock) {
  Options options;
  options.durability = Durability::relaxed;
  options.breaker = {.trip_after = 2, .first_interval = 10s, .max_interval = 60s};
  options.clock = std::move(clock);
  return options;
}

// Before the last checkpoint.
void early_work(Coordinator& store, ManualClock& clock) {
  auto lease = store.acquire("account", held_by("ann")).value();
  lease = store.renew(lease, 2h).value();
  lease = *store.commit(lease, action("a1"), {}, {.after = AfterCommit::keep}).value().lease();
  store.commit(lease, action("a2"), {}, {.after = AfterCommit::release}).value();
  const auto late = store.acquire("account", held_by("bob", 1s)).value();
  clock.advance(2s);
  store.acquire("account", held_by("eve")).value();
  must(store.revoke("account", store.leases().value().at(0).lease.token(), "by hand"));
  store.release(late).value();
  const auto bank = store.acquire("bank", held_by("ann")).value();
  for (int i = 0; i < 2; ++i)
    store.report(bank, DownstreamOutcome::timeout).value();
  for (const auto* id : {"m1", "m2", "m3"})
    store.execute("mail", action(id, true)).value();
  const auto sent = store.claim({.destination = "post"}).value();
  store.settle(sent.at(0), DeliveryOutcome::delivered()).value();
}

// What only the log holds.
void late_work(Coordinator& store) {
  store.acquire("account", held_by("joe")).value();
  const auto once = store.acquire("once", held_by("ann")).value();
  store.commit(once, action("o1")).value();  // spent, and still held
  store.acquire("probed", held_by("zoe")).value();
  must(store.force_open("shut", "for maintenance"));
  static_cast<void>(store.claim({.destination = "post"}).value());
}

Lease lease_of(const AuditRecord& grant, RawDatabase& raw) {
  const std::string row =
      " FROM wallock_resources WHERE resource = '" + grant.entry().resource->str() +
      "' AND holder IS NOT NULL AND issued = " + std::to_string(grant.entry().token.value());
  const bool is_current = raw.integer("SELECT count(*)" + row) == 1;
  const auto until = *grant.entry().until;
  const Instant granted =
      is_current ? Instant(Duration(raw.integer("SELECT granted_at" + row))) : until - 1s;
  return Lease::create({.resource = *grant.entry().resource,
                        .token = grant.entry().token,
                        .holder = HolderId::parse(grant.entry().actor).value(),
                        .instance = InstanceId{static_cast<std::uint64_t>(
                            is_current ? raw.integer("SELECT instance" + row) : 7)},
                        .requested_at = granted,
                        .granted_at = granted,
                        .expires_at = until})
      .value();
}

}  // namespace

std::shared_ptr<ManualClock> golden_clock() {
  return std::make_shared<ManualClock>(Instant(last_moment), WallTime(std::chrono::days(20'001)),
                                       boot);
}

void make_golden_store(const std::string& folder) {
  const TempFolder at;
  const std::string path = at.file("store.db");
  {
    RawDatabase raw(path);
    raw.must("PRAGMA page_size = 512; CREATE TABLE app (id INTEGER PRIMARY KEY, note TEXT)");
  }
  const auto clock = std::make_shared<ManualClock>(Instant(last_moment - 10min),
                                                   WallTime(std::chrono::days(20'000)), boot);
  {
    auto store = Coordinator::open(path, options_on(clock)).value();
    early_work(store, *clock);
  }
  auto store = Coordinator::open(path, options_on(clock)).value();
  late_work(store);
  write_file(folder + "/store.db", read_file(path));
  write_file(folder + "/store.db-wal", read_file(path + "-wal"));
}

GoldenStore load_golden_store() {
  GoldenStore golden;
  golden.database = read_file(WALLOCK_FUZZ_CORPUS_DIR "/store.db");
  golden.log = read_file(WALLOCK_FUZZ_CORPUS_DIR "/store.db-wal");
  const TempFolder at;
  const std::string path = at.file("store.db");
  write_file(path, golden.database);
  write_file(path + "-wal", golden.log);
  {
    auto store = Coordinator::open(path, options_on(golden_clock())).value();
    golden.records = store.audit({.limit = 10'000}).value();
    golden.head = store.root().value();
  }
  if (!sqlite::check_invariants(path).value().empty()) {
    throw std::runtime_error("the golden store is not in order");
  }
  RawDatabase raw(path);
  for (const AuditRecord& record : golden.records) {
    if (record.entry().kind == RecordKind::lease_granted) {
      golden.leases.push_back(lease_of(record, raw));
    }
    if (!record.entry().resource) continue;
    const std::string& name = record.entry().resource->str();
    const std::string which = " WHERE resource = '" + name + "'";
    golden.fences[name] =
        FencingToken::from_value(static_cast<std::uint64_t>(raw.integer(
                                     "SELECT max_fence FROM wallock_resources" + which)))
            .value();
    golden.closed[name] =
        raw.integer("SELECT count(*) FROM wallock_breakers" + which + " AND state <> 0") == 0;
  }
  return golden;
}

}  // namespace wallock::fuzz
