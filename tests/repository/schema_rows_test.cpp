// The schema holds the bounds of every row: fences, breakers, deliveries, names, scores, types.
#include "repository_support.hpp"

namespace wallock::test {
namespace {

struct Rows {
  TempStore at;
  Coordinator store = at.open();
  RawDatabase raw = at.raw();
  Rows() {
    REQUIRE(answer(store.execute("r", sent("a"))) == "ok");
    REQUIRE(answer(store.acquire("r", by("ann"))) == "ok");
  }
  // True if SQLite takes the change; it is undone.
  bool takes(const std::string& sql) {
    raw.must("SAVEPOINT s");
    const bool taken = raw.run(sql) == "ok";
    raw.must("ROLLBACK TO s; RELEASE s");
    return taken;
  }
  bool breaker(const std::string& set) { return takes("UPDATE wallock_breakers SET " + set); }
};

const std::string probe =
    ", probe_token = 9, probe_holder = 'x', probe_instance = 1, probe_expires_at = 1";
const std::string open = "state = 1, interval_ns = 5, generation = 1";
const std::string probing = "state = 2, interval_ns = 5, generation = 1" + probe;

}  // namespace

TEST_CASE("INV-01 the schema lets no fence, no issued token and no epoch fall") {
  Rows rows;
  const std::string fence = "UPDATE wallock_resources SET ";
  CHECK(rows.takes(fence + "max_fence = max_fence + 1"));
  CHECK(rows.takes(fence + "issued = issued + 1"));
  CHECK_FALSE(rows.takes(fence + "max_fence = issued + 1"));
  CHECK_FALSE(
      rows.takes("INSERT INTO wallock_resources (resource, max_fence, issued, has_breaker) "
                 "VALUES ('x', -1, 0, 0)"));
  for (const char* verb : {"REPLACE", "INSERT OR REPLACE"}) {
    const std::string replace = std::string(verb) +
                                " INTO wallock_resources (resource, max_fence, "
                                "has_breaker, issued) SELECT resource, max_fence, has_breaker, ";
    CHECK(rows.raw.run(replace + "issued - 1 FROM wallock_resources") ==
          "wallock: a fence never falls");
    CHECK(rows.takes(replace + "issued + 1 FROM wallock_resources"));
  }
  CHECK(rows.takes("UPDATE wallock_meta SET epoch = epoch + 1"));
  CHECK(rows.raw.run("UPDATE wallock_meta SET epoch = epoch - 1") ==
        "wallock: the epoch never falls");
  CHECK_FALSE(rows.takes("UPDATE wallock_meta SET epoch = 1048576"));
  CHECK_FALSE(
      rows.takes("REPLACE INTO wallock_meta SELECT id, schema_version, min_reader, "
                 "min_writer, store_id, 0, boot_id FROM wallock_meta"));
  CHECK_FALSE(rows.takes("DELETE FROM wallock_meta"));
  CHECK_FALSE(
      rows.takes("INSERT INTO wallock_meta SELECT 2, schema_version, min_reader, "
                 "min_writer, store_id, epoch, boot_id FROM wallock_meta"));
  CHECK_FALSE(rows.takes("UPDATE wallock_meta SET store_id = zeroblob(15)"));
}

// One row tells all about a breaker, and only in the legal tuples (case B17).
TEST_CASE("INV-05 the schema takes the legal breaker rows and no other") {
  Rows rows;
  rows.raw.must(told_of_breakers);
  CHECK(rows.breaker("timeouts = 2"));
  CHECK(rows.breaker(open));
  CHECK(rows.breaker(open + ", forced = 1, failed_probes = 3"));
  CHECK(rows.breaker(probing));
  for (const std::string& illegal : {std::string("state = 3"),
                                     std::string("state = -1"),
                                     std::string("state = NULL"),
                                     std::string("forced = 1"),
                                     std::string("interval_ns = 5"),
                                     std::string("failed_probes = 1"),
                                     std::string("timeouts = -1"),
                                     std::string("generation = -1"),
                                     "state = 0" + probe,
                                     open + ", interval_ns = 0",
                                     open + ", interval_ns = -5",
                                     open + ", generation = 0",
                                     open + ", forced = 2",
                                     open + ", failed_probes = -1",
                                     open + ", epoch = 1048576",
                                     open + ", epoch = -1",
                                     open + probe,
                                     probing + ", forced = 1",
                                     probing + ", interval_ns = 0",
                                     probing + ", generation = 0",
                                     probing + ", probe_token = NULL",
                                     probing + ", probe_token = 0",
                                     probing + ", probe_holder = NULL",
                                     probing + ", probe_instance = NULL",
                                     probing + ", probe_expires_at = NULL"}) {
    CAPTURE(illegal);
    CHECK_FALSE(rows.breaker(illegal));
  }
}

TEST_CASE("INV-05 the schema forgets no breaker") {
  Rows rows;
  const std::string refused = "wallock: a breaker is not forgotten";
  rows.raw.must(told_of_breakers);
  CHECK(rows.raw.run("UPDATE wallock_resources SET has_breaker = 0") == refused);
  CHECK_FALSE(rows.takes("UPDATE wallock_resources SET has_breaker = 2"));
  for (const char* verb : {"REPLACE", "INSERT OR REPLACE", "INSERT OR IGNORE"}) {
    CHECK(rows.raw.run(std::string(verb) +
                       " INTO wallock_resources (resource, max_fence, issued, has_breaker) "
                       "SELECT resource, max_fence, issued, 0 FROM wallock_resources") == refused);
  }
  CHECK(rows.takes("UPDATE wallock_resources SET has_breaker = 1"));
  rows.raw.must("DELETE FROM wallock_resources");
  CHECK(rows.raw.integer("SELECT count(*) FROM wallock_breakers") == 0);
}

TEST_CASE("INV-05 the schema closes an open breaker only through a probe") {
  Rows rows;
  rows.raw.must(told_of_breakers);
  const std::string refused = "wallock: a breaker closes only through a probe";
  const std::string closed =
      "state = 0, forced = 0, interval_ns = 0, failed_probes = 0, timeouts = 0";
  const std::string no_probe =
      ", probe_token = NULL, probe_holder = NULL, probe_instance = NULL, probe_expires_at = NULL";
  rows.raw.must("UPDATE wallock_breakers SET " + open);
  CHECK(rows.raw.run("UPDATE wallock_breakers SET " + closed) == refused);
  CHECK(rows.raw.run("DELETE FROM wallock_breakers") ==
        "wallock: the row of an open breaker stays");
  for (const char* verb : {"REPLACE", "INSERT OR REPLACE", "INSERT OR IGNORE"}) {
    CHECK(
        rows.raw.run(std::string(verb) +
                     " INTO wallock_breakers (resource, state, forced, timeouts, generation, "
                     "failed_probes, interval_ns, since_at, epoch) VALUES ('r', 0, 0, 0, 1, 0, 0, "
                     "0, 1)") == refused);
  }
  CHECK(rows.raw.run("UPDATE wallock_breakers SET generation = 0") != "ok");
  rows.raw.must("UPDATE wallock_breakers SET generation = 2");
  CHECK(rows.raw.run("UPDATE wallock_breakers SET generation = 1") == refused);
  rows.raw.must("UPDATE wallock_breakers SET state = 2" + probe);
  CHECK(rows.raw.run("DELETE FROM wallock_breakers") ==
        "wallock: the row of an open breaker stays");
  CHECK(rows.raw.run("DELETE FROM wallock_resources") ==
        "wallock: the row of an open breaker stays");
  CHECK(rows.takes("UPDATE wallock_breakers SET " + closed + no_probe));
  CHECK(rows.takes("UPDATE wallock_breakers SET state = 1" + no_probe));
}

TEST_CASE("INV-03 the schema takes no score outside 0 to 1") {
  Rows rows;
  const auto token = rows.raw.integer("SELECT issued FROM wallock_resources");
  const auto scored = [&](const std::string& score) {
    return rows.takes(
        "INSERT INTO wallock_lease_queue_events (position, kind, resource, action_id, token, "
        "state, "
        "score, digest, recorded_at, leaf_hash) SELECT max(position) + 1, 20, 'r', 'x', " +
        std::to_string(token) + ", 3, " + score +
        ", zeroblob(32), 0, zeroblob(32) FROM wallock_lease_queue_events");
  };
  CHECK(scored("0"));
  CHECK(scored("1"));
  CHECK(scored("1000000"));
  CHECK_FALSE(scored("-1"));
  CHECK_FALSE(scored("1000001"));
  CHECK_FALSE(scored("0.5"));  // INV-07: no float either
  CHECK_FALSE(scored("'half'"));
  CHECK_FALSE(scored("NULL"));
}

TEST_CASE("the schema takes no digest, hash, name or position out of its bounds") {
  Rows rows;
  const auto event = [&](const std::string& columns, const std::string& values) {
    return rows.takes(
        "INSERT INTO wallock_lease_queue_events (position, kind, token, recorded_at, "
        "leaf_hash" +
        columns + ") SELECT max(position) + 1, 10, 1, 0, " + values +
        " FROM wallock_lease_queue_events");
  };
  CHECK(event("", "zeroblob(32)"));
  CHECK_FALSE(event("", "zeroblob(31)"));
  CHECK_FALSE(event("", "zeroblob(33)"));
  CHECK_FALSE(event("", "NULL"));
  CHECK_FALSE(event("", "printf('%032d', 0)"));
  CHECK(event(", nodes", "zeroblob(32), zeroblob(64)"));
  CHECK_FALSE(event(", nodes", "zeroblob(32), zeroblob(33)"));
  CHECK_FALSE(event(", nodes", "zeroblob(32), zeroblob(0)"));
  for (const char* name : {"resource", "action_id", "actor"}) {
    CAPTURE(name);
    CHECK(event(std::string(", ") + name, "zeroblob(32), printf('%.*c', 255, 'x')"));
    CHECK_FALSE(event(std::string(", ") + name, "zeroblob(32), printf('%.*c', 256, 'x')"));
    CHECK_FALSE(event(std::string(", ") + name, "zeroblob(32), ''"));
  }
  CHECK(event(", detail", "zeroblob(32), printf('%.*c', 1024, 'x')"));
  CHECK_FALSE(event(", detail", "zeroblob(32), printf('%.*c', 1025, 'x')"));
  const std::string events =
      "INSERT INTO wallock_lease_queue_events (position, kind, token, "
      "recorded_at, leaf_hash) VALUES (";
  CHECK_FALSE(rows.takes(events + "-1, 10, 1, 0, zeroblob(32))"));
  CHECK_FALSE(rows.takes(events + "8796093022208, 10, 1, 0, zeroblob(32))"));
  CHECK_FALSE(rows.takes(events + "(SELECT max(position) + 1 FROM wallock_lease_queue_events), 10, "
                                  "-1, 0, zeroblob(32))"));
  CHECK_FALSE(rows.takes("UPDATE wallock_resources SET holder = ''"));
  CHECK_FALSE(rows.takes("UPDATE wallock_resources SET resource = ''"));
  CHECK_FALSE(rows.takes("UPDATE wallock_resources SET holder = NULL"));
  CHECK_FALSE(rows.takes("UPDATE wallock_resources SET expires_at = granted_at"));
  CHECK_FALSE(rows.takes("UPDATE wallock_resources SET instance = NULL"));
  CHECK_FALSE(rows.takes("UPDATE wallock_resources SET metadata = zeroblob(4097)"));
  CHECK(rows.takes("UPDATE wallock_resources SET metadata = zeroblob(4096)"));
}

TEST_CASE("the schema takes no delivery, payload or dead letter out of its bounds") {
  Rows rows;
  const std::string delivery = "UPDATE wallock_deliveries SET ";
  CHECK(rows.takes(delivery + "state = 2, claim_token = 1, attempt = 1"));
  CHECK(rows.takes(delivery + "state = 1"));
  for (const char* illegal : {"state = 3", "state = -1", "state = 2", "state = 2, claim_token = 1",
                              "state = 2, attempt = 1", "attempt = -1", "claim_token = -1",
                              "due = 'soon'", "born = NULL", "resource = NULL"}) {
    CAPTURE(illegal);
    CHECK_FALSE(rows.takes(delivery + illegal));
  }
  const std::string payload = "UPDATE wallock_payloads SET ";
  CHECK(rows.takes(payload + "amount_units = 1, amount_places = 18"));
  for (const char* illegal :
       {"salt = zeroblob(15)", "salt = NULL", "amount_units = 1", "amount_places = 1",
        "amount_units = 1, amount_places = 19", "amount_units = 1, amount_places = -1",
        "amount_units = 1.5, amount_places = 1", "payload = NULL", "payload = 'text'",
        "payload = zeroblob(16777217)", "destination = ''", "fence = token", "fence = -1",
        "token = fence"}) {
    CAPTURE(illegal);
    CHECK_FALSE(rows.takes(payload + illegal));
  }
  CHECK_FALSE(rows.takes("INSERT INTO wallock_dead_letters VALUES (1, 'r', 'd', -1, 0)"));
}

TEST_CASE("every table of the store is strict about its types (INV-07)") {
  Rows rows;
  CHECK(rows.raw.integer("SELECT count(*) FROM pragma_table_list WHERE name LIKE 'wallock\\_%' "
                         "ESCAPE '\\'") == 8);
  CHECK(rows.raw.integer("SELECT count(*) FROM pragma_table_list WHERE name LIKE 'wallock\\_%' "
                         "ESCAPE '\\' AND NOT strict") == 0);
  CHECK(rows.raw.integer("SELECT count(*) FROM pragma_table_list AS t, pragma_table_info(t.name) "
                         "AS c WHERE t.name LIKE 'wallock\\_%' ESCAPE '\\' AND "
                         "c.type NOT IN ('INTEGER', 'TEXT', 'BLOB')") == 0);
}

}  // namespace wallock::test
