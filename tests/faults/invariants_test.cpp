// check_invariants: nothing in a store that was only used through the library, and every planted
// violation by its name.
#include "sqlite/invariants.hpp"

#include "catch.hpp"
#include "eventful_store.hpp"

namespace wallock::test {
namespace {

// A change to the file and the invariants that it breaks.
struct Planted {
  std::string sql;
  std::string found;
};

const std::string events = "UPDATE wallock_lease_queue_events SET ";

std::string token(std::uint64_t epoch, std::uint64_t position) {
  return std::to_string(FencingToken::of(epoch, position).value().value());
}

// What the store's own ledger tells is in order: see eventful_store.cpp for what stands where.
std::string moved_token(std::uint64_t from, std::uint64_t to) {
  return events + "token = " + token(1, to) + " WHERE token = " + token(1, from);
}

}  // namespace

TEST_CASE("a store in whose ledger every kind of record stands breaks no invariant") {
  const EventfulStore store;
  CHECK(store.broken().empty());
  RawDatabase raw(store.path());
  CHECK(raw.integer("SELECT count(DISTINCT kind) FROM wallock_lease_queue_events") ==
        static_cast<std::int64_t>(all_record_kinds.size()));
  CHECK(raw.integer("SELECT count(DISTINCT state) FROM wallock_deliveries") == 3);
  CHECK(raw.integer("SELECT count(*) FROM wallock_dead_letters") == 2);
  CHECK(raw.text("PRAGMA integrity_check") == "ok");
}

TEST_CASE("check_invariants names every planted change of the ledger's bytes") {
  const Planted planted = GENERATE(values<Planted>({
      {"DELETE FROM wallock_lease_queue_events WHERE position = 19", "ledger_gap report_effect"},
      {events + "recorded_at = recorded_at + 1 WHERE position = 20", "ledger_record"},
      {events + "leaf_hash = zeroblob(32) WHERE position = 20", "ledger_record"},
      {events + "nodes = zeroblob(length(nodes)) WHERE position = 31", "ledger_subtree"},
      {"UPDATE wallock_payloads SET payload = x'00' WHERE position = 9", "payload_digest"},
      {"UPDATE wallock_payloads SET amount_units = 1, amount_places = 0 WHERE position = 9",
       "payload_digest"},
  }));
  CAPTURE(planted.sql);
  const EventfulStore store;
  store.spoil(planted.sql);
  CHECK(store.broken() == planted.found);
}

// The forger computes the hashes anew: what the records tell still gives him away.
TEST_CASE("check_invariants names every planted record that must not stand where it stands") {
  const Planted planted = GENERATE(values<Planted>({
      // The store's beginning and its epochs.
      {events + "kind = 0 WHERE position = 19", "record_shape genesis report_effect meta_row"},
      {events + "token = " + token(3, 0) + " WHERE position = 37",
       "epoch token_place commit_fence meta_row"},
      // Names and shapes.
      {events + "action_id = 'a1' WHERE position = 31", "action_id"},
      {events + "until_at = NULL WHERE position = 31", "record_shape"},
      {events + "until_at = 1 WHERE position = 16", "record_shape"},
      {events + "resource = NULL WHERE position = 24", "record_shape"},
      {events + "detail = NULL WHERE position = 30", "probe_evidence"},
      // Tokens.
      {events + "token = token + 1 WHERE position = 69", "token_place resource_row"},
      {moved_token(14, 11), "token_place token_order commit_fence payload_row"},
      {events + "token = " + token(1, 1) + " WHERE position = 9",
       "commit_fence commit_order payload_row"},
      {events + "token = " + token(1, 17) + " WHERE position = 15", "commit_fence payload_row"},
      {events + "token = " + token(1, 18) + " WHERE position = 39", "commit_fence payload_row"},
      // Leases.
      {events + "until_at = until_at + 60000000000 WHERE position = 13", "lease_overlap"},
      {events + "actor = 'joe' WHERE position = 7", "lease_held"},
      {events + "actor = 'joe' WHERE position = 2", "lease_held"},
      {events + "token = " + token(1, 8) + " WHERE position = 12", "lease_held"},
      {events + "actor = 'bob' WHERE position = 15", "commit_fence"},
      {events + "recorded_at = 1 WHERE position = 4", "commit_fence commit_order lease_overlap"},
      // The breaker.
      {events + "kind = 35 WHERE position = 30", "breaker_closed breaker_row"},
      {events + "kind = 33 WHERE position = 21", "report_effect breaker_row"},
      {events + "kind = 37 WHERE position = 35", "breaker_moves breaker_row"},
      {events + "kind = 38 WHERE position = 34", "breaker_moves breaker_row"},
      {events + "kind = 30 WHERE position = 26", "probe_overlap breaker_moves"},
      {events + "token = " + token(1, 25) + " WHERE position = 28", "breaker_moves"},
      {events + "kind = 31 WHERE position = 24", "report_effect"},
      {events + "kind = 30 WHERE position = 19", "report_effect"},
      {events + "kind = 32 WHERE position = 19", "report_effect"},
      // The outbox.
      {events + "state = 4 WHERE position = 57", "action_moves"},
      {events + "state = 1 WHERE position = 56", "action_moves"},
      {events + "state = 3 WHERE position = 59", "action_moves"},
      {events + "kind = 41, state = 3 WHERE position = 59", "action_moves dead_letter_row"},
      {events + "state = 3 WHERE position = 61", "action_moves"},
      {events + "subject = 3 WHERE position = 57", "action_moves claim_line delivery_row"},
      {events + "token = " + token(2, 55) + " WHERE position = 57", "claim_fence"},
      {events + "token = 0 WHERE position = 57", "claim_fence"},
      {events + "subject = 51 WHERE position = 65", "claim_line delivery_row"},
      {events + "until_at = until_at + 600000000000 WHERE position = 64", "claim_fence"},
  }));
  CAPTURE(planted.sql);
  const EventfulStore store;
  store.spoil(planted.sql);
  store.reseal();
  CHECK(store.broken() == planted.found);
}

TEST_CASE("check_invariants names every planted row that is not what the ledger tells") {
  const Planted planted = GENERATE(values<Planted>({
      {events + "score = 1000001 WHERE position = 9", "ledger_record record_shape score"},
      {"UPDATE wallock_meta SET epoch = 3", "meta_row"},
      {"UPDATE wallock_meta SET store_id = zeroblob(16)", "meta_row"},
      {"DELETE FROM wallock_meta", "meta_row"},
      {"UPDATE wallock_resources SET max_fence = max_fence - 1 WHERE resource = 'bank'",
       "resource_row"},
      {"UPDATE wallock_resources SET issued = issued + 1 WHERE resource = 'bank'", "resource_row"},
      {"UPDATE wallock_resources SET holder = 'bob' WHERE resource = 'account'", "resource_row"},
      {"UPDATE wallock_resources SET holder = NULL WHERE resource = 'account'", "resource_row"},
      {"UPDATE wallock_resources SET holder = 'bob' WHERE resource = 'bank'", "resource_row"},
      {"UPDATE wallock_resources SET expires_at = expires_at + 1 WHERE resource = 'account'",
       "resource_row"},
      {"UPDATE wallock_resources SET request = 'a1' WHERE resource = 'account'", "resource_row"},
      {"DELETE FROM wallock_resources WHERE resource = 'mail'", "resource_row"},
      {"INSERT INTO wallock_resources (resource, max_fence, issued, has_breaker) "
       "VALUES ('x', 0, 0, 0)",
       "resource_row"},
      {"UPDATE wallock_breakers SET timeouts = timeouts + 1 WHERE resource = 'bank'",
       "breaker_row"},
      {"UPDATE wallock_breakers SET generation = generation - 1 WHERE resource = 'bank'",
       "breaker_row"},
      {"UPDATE wallock_breakers SET state = 1 WHERE resource = 'bank'", "breaker_row"},
      {"UPDATE wallock_breakers SET failed_probes = 1 WHERE resource = 'bank'", "breaker_row"},
      {"UPDATE wallock_breakers SET probe_token = probe_token - 1 WHERE resource = 'bank'",
       "breaker_row"},
      {"UPDATE wallock_breakers SET probe_holder = 'bob' WHERE resource = 'bank'", "breaker_row"},
      {"UPDATE wallock_breakers SET probe_expires_at = 1 WHERE resource = 'bank'", "breaker_row"},
      {"UPDATE wallock_breakers SET state = 0, interval_ns = 0, probe_token = NULL, probe_holder = "
       "NULL, probe_instance = NULL, probe_expires_at = NULL WHERE resource = 'bank'",
       "breaker_row"},
      {"DELETE FROM wallock_breakers WHERE resource = 'bank'", "breaker_row"},
      {"UPDATE wallock_resources SET has_breaker = 1 WHERE resource = 'mail'", "breaker_row"},
      {"INSERT INTO wallock_breakers (resource, state, forced, timeouts, generation, "
       "failed_probes, interval_ns, since_at, epoch) VALUES ('x', 0, 0, 0, 0, 0, 0, 0, 0)",
       "breaker_row"},
      {"UPDATE wallock_deliveries SET state = 0 WHERE position = 48", "delivery_row"},
      {"UPDATE wallock_deliveries SET state = 0 WHERE position = 45", "delivery_row"},
      {"UPDATE wallock_deliveries SET state = 1 WHERE position = 67", "delivery_row"},
      {"UPDATE wallock_deliveries SET attempt = 1 WHERE position = 45", "delivery_row"},
      {"UPDATE wallock_deliveries SET claim_token = 7 WHERE position = 45", "delivery_row"},
      {"UPDATE wallock_deliveries SET due = 7 WHERE position = 45", "delivery_row"},
      {"UPDATE wallock_deliveries SET resource = 'post' WHERE position = 45", "delivery_row"},
      {"UPDATE wallock_deliveries SET destination = 'x' WHERE position = 45", "delivery_row"},
      {"DELETE FROM wallock_deliveries WHERE position = 51", "delivery_row"},
      {"INSERT INTO wallock_deliveries VALUES (3, 'account', 'bank', 0, 0, 0, 0, 0, 0)",
       "delivery_row"},
      {"DELETE FROM wallock_dead_letters WHERE position = 54", "dead_letter_row"},
      {"UPDATE wallock_dead_letters SET attempts = 1 WHERE position = 42", "dead_letter_row"},
      {"UPDATE wallock_dead_letters SET resource = 'x' WHERE position = 42", "dead_letter_row"},
      {"UPDATE wallock_dead_letters SET destination = 'x' WHERE position = 42", "dead_letter_row"},
      {"INSERT INTO wallock_dead_letters VALUES (3, 'account', 'bank', 1, 0)", "dead_letter_row"},
      {"DELETE FROM wallock_payloads WHERE position = 9", "payload_digest payload_row"},
      {"INSERT INTO wallock_payloads VALUES (1, 1, 0, zeroblob(16), NULL, NULL, NULL, x'')",
       "payload_row"},
      {"INSERT INTO wallock_payloads VALUES (999, 1, 0, zeroblob(16), NULL, NULL, NULL, x'')",
       "payload_row"},
      {"UPDATE wallock_payloads SET token = token + 1 WHERE position = 9", "payload_row"},
      {"PRAGMA ignore_check_constraints = 1; UPDATE wallock_payloads SET fence = token WHERE "
       "position = 9",
       "payload_row"},
      {"UPDATE wallock_payloads SET destination = NULL WHERE position = 51",
       "payload_digest payload_row delivery_row"},
  }));
  CAPTURE(planted.sql);
  const EventfulStore store;
  store.spoil(planted.sql);
  CHECK(store.broken() == planted.found);
}

TEST_CASE("check_invariants says which record and which resource it is about") {
  const EventfulStore store;
  store.spoil(events + "actor = 'joe' WHERE position = 7");
  store.reseal();
  const auto violations = sqlite::check_invariants(store.path()).value();
  REQUIRE(violations.size() == 1);
  CHECK(to_string(violations.front()) == "lease_held at 7 of account");
}

TEST_CASE("check_invariants refuses what is no store") {
  const TempFolder folder;
  CHECK_FALSE(sqlite::check_invariants(folder.file("none.db")));
  write_file(folder.file("text"), std::string(4096, 'x'));
  CHECK_FALSE(sqlite::check_invariants(folder.file("text")));
  RawDatabase(folder.file("other.db")).must("CREATE TABLE t (x)");
  CHECK_FALSE(sqlite::check_invariants(folder.file("other.db")));
}

}  // namespace wallock::test
