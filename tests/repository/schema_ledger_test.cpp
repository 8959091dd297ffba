// The schema holds the ledger's rules again: append-only, one event per action id, gates.
#include "repository_support.hpp"

namespace wallock::test {
namespace {

const std::string append_only = "wallock: the ledger is append-only";
const std::string gate = "wallock: stale token or open breaker";

// A store that holds a lease on "r", an action of an earlier one, and a delivery; looked at with
// SQLite's own settings, as any program would.
struct Spoiled {
  TempStore at;
  Coordinator store = at.open(quick_to_trip(at.options()));
  Lease lease = prepared(store);
  RawDatabase raw = at.raw();

  static Lease prepared(Coordinator& store) {
    REQUIRE(answer(store.execute("r", sent("a"))) == "ok");
    return store.acquire("r", by("ann")).value();
  }
  // What SQLite says to an event at the next position.
  std::string event(const std::string& columns, const std::string& values) {
    return raw.run("INSERT INTO wallock_lease_queue_events (position, recorded_at, leaf_hash, " +
                   columns + ") SELECT max(position) + 1, 0, zeroblob(32), " + values +
                   " FROM wallock_lease_queue_events");
  }
  // What it says to an action recorded under that token.
  std::string action(const std::string& token, const std::string& resource = "'r'") {
    return event("kind, resource, action_id, token, state, score, digest",
                 "20, " + resource + ", 'x', " + token + ", 3, 0, zeroblob(32)");
  }
  std::string token(int offset = 0) {
    return std::to_string(static_cast<std::int64_t>(lease.token().value()) + offset);
  }
};

}  // namespace

TEST_CASE("INV-08 a ledger row is neither updated nor deleted nor replaced") {
  Spoiled s;
  const bool recursive = GENERATE(false, true);  // off by default: REPLACE then fires no trigger
  s.raw.must("PRAGMA recursive_triggers = " + std::to_string(recursive ? 1 : 0));
  CHECK(s.raw.run("UPDATE wallock_lease_queue_events SET token = 1") == append_only);
  CHECK(s.raw.run("UPDATE wallock_lease_queue_events SET token = token WHERE position = 1") ==
        append_only);
  CHECK(s.raw.run("UPDATE OR IGNORE wallock_lease_queue_events SET detail = 'x'") == append_only);
  CHECK(s.raw.run("DELETE FROM wallock_lease_queue_events") == append_only);
  CHECK(s.raw.run("DELETE FROM wallock_lease_queue_events WHERE position = 1") == append_only);
  const std::string copied =
      " INTO wallock_lease_queue_events SELECT position, kind, resource, "
      "action_id, token, state, subject, until_at, score, digest, 'mallory', "
      "detail, recorded_at, leaf_hash, nodes FROM "
      "wallock_lease_queue_events WHERE kind = ";
  for (const char* verb : {"INSERT OR REPLACE", "REPLACE"}) {
    CHECK(s.raw.run(verb + copied + "10") == append_only);
    CHECK(s.raw.run(verb + copied + "0") == append_only);
  }
  CHECK(s.event("kind, action_id, token", "10, 'a', 1") != "ok");  // its id is taken
  CHECK(s.raw.run("REPLACE INTO wallock_lease_queue_events (position, kind, action_id, token, "
                  "recorded_at, leaf_hash) VALUES (1000000, 10, 'a', 1, 0, zeroblob(32))") ==
        append_only);
  CHECK(s.raw.run("INSERT INTO wallock_lease_queue_events (position, kind, token, recorded_at, "
                  "leaf_hash) SELECT max(position) + 2, 10, 1, 0, zeroblob(32) FROM "
                  "wallock_lease_queue_events") == append_only);  // nor is one left out
  CHECK(verdict(s.store) == "UNANCHORED");
}

TEST_CASE("INV-04 two events never carry one action id") {
  Spoiled s;
  CHECK(s.raw.text("PRAGMA journal_mode") == "wal");
  CHECK(s.raw
            .text("SELECT sql FROM sqlite_schema WHERE name = 'wallock_events_action_id' AND "
                  "tbl_name = 'wallock_lease_queue_events'")
            .starts_with("CREATE UNIQUE INDEX"));
  CHECK(s.event("kind, action_id, token", "10, 'a', 1") == append_only);
  CHECK(s.event("kind, action_id, token", "10, 'new', 1") == "ok");
  CHECK(s.event("kind, action_id, token", "11, 'new', 1") == append_only);
  s.raw.must("DROP TRIGGER wallock_events_append");  // the index holds alone, too
  CHECK(s.event("kind, action_id, token", "10, 'a', 1") ==
        "UNIQUE constraint failed: wallock_lease_queue_events.action_id");
  CHECK(s.event("kind, token", "10, 1") == "ok");  // ids that are none do not collide
  CHECK(s.event("kind, token", "10, 1") == "ok");
}

TEST_CASE("INV-01 the schema refuses an action under a token that may not write") {
  Spoiled s;
  CHECK(s.action(s.token(-1)) == gate);  // the fence
  CHECK(s.action(s.token(1)) == gate);   // never issued
  CHECK(s.action("0") == gate);
  CHECK(s.action("1") == gate);
  CHECK(s.action(std::to_string(std::int64_t{2} << FencingToken::position_bits)) == gate);
  CHECK(s.action(s.token(), "'other'") == gate);
  CHECK(s.action(s.token(), "NULL") == gate);
  REQUIRE(s.raw.run("BEGIN") == "ok");
  CHECK(s.action(s.token()) == "ok");  // the twin
  s.raw.must("ROLLBACK");
  s.raw.must("UPDATE wallock_resources SET max_fence = " + s.token());
  CHECK(s.action(s.token()) == gate);
}

TEST_CASE("INV-01 the schema refuses an action under a token of an earlier epoch") {
  Spoiled s;
  s.raw.must("UPDATE wallock_meta SET epoch = 2");
  CHECK(s.action(s.token()) == gate);
  s.raw.must(
      "PRAGMA ignore_check_constraints = 1; DROP TRIGGER IF EXISTS wallock_meta_stays; "
      "DELETE FROM wallock_meta");
  CHECK(s.action(s.token()) == gate);
}

TEST_CASE("INV-05 the schema refuses an action while the breaker is not closed or not there") {
  Spoiled s;
  const std::string spoiled = GENERATE(
      as<std::string>(), "UPDATE wallock_breakers SET state = 1, interval_ns = 1, generation = 1",
      "UPDATE wallock_breakers SET state = 2, interval_ns = 1, generation = 1, probe_token = 1, "
      "probe_holder = 'x', probe_instance = 1, probe_expires_at = 1",
      "UPDATE wallock_breakers SET state = 1, interval_ns = 1, generation = 1, forced = 1",
      "DELETE FROM wallock_breakers",
      "PRAGMA ignore_check_constraints = 1; "
      "UPDATE wallock_breakers SET state = 7");
  s.raw.must(spoiled);
  CAPTURE(spoiled);
  CHECK(s.action(s.token()) == gate);
}

TEST_CASE("the schema refuses a sealing without its claim") {
  Spoiled s;
  const std::string refused = "wallock: sealed without its claim";
  const auto seal = [&](const std::string& subject, const std::string& token) {
    return s.event("kind, resource, token, state, subject",
                   "41, 'r', " + token + ", 3, " + subject);
  };
  const auto position = std::to_string(s.raw.integer("SELECT position FROM wallock_deliveries"));
  CHECK(seal(position, "0") == refused);  // ready, not claimed
  const auto claimed = s.store.claim({.destination = "bank"}).value();
  REQUIRE(claimed.size() == 1);
  const auto token = std::to_string(claimed[0].claim_token().value());
  CHECK(seal(position, std::to_string(claimed[0].claim_token().value() - 1)) == refused);
  CHECK(seal("0", token) == refused);
  s.raw.must("BEGIN");
  CHECK(seal(position, token) == "ok");
  s.raw.must("ROLLBACK");
  s.raw.must("DELETE FROM wallock_deliveries");
  CHECK(seal(position, token) == refused);
}

TEST_CASE("INV-06 the schema knows the states that an action can be in after each record") {
  Spoiled s;
  s.raw.must("DROP TRIGGER wallock_events_commit_gate; DROP TRIGGER wallock_events_seal_gate");
  const auto allowed = [&](int kind) {
    std::string states;
    for (int state = -1; state <= 5; ++state) {
      s.raw.must("SAVEPOINT s");
      const auto said =
          s.event("kind, resource, action_id, token, state, score, digest, subject",
                  std::to_string(kind) + ", 'r', 'x', 1, " + std::to_string(state) + ", " +
                      (kind == 20 ? "0, zeroblob(32), NULL" : "NULL, NULL, 1"));
      if (said == "ok") states += std::to_string(state);
      s.raw.must("ROLLBACK TO s; RELEASE s");
    }
    return states;
  };
  CHECK(allowed(20) == "13");
  CHECK(allowed(40) == "2");
  CHECK(allowed(41) == "3");
  CHECK(allowed(42) == "2");
  CHECK(allowed(43) == "4");
  for (const int kind : {0, 1, 10, 11, 12, 13, 30, 31, 32, 33, 34, 35, 36, 37, 38})
    CHECK(allowed(kind) == "");
  CHECK(s.event("kind, action_id, token, state, score, digest",
                "20, NULL, 1, 3, 0, zeroblob(32)") != "ok");
  CHECK(s.event("kind, action_id, token, state, digest", "20, 'x', 1, 3, zeroblob(32)") != "ok");
  CHECK(s.event("kind, action_id, token, state, score", "20, 'x', 1, 3, 0") != "ok");
  CHECK(s.event("kind, token, state", "40, 1, 2") != "ok");
  CHECK(s.event("kind, token, digest", "10, 1, zeroblob(32)") != "ok");
  CHECK(s.event("kind, token, score", "10, 1, 0") != "ok");
  CHECK(s.event("kind, token, subject", "10, 1, 0") != "ok");
}

}  // namespace wallock::test
