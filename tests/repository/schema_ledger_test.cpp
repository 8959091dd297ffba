// The schema holds the ledger's rules again: append-only, one event per action id, the fence.
#include "repository_support.hpp"

namespace wallock::test {
namespace {

const std::string append_only = "wallock: the ledger is append-only";

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
  // What it says to the content of another action under that token, above that fence.
  std::string content(const std::string& token, const std::string& fence) {
    return raw.run(
        "INSERT INTO wallock_payloads (position, token, fence, salt, payload) VALUES (999, " +
        token + ", " + fence + ", zeroblob(16), x'')");
  }
  std::string token(int offset = 0) {
    return std::to_string(static_cast<std::int64_t>(lease.token().value()) + offset);
  }
};

}  // namespace

// A position is taken once: a fork of the ledger cannot be stored (case G5).
TEST_CASE("INV-08 a ledger row is neither updated nor deleted nor replaced") {
  Spoiled s;
  CHECK(s.raw.run("UPDATE wallock_lease_queue_events SET token = 1") == append_only);
  CHECK(s.raw.run("UPDATE wallock_lease_queue_events SET token = token WHERE position = 1") ==
        append_only);
  CHECK(s.raw.run("UPDATE OR IGNORE wallock_lease_queue_events SET detail = 'x'") == append_only);
  CHECK(s.raw.run("DELETE FROM wallock_lease_queue_events") == append_only);
  CHECK(s.raw.run("DELETE FROM wallock_lease_queue_events WHERE position = 1") == append_only);
  CHECK(s.event("kind, action_id, token", "10, 'a', 1") != "ok");  // its id is taken
  CHECK(verdict(s.store) == "UNANCHORED");
  const std::string copied =
      " INTO wallock_lease_queue_events SELECT position, kind, resource, "
      "action_id, token, state, subject, until_at, score, digest, 'mallory', "
      "detail, recorded_at, leaf_hash, nodes FROM "
      "wallock_lease_queue_events WHERE kind = ";
  // As the library's own connections are set.
  s.raw.must("PRAGMA recursive_triggers = 1");
  for (const char* verb : {"INSERT OR REPLACE", "REPLACE"}) {
    CHECK(s.raw.run(verb + copied + "10") == append_only);
    CHECK(s.raw.run(verb + copied + "0") == append_only);
  }
  // With SQLite's default, REPLACE fires no delete trigger: the hashes tell.
  s.raw.must("PRAGMA recursive_triggers = 0");
  s.raw.must("REPLACE" + copied + "10");
  CHECK(verdict(s.store) == "DAMAGED");
}

TEST_CASE("INV-04 two events never carry one action id") {
  Spoiled s;
  CHECK(s.raw.text("PRAGMA journal_mode") == "wal");
  CHECK(s.raw
            .text("SELECT sql FROM sqlite_schema WHERE name = 'wallock_events_action_id' AND "
                  "tbl_name = 'wallock_lease_queue_events'")
            .starts_with("CREATE UNIQUE INDEX"));
  const std::string taken = "UNIQUE constraint failed: wallock_lease_queue_events.action_id";
  CHECK(s.event("kind, action_id, token", "10, 'a', 1") == taken);
  CHECK(s.event("kind, action_id, token", "10, 'new', 1") == "ok");
  CHECK(s.event("kind, action_id, token", "11, 'new', 1") == taken);
  CHECK(s.event("kind, token", "10, 1") == "ok");  // ids that are none do not collide
  CHECK(s.event("kind, token", "10, 1") == "ok");
}

TEST_CASE("INV-01 the schema refuses an action whose token is not above the fence that it met") {
  Spoiled s;
  const auto refused = [&](const std::string& token, const std::string& fence) {
    return s.content(token, fence).starts_with("CHECK constraint failed");
  };
  CHECK(refused(s.token(), s.token()));
  CHECK(refused(s.token(), s.token(1)));
  CHECK(refused("0", "0"));
  CHECK(refused(s.token(), "-1"));
  CHECK(s.content(s.token(), "NULL") != "ok");
  CHECK(s.content("NULL", "0") != "ok");
  CHECK(s.content(s.token(), s.token(-1)) == "ok");  // the twin
}

TEST_CASE("INV-06 the schema lets a delivery leave only with its record, sealed under its claim") {
  Spoiled s;
  const std::string refused = "wallock: left without its record or its claim";
  // What SQLite says when the delivery leaves right after that record; undone.
  const auto leave = [&](int kind, const std::string& subject, const std::string& token) {
    s.raw.must("SAVEPOINT s");
    REQUIRE(s.event("kind, resource, token, state, subject", std::to_string(kind) + ", 'r', " +
                                                                 token + ", " +
                                                                 (kind == 41   ? "3"
                                                                  : kind == 43 ? "4"
                                                                               : "2") +
                                                                 ", " + subject) == "ok");
    const auto said = s.raw.run("DELETE FROM wallock_deliveries");
    s.raw.must("ROLLBACK TO s; RELEASE s");
    return said;
  };
  const auto position = std::to_string(s.raw.integer("SELECT position FROM wallock_deliveries"));
  CHECK(s.raw.run("DELETE FROM wallock_deliveries") == refused);  // without any record
  CHECK(leave(41, position, "0") == refused);                     // ready, not claimed
  CHECK(leave(43, position, "0") == "ok");                        // dead letters need no claim
  const auto claimed = s.store.claim({.destination = "bank"}).value();
  REQUIRE(claimed.size() == 1);
  const auto token = std::to_string(claimed[0].claim_token().value());
  CHECK(leave(41, position, std::to_string(claimed[0].claim_token().value() - 1)) == refused);
  CHECK(leave(41, "0", token) == refused);
  CHECK(leave(42, position, token) == refused);
  CHECK(leave(41, position, token) == "ok");
}

TEST_CASE("INV-06 the schema knows the states that an action can be in after each record") {
  Spoiled s;
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
