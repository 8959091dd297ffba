// Damaged deliveries: one that cannot be shown stops neither its destination nor its resource, and
// its damage is told (case O41).
#include "repository_support.hpp"
#include "sqlite/invariants.hpp"

namespace wallock::test {
namespace {

ClaimOptions from_bank(std::uint32_t limit) {
  ClaimOptions options{.destination = "bank"};
  options.limit = limit;
  options.holder = Given<HolderId>("relay");
  return options;
}

// "bad", due first; then "good" of another resource, and "behind" of the first one's.
struct Spoilt {
  TempStore at;
  Coordinator store = at.open();
  RawDatabase raw = at.raw();
  std::string bad;  // its position
  std::vector<Delivery> taken;

  Spoilt() {
    put("r", "bad");
    bad = raw.text("SELECT CAST(max(position) AS TEXT) FROM wallock_deliveries");
    at.clock->advance(1s);
    put("s", "good");
    put("r", "behind");
  }
  void put(const std::string& resource, const std::string& id) {
    REQUIRE(answer(store.execute(resource, sent(id, std::string(3000, id.front())))) == "ok");
  }
  // Where what the schema refuses is to be planted.
  void plant(const std::string& sql) {
    raw.must(raw.text(
        "SELECT group_concat('DROP TRIGGER ' || name, ';') FROM sqlite_schema WHERE type = "
        "'trigger' AND tbl_name LIKE 'wallock_%'"));
    raw.must("PRAGMA ignore_check_constraints = 1");
    raw.must(sql);
  }
  // The ids that a claim takes, or its error.
  std::string claim(std::uint32_t limit) {
    auto claimed = store.claim(from_bank(limit));
    if (!claimed) return answer(claimed);
    std::string ids;
    for (Delivery& delivery : *claimed) {
      ids += (ids.empty() ? "" : " ") + delivery.action_id().str();
      taken.push_back(std::move(delivery));
    }
    return ids;
  }
};

const std::string of_deliveries = "UPDATE wallock_deliveries SET ";

}  // namespace

TEST_CASE("a delivery whose content is gone is a dead letter, and the others go on (O41)") {
  const auto* const damage = GENERATE(
      "DELETE FROM wallock_payloads WHERE position = ",
      "DELETE FROM wallock_lease_queue_events WHERE position = ",
      "UPDATE wallock_lease_queue_events SET action_id = NULL WHERE position = ",
      "UPDATE wallock_lease_queue_events SET action_id = '' WHERE position = ",
      "UPDATE wallock_lease_queue_events SET action_id = CAST(x'01' AS TEXT) WHERE position = ");
  CAPTURE(damage);
  Spoilt at;
  at.plant(damage + at.bad);
  News news(at.store);
  CHECK(at.claim(1) == "good");
  CHECK(news() == "delivery_dead delivery_claimed");
  CHECK(at.claim(1) == "behind");  // the dead do not block
  for (const Delivery& delivery : at.taken)
    CHECK(effect(at.store.settle(delivery, DeliveryOutcome::delivered())) == "sealed");
  CHECK(at.claim(100) == "");
  const auto health = at.store.health().value();
  CHECK(health.deliveries == 0);
  CHECK(health.dead_letters == 1);
  // What is gone stays gone for whoever checks.
  CHECK(verdict(at.store) == "DAMAGED");
  CHECK_FALSE(sqlite::check_invariants(at.at.path()).value().empty());
}

TEST_CASE("a damaged delivery's record says so, who met it, and under which claim it was (O41)") {
  Spoilt at;
  const bool was_claimed = GENERATE(false, true);
  FencingToken claim_token;
  if (was_claimed) {
    REQUIRE(at.claim(2) == "bad good");
    claim_token = at.taken.front().claim_token();
    at.at.clock->advance(1h);
  }
  at.plant("DELETE FROM wallock_payloads WHERE position = " + at.bad);
  CHECK(at.claim(1) == (was_claimed ? "behind" : "good"));  // what is due longest then
  const auto records = at.store.audit().value();
  REQUIRE(records.size() > 2);
  CHECK(records[records.size() - 2].entry() ==
        LedgerEntry{.kind = RecordKind::delivery_dead,
                    .resource = ResourceName::parse("r").value(),
                    .token = claim_token,
                    .state = ActionState::quarantined,
                    .subject = std::stoull(at.bad),
                    .actor = "relay",
                    .detail = "damaged"});
  CHECK(at.raw.text("SELECT resource || destination || attempts FROM wallock_dead_letters") ==
        std::string("rbank") + (was_claimed ? "1" : "0"));
  if (!was_claimed) return;
  CHECK(answer(at.store.settle(at.taken.front(), DeliveryOutcome::delivered())) == "claim_lost");
}

TEST_CASE("a delivery row that cannot be right is taken out, and the others go on (O41)") {
  struct Case {
    const char* set;
    const char* reason;
    const char* first;  // that a claim of two takes: exhausted ones take a place of it
  };
  const auto damage = GENERATE(values<Case>({
      {"claim_token = 9223372036854775807", "damaged", "good behind"},
      {"attempt = 5000000000", "max_attempts", "good"},
      {"attempt = -1", "max_attempts", "good"},
  }));
  CAPTURE(damage.set);
  Spoilt at;
  at.plant(of_deliveries + damage.set + " WHERE position = " + at.bad);
  const auto before = at.store.root().value().size;
  CHECK(at.claim(2) == damage.first);
  const auto records = at.store.audit({.from = before}).value();
  REQUIRE_FALSE(records.empty());
  CHECK(records.front().entry().kind == RecordKind::delivery_dead);
  CHECK(records.front().entry().detail == damage.reason);
  CHECK(records.front().entry().token == FencingToken());
  CHECK(at.claim(2) == (damage.first == std::string("good") ? "behind" : ""));
  CHECK(verdict(at.store) == "UNANCHORED");  // the ledger is whole
}

TEST_CASE("a dead letter that is there already does not keep a damaged delivery in the way (O41)") {
  Spoilt at;
  at.plant("DELETE FROM wallock_payloads WHERE position = " + at.bad);
  at.raw.must("INSERT INTO wallock_dead_letters VALUES (" + at.bad + ", 'x', 'y', 7, 0)");
  CHECK(at.claim(1) == "good");
  CHECK(at.raw.integer("SELECT attempts FROM wallock_dead_letters") == 7);
}

TEST_CASE("a payload on a page that cannot be read is a dead letter, and the others go on (O41)") {
  TempFolder folder;
  const std::string copy = folder.file("store.db");
  const auto clock = std::make_shared<ManualClock>();
  {
    Spoilt at;
    at.raw.must("PRAGMA wal_checkpoint(TRUNCATE)");
    at.raw.must("VACUUM INTO '" + copy + "'");
    clock->advance(at.at.clock->now() - clock->now());
  }
  // The payload goes on over pages that are its own: the first four bytes lead to the next one.
  std::string bytes = read_file(copy);
  const auto inside = bytes.find(std::string(1020, 'b'));
  REQUIRE(inside % 1024 == 4);
  bytes.replace(inside - 4, 4, "\x7f\xff\xff\xff");
  write_file(copy, bytes);

  Options options;
  options.durability = Durability::relaxed;
  options.clock = clock;
  auto store = Coordinator::open(copy, options).value();
  News news(store);
  CHECK(answer(store.claim(from_bank(100))) == "ok");
  CHECK(news() == "delivery_dead delivery_claimed delivery_claimed");
}

TEST_CASE(
    "a table that is gone is no damage of one delivery: the claim fails and changes nothing") {
  Spoilt at;
  at.plant("ALTER TABLE wallock_payloads RENAME TO elsewhere");
  News news(at.store);
  CHECK(at.claim(1) == "store_corrupt");
  CHECK(news() == "-");
  at.plant("ALTER TABLE elsewhere RENAME TO wallock_payloads");
  CHECK(at.claim(1) == "bad");
}

TEST_CASE(
    "a delivery of a resource without a readable name is passed over, and not settled (O41)") {
  Spoilt at;
  REQUIRE(at.claim(1) == "bad");
  SECTION("its own name is gone") {
    at.plant(of_deliveries + "resource = '' WHERE position = " + at.bad);
  }
  SECTION("it has the name that its resource has") {
    at.plant(of_deliveries + "resource = CAST(x'01' AS TEXT) WHERE position = " + at.bad);
    at.raw.must("UPDATE wallock_resources SET resource = CAST(x'01' AS TEXT) WHERE resource = 'r'");
  }
  at.at.clock->advance(1h);
  CHECK(at.claim(1) == "good");
  const auto settled = at.store
                           .settle_all({{{at.taken[0], DeliveryOutcome::delivered()},
                                         {at.taken[1], DeliveryOutcome::delivered()}}})
                           .value();
  REQUIRE(settled.size() == 2);
  CHECK(answer(settled[0]) == "store_corrupt");
  CHECK(effect(settled[1]) == "sealed");  // its neighbour's damage is not its own
  CHECK(at.store.health().value().deliveries == 2);
  CHECK_FALSE(sqlite::check_invariants(at.at.path()).value().empty());
}

TEST_CASE("a claim of one goes on past any number of damaged deliveries (O41)") {
  Spoilt at;
  for (int i = 0; i < 20; ++i)
    at.put("many" + std::to_string(i), "b" + std::to_string(i));
  at.at.clock->advance(1s);
  at.put("last", "late");
  at.plant(
      "DELETE FROM wallock_payloads WHERE position < (SELECT max(position) FROM "
      "wallock_payloads)");
  CHECK(at.claim(1) == "late");
  CHECK(at.store.health().value().dead_letters == 23);
}

}  // namespace wallock::test
