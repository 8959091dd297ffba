// What only a full ledger, rows that no program writes, and callers that check nothing come by.
#include <string>

#include "repository_support.hpp"
#include "sqlite/flusher.hpp"
#include "sqlite/invariants.hpp"
#include "sqlite/open_repository.hpp"
#include "sqlite/statement.hpp"
#include "sqlite/work_policy.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {
namespace {

// Writes rows as no program would.
void spoil(const TempStore& at, const std::string& sql) {
  RawDatabase raw(at.path());
  sqlite3_db_config(raw.handle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  raw.must("PRAGMA ignore_check_constraints = 1");
  raw.must(sql);
}

}  // namespace

TEST_CASE("a ledger that is full takes no record, and nothing happens without one") {
  TempStore at;
  auto store = at.open();
  const auto lease = store.acquire("held").value();
  REQUIRE(answer(store.execute("mail", sent("a"))) == "ok");
  spoil(
      at,
      "INSERT INTO wallock_lease_queue_events SELECT " +
          std::to_string(FencingToken::max_position) +
          ", kind, resource, NULL, token, state, subject, until_at, score, digest, actor, detail, "
          "recorded_at, leaf_hash, nodes FROM wallock_lease_queue_events WHERE position = 0");
  CHECK(answer(store.force_open("held", "by hand")) == "invalid_token");
  CHECK(answer(store.release(lease)) == "invalid_token");
  CHECK(answer(store.try_acquire("free")) == "invalid_token");
  CHECK(answer(store.execute("free", recorded("b"))) == "invalid_token");
  CHECK(answer(store.claim({.destination = "bank"})) == "invalid_token");
  CHECK(at.raw().integer("SELECT holder IS NOT NULL FROM wallock_resources WHERE resource = "
                         "'held'") == 1);
}

TEST_CASE("a record that is too long for its frame is refused below the coordinator too") {
  TempStore at;
  auto store = at.open();
  const auto lease = store.acquire("r").value();
  const auto below =
      sqlite::open_repository(at.path(), at.options(), InstanceId{7}, at.clock).value();
  const std::string reason(100'000, 'x');
  const auto refused =
      below.repository->revoke(lease.resource(), lease.token(), reason, at.clock->now() + 1s);
  CHECK(answer(refused) == "invariant_violated");
  CHECK(answer(store.renew(lease, 30s)) == "ok");  // nothing happened
}

TEST_CASE("a recorded action whose resource is no name is not the one that is repeated") {
  TempStore at;
  auto store = at.open();
  REQUIRE(answer(store.execute("r", recorded("a"))) == "ok");
  REQUIRE(answer(store.execute("r", recorded("a"))) == "ok");
  spoil(at, "UPDATE wallock_lease_queue_events SET resource = '' WHERE action_id = 'a'");
  CHECK(answer(store.execute("r", recorded("a"))) == "action_conflict");
}

TEST_CASE("a lease that cannot be one is not listed as one") {
  TempStore at;
  auto store = at.open();
  REQUIRE(store.acquire("r"));
  REQUIRE(store.leases().value().size() == 1);
  spoil(at, "UPDATE wallock_resources SET granted_at = expires_at + 1");
  CHECK(answer(store.leases()) == "store_corrupt");
}

TEST_CASE("a renewal of one lease whose row cannot be read says so") {
  TempStore at;
  const auto below =
      sqlite::open_repository(at.path(), at.options(), InstanceId{7}, at.clock).value();
  const auto lease = below.repository
                         ->acquire({.resource = ResourceName::parse("r").value(),
                                    .holder = HolderId::parse("ann").value(),
                                    .instance = InstanceId{7},
                                    .ttl = 30s},
                                   {}, at.clock->now() + 1s)
                         .value();
  spoil(at, "UPDATE wallock_resources SET holder = ''");
  const std::vector<RenewRequest> requests{{.lease = lease, .ttl = 60s}};
  CHECK(answer(below.repository->renew_all(requests, at.clock->now() + 1s)) == "store_corrupt");
}

TEST_CASE("work that lets SQLite's word about a damaged file through is told of the store") {
  TempStore at;
  auto store = at.open();
  // As reading a damaged page of the application's own table would.
  const auto damaged = [](Transaction& transaction) {
    SQLite::Database& db = database(transaction);
    db.createFunction("damaged", 0, false, nullptr,
                      [](sqlite3_context* context, int, sqlite3_value**) {
                        sqlite3_result_error_code(context, SQLITE_CORRUPT);
                      });
    db.exec("SELECT damaged()");
  };
  CHECK(answer(store.execute("r", recorded("a"), damaged)) == "store_corrupt");
  CHECK(answer(store.execute("r", recorded("a"))) == "ok");
}

TEST_CASE("a statement that gives rows is not run as one that gives none") {
  const TempStore at;
  RawDatabase raw(at.path());
  sqlite::Statement one("SELECT 1");
  CHECK(answer(sqlite::Query(raw.handle(), one).run()) == "invariant_violated");
  sqlite::Statement bound("SELECT ?1 IS NULL, typeof(?1)");
  sqlite::Query query(raw.handle(), bound, std::string_view());
  REQUIRE(query.step().value());
  CHECK(query.integer(0) == 0);
  CHECK(query.text(1) == "text");
}

TEST_CASE("a file without a write-ahead log has none that could be flushed") {
  const TempStore at;
  RawDatabase(at.path()).must("CREATE TABLE app (note TEXT)");
  const auto flusher = sqlite::Flusher::open(at.path(), *at.clock, at.clock->now() + 1s);
  REQUIRE_FALSE(flusher);
  CHECK(flusher.error().code() == Errc::setting_refused);
  CHECK(flusher.error().facts().field == "journal_mode");
}

TEST_CASE("what work may do is told by each of an action's names") {
  using sqlite::work_may;
  CHECK(work_may(SQLITE_PRAGMA, "data_version", nullptr, "main"));
  CHECK(work_may(SQLITE_PRAGMA, "PAGE_SIZE", nullptr, "main"));
  CHECK_FALSE(work_may(SQLITE_PRAGMA, "page_size", "4096", "main"));
  CHECK_FALSE(work_may(SQLITE_PRAGMA, "synchronous", nullptr, "main"));
  CHECK(work_may(SQLITE_FUNCTION, nullptr, nullptr, nullptr));
  CHECK(work_may(SQLITE_FUNCTION, nullptr, "lower", nullptr));
  CHECK_FALSE(work_may(SQLITE_FUNCTION, nullptr, "LOAD_EXTENSION", nullptr));
  CHECK(work_may(SQLITE_CREATE_TABLE, "app", nullptr, "main"));
  CHECK_FALSE(work_may(SQLITE_CREATE_TABLE, "wallock_x", nullptr, "main"));
  CHECK_FALSE(work_may(SQLITE_CREATE_INDEX, "app_index", "wallock_resources", "main"));
  CHECK_FALSE(work_may(SQLITE_CREATE_TABLE, "app", nullptr, "Wallock_other"));
}

TEST_CASE("a violation says what is broken, and where as far as that is known") {
  CHECK(to_string(sqlite::Violation{.invariant = sqlite::Invariant::meta_row}) ==
        to_string(sqlite::Invariant::meta_row));
  const auto words = to_string(sqlite::Violation{
      .invariant = sqlite::Invariant::delivery_row, .position = 7, .resource = "r"});
  CHECK(words == std::string(to_string(sqlite::Invariant::delivery_row)) + " at 7 of r");
  CHECK(to_string(static_cast<sqlite::Invariant>(255)) == "unknown");
}

}  // namespace wallock::test
