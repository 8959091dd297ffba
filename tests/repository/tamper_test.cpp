// Somebody who can write the file: what verify says of each thing that he can do to it.
#include "repository_support.hpp"

namespace wallock::test {
namespace {

struct Tampered {
  TempStore at;
  Coordinator store = at.open();
  RawDatabase raw = at.raw();
  TreeHead head;

  // Records 0 to 63; positions of actions with a payload: 2, 5, 8, ..
  Tampered() {
    for (int i = 0; i < 21; ++i) {
      ActionFields fields = sent("a" + std::to_string(i), "payload " + std::to_string(i % 5));
      fields.amount = Decimal::of(i, 2).value();
      REQUIRE(answer(store.execute("r" + std::to_string(i % 2), fields)) == "ok");
    }
    head = store.root().value();
    REQUIRE(head.size == 64);
    const auto drops = raw.text(
        "SELECT group_concat('DROP TRIGGER ' || name, ';') FROM sqlite_schema WHERE type = "
        "'trigger' AND tbl_name IN ('wallock_lease_queue_events', 'wallock_payloads')");
    raw.must(drops);
    raw.must("PRAGMA ignore_check_constraints = 1");
  }
  // "VERDICT position kind", without and with the head that was kept elsewhere.
  std::string verified(bool anchored) {
    const auto report = store.verify(anchored ? std::optional(head) : std::nullopt).value();
    std::string words(to_string(report.verdict));
    if (report.first_bad) words += " " + std::to_string(*report.first_bad);
    if (report.damage != DamageKind::none) words += " " + std::string(to_string(report.damage));
    return words;
  }
};

const std::string events = "UPDATE wallock_lease_queue_events SET ";

}  // namespace

TEST_CASE("INV-08 verify names the row and the kind of every change to the ledger") {
  struct Case {
    std::string sql;
    std::string found;
  };
  const Case tampering = GENERATE(values<Case>({
      {"SELECT 1", ""},
      {events + "kind = 11 WHERE position = 1", "DAMAGED 1 record"},
      {events + "kind = 99 WHERE position = 1", "DAMAGED 1 record"},
      {events + "kind = -1 WHERE position = 1", "DAMAGED 1 record"},
      {events + "kind = 276 WHERE position = 8", "DAMAGED 8 record"},
      {events + "resource = 'r2' WHERE position = 7", "DAMAGED 7 record"},
      {events + "resource = NULL WHERE position = 7", "DAMAGED 7 record"},
      {events + "resource = '' WHERE position = 7", "DAMAGED 7 record"},
      {events + "action_id = 'x' WHERE position = 8", "DAMAGED 8 record"},
      {events + "action_id = NULL WHERE position = 8", "DAMAGED 8 record"},
      {events + "token = token + 1 WHERE position = 8", "DAMAGED 8 record"},
      {events + "token = -1 WHERE position = 8", "DAMAGED 8 record"},
      {events + "state = 3 WHERE position = 8", "DAMAGED 8 record"},
      {events + "state = 9 WHERE position = 8", "DAMAGED 8 record"},
      {events + "state = -1 WHERE position = 8", "DAMAGED 8 record"},
      {events + "subject = 1 WHERE position = 8", "DAMAGED 8 record"},
      {events + "until_at = until_at + 1 WHERE position = 7", "DAMAGED 7 record"},
      {events + "until_at = NULL WHERE position = 7", "DAMAGED 7 record"},
      {events + "score = 1 WHERE position = 8", "DAMAGED 8 record"},
      {events + "score = 1000001 WHERE position = 8", "DAMAGED 8 record"},
      {events + "digest = zeroblob(32) WHERE position = 8", "DAMAGED 8 record"},
      {events + "digest = zeroblob(31) WHERE position = 8", "DAMAGED 8 record"},
      {events + "digest = NULL WHERE position = 8", "DAMAGED 8 record"},
      {events + "actor = 'mallory' WHERE position = 8", "DAMAGED 8 record"},
      {events + "detail = 'x' WHERE position = 8", "DAMAGED 8 record"},
      {events + "recorded_at = recorded_at + 1 WHERE position = 8", "DAMAGED 8 record"},
      {events + "leaf_hash = zeroblob(32) WHERE position = 0", "DAMAGED 0 record"},
      {events + "leaf_hash = zeroblob(32) WHERE position = 63", "DAMAGED 63 record"},
      {events + "nodes = zeroblob(32) WHERE position = 9", "DAMAGED 9 subtree"},
      {events + "nodes = CAST(substr(nodes, 1, 32) || zeroblob(32) AS BLOB) WHERE position = 11",
       "DAMAGED 11 subtree"},
      {events + "nodes = NULL WHERE position = 63", "DAMAGED 63 subtree"},
      {events + "nodes = zeroblob(32) WHERE position = 8", "DAMAGED 8 subtree"},
      {"DELETE FROM wallock_lease_queue_events WHERE position = 30", "DAMAGED 30 gap"},
      {"DELETE FROM wallock_lease_queue_events WHERE position < 2", "DAMAGED 0 gap"},
      {events + "position = -1 - position WHERE position = 4", "DAMAGED 4 gap"},
      {"UPDATE wallock_payloads SET payload = CAST('payload x' AS BLOB) WHERE position = 8",
       "DAMAGED 8 payload"},
      {"UPDATE wallock_payloads SET payload = (SELECT payload FROM wallock_payloads WHERE "
       "position = 5) WHERE position = 8",
       "DAMAGED 8 payload"},
      {"UPDATE wallock_payloads SET salt = zeroblob(16) WHERE position = 8", "DAMAGED 8 payload"},
      {"UPDATE wallock_payloads SET salt = zeroblob(3) WHERE position = 8", "DAMAGED 8 payload"},
      {"UPDATE wallock_payloads SET destination = 'mallory' WHERE position = 8",
       "DAMAGED 8 payload"},
      {"UPDATE wallock_payloads SET destination = NULL WHERE position = 8", "DAMAGED 8 payload"},
      {"UPDATE wallock_payloads SET amount_units = 1000000 WHERE position = 8",
       "DAMAGED 8 payload"},
      {"UPDATE wallock_payloads SET amount_places = 99 WHERE position = 8", "DAMAGED 8 payload"},
      {"UPDATE wallock_payloads SET amount_places = -1 WHERE position = 8", "DAMAGED 8 payload"},
      {"UPDATE wallock_payloads SET destination = '' WHERE position = 8", "DAMAGED 8 payload"},
      {"UPDATE wallock_payloads SET amount_units = NULL, amount_places = NULL WHERE position = 8",
       "DAMAGED 8 payload"},
      {"DELETE FROM wallock_payloads WHERE position = 8", "DAMAGED 8 payload"},
  }));
  Tampered t;
  t.raw.must(tampering.sql);
  CAPTURE(tampering.sql);
  CHECK(t.verified(false) == (tampering.found.empty() ? "UNANCHORED" : tampering.found));
  CHECK(t.verified(true) == (tampering.found.empty() ? "OK" : tampering.found));
}

TEST_CASE("a tail that was cut off is found by a head kept elsewhere, and only by it (G1)") {
  Tampered t;
  const int kept = GENERATE(63, 48, 32, 1);
  t.raw.must("DELETE FROM wallock_lease_queue_events WHERE position >= " + std::to_string(kept));
  CHECK(t.verified(true) == "TRUNCATED");
  CHECK(t.verified(false) == "UNANCHORED");
}

TEST_CASE("a ledger without any row is no ledger") {
  Tampered t;
  t.raw.must("DELETE FROM wallock_lease_queue_events");
  CHECK(t.verified(true) == "TRUNCATED");
  CHECK(answer(t.store.root()) == "ledger_damaged");
  CHECK(answer(t.store.health()) == "ledger_damaged");
  CHECK(answer(t.store.acquire("x")) == "ledger_damaged");
}

TEST_CASE("another store's ledger in this one's place is a fork (G2)") {
  Tampered t;
  Tampered other;
  t.raw.must("ATTACH '" + other.at.path() +
             "' AS other; DELETE FROM "
             "main.wallock_lease_queue_events; INSERT INTO main.wallock_lease_queue_events SELECT "
             "* FROM other.wallock_lease_queue_events; DELETE FROM main.wallock_payloads; INSERT "
             "INTO main.wallock_payloads SELECT * FROM other.wallock_payloads; DETACH other");
  CHECK(t.verified(true) == "FORKED");
  CHECK(t.verified(false) == "UNANCHORED");
}

TEST_CASE("a missing subtree stops the next append that needs it, and the audit a bad row") {
  Tampered t;
  t.raw.must(events + "nodes = NULL WHERE position = 63");
  CHECK(answer(t.store.root()) == "ledger_damaged");
  CHECK(answer(t.store.audit()) == "ok");
  t.raw.must(events + "leaf_hash = zeroblob(5) WHERE position = 63");
  CHECK(answer(t.store.audit()) == "ledger_damaged");
  // Positions 64 to 126 do not need that peak; 127 does.
  std::string said = "ok";
  int done = 0;
  while (said == "ok" && done < 100)
    said = answer(t.store.acquire("s" + std::to_string(done++)));
  CHECK(said == "ledger_damaged");
  CHECK(done == 64);
}

// As if a bit had flipped between the hashing of a record and its writing. The record is a peak of
// the tree: who opens the store then builds on it.
TEST_CASE("a record that was stored otherwise than hashed is named, and the ledger goes on (G20)") {
  Tampered t;
  REQUIRE(answer(t.store.execute("r0", sent("last", "payload"))) == "ok");
  REQUIRE(t.store.root().value().size == 67);
  const auto what = GENERATE(as<std::string>(), "recorded_at = recorded_at - 4096",
                             "token = token + 4096", "leaf_hash = zeroblob(32)", "detail = 'x'");
  CAPTURE(what);
  t.raw.must(events + what + " WHERE position = 66");

  auto other = t.at.open();
  for (int i = 0; i < 40; ++i) {
    auto& store = i % 2 == 0 ? other : t.store;
    REQUIRE(answer(store.execute("r1", sent("later" + std::to_string(i), "payload"))) == "ok");
  }
  CHECK(t.verified(true) == "DAMAGED 66 record");
}

TEST_CASE("a root is not made of what is not there") {
  Tampered t;
  t.raw.must(
      GENERATE(as<std::string>(), events + "leaf_hash = zeroblob(5) WHERE position = 63",
               "DELETE FROM wallock_lease_queue_events WHERE position = 63 OR position = 47"));
  CHECK(answer(t.store.root()) == "ledger_damaged");
  t.raw.must(events + "kind = 99 WHERE position = 1");
  CHECK(answer(t.store.audit()) == "ledger_damaged");
}

TEST_CASE("an action whose content is gone is neither the same nor another: it is damage") {
  Tampered t;
  const auto again = [&](const std::string& id) {
    ActionFields fields = sent(id, "payload 2");
    fields.amount = Decimal::of(2, 2).value();
    return answer(t.store.execute("r0", fields));
  };
  REQUIRE(again("a2") == "ok");  // at position 8
  t.raw.must("UPDATE wallock_payloads SET salt = zeroblob(3) WHERE position = 8");
  CHECK(again("a2") == "ledger_damaged");
  t.raw.must("DELETE FROM wallock_payloads WHERE position = 8");
  CHECK(again("a2") == "ledger_damaged");
  CHECK(again("new") == "ok");
}

TEST_CASE("a row that is no lease is not shown as one, and nothing is done with it") {
  Tampered t;
  const auto lease = t.store.acquire("held", by("ann")).value();
  t.raw.must(GENERATE(as<std::string>(),
                      "UPDATE wallock_resources SET holder = '' WHERE resource = 'held'",
                      "UPDATE wallock_resources SET request = '' WHERE resource = 'held'"));
  News news(t.store);
  CHECK(answer(t.store.acquire("held", by("bob"))) == "store_corrupt");
  CHECK(answer(t.store.acquire_all({"fresh", "held"}, by("bob"))) == "store_corrupt");
  CHECK(answer(t.store.renew(lease, 30s)) == "store_corrupt");
  CHECK(answer(t.store.commit(lease, sent("x"))) == "store_corrupt");
  CHECK(answer(t.store.execute("held", sent("x"))) == "store_corrupt");
  CHECK(answer(t.store.release(lease)) == "store_corrupt");
  CHECK(answer(t.store.report(lease, DownstreamOutcome::timeout)) == "store_corrupt");
  CHECK(answer(t.store.begin_recovery("held")) == "store_corrupt");
  CHECK(answer(t.store.force_open("held", "why")) == "store_corrupt");
  CHECK(answer(t.store.revoke("held", lease.token(), "why")) == "store_corrupt");
  CHECK(news() == "-");
  t.raw.must("UPDATE wallock_resources SET holder = '' WHERE resource = 'held'");
  CHECK(answer(t.store.leases()) == "store_corrupt");
  t.raw.must("UPDATE wallock_resources SET holder = 'ann', resource = '' WHERE resource = 'held'");
  CHECK(answer(t.store.leases()) == "store_corrupt");
}

// Found by fuzzing: the tree has no place for it.
TEST_CASE("a record far beyond the ledger's last possible one is damage, not a head") {
  TempStore at;
  auto store = at.open();
  REQUIRE(answer(store.execute("r", recorded("a"))) == "ok");
  at.raw().must(
      "PRAGMA ignore_check_constraints = 1; INSERT INTO wallock_lease_queue_events (position, "
      "kind, "
      "token, recorded_at, leaf_hash) VALUES (9223372036854775807, 10, 0, 0, zeroblob(32))");
  CHECK(answer(store.root()) == "ledger_damaged");
}

}  // namespace wallock::test
