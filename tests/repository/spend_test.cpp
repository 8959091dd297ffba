// INV-01, INV-05: the statement that spends a commit's token asks the file itself, whatever the
// rule decided and whatever was remembered.
#include "repository_support.hpp"
#include "sqlite/connection.hpp"
#include "sqlite/resource_store.hpp"
#include "wallock/rules/fencing.hpp"

namespace wallock::test {
namespace {

using rules::ResourceState;

// A lease on "r", and a connection in a transaction, as a commit has it.
struct Spending {
  TempStore at;
  Coordinator store = at.open();
  Lease lease = store.acquire("r", by("ann")).value();
  std::unique_ptr<sqlite::Connection> connection =
      sqlite::Connection::open(at.path(), sqlite::Access::write, *at.clock, Instant::max()).value();
  sqlite::ResourceStore resources;
  ResourceName name = ResourceName::parse("r").value();
  sqlite::StoredResource before = begun();

  sqlite::StoredResource begun() {
    run("BEGIN IMMEDIATE");
    return resources.load(connection->handle(), name, 1).value();
  }
  void run(const std::string& sql) { REQUIRE(answer(connection->execute(sql.c_str())) == "ok"); }
  // What comes of spending that token, the lease going on or ending.
  std::string spend(FencingToken token, bool ends = false) {
    const ResourceState spent = rules::spent(before.state, token);
    return answer(resources.spend(connection->handle(), token, name, before,
                                  ends ? rules::ended(spent) : spent));
  }
  // The same, the lease going on under a new token.
  std::string spend_and_keep(FencingToken token) {
    const ResourceState next =
        rules::granted(rules::spent(before.state, token), this->token(9), *before.state.tenure);
    return answer(resources.spend(connection->handle(), token, name, before, next));
  }
  FencingToken token(int offset = 0) const {
    const auto value = static_cast<std::int64_t>(lease.token().value()) + offset;
    return FencingToken::from_value(static_cast<std::uint64_t>(value)).value();
  }
  std::int64_t fence() {
    sqlite::Statement statement("SELECT max_fence FROM wallock_resources WHERE resource = 'r'");
    sqlite::Query query(connection->handle(), statement);
    REQUIRE(query.step().value());
    return query.integer(0);
  }
};

}  // namespace

TEST_CASE("INV-01 a token that the file's fence has reached is not spent") {
  const bool ends = GENERATE(false, true);
  Spending s;
  s.run("UPDATE wallock_resources SET max_fence = issued");
  CHECK(s.spend(s.token(), ends) == "invariant_violated");
  s.run("UPDATE wallock_resources SET max_fence = issued - 1");
  CHECK(s.spend(s.token(-1), ends) == "invariant_violated");
  CHECK(s.fence() == static_cast<std::int64_t>(s.token(-1).value()));
  CHECK(s.spend(s.token(), ends) == "ok");  // the twin
  CHECK(s.fence() == static_cast<std::int64_t>(s.token().value()));
  CHECK(s.spend(s.token(), ends) == "invariant_violated");  // once
}

TEST_CASE("INV-01 a token that the file has not issued is not spent") {
  const bool ends = GENERATE(false, true);
  Spending s;
  CHECK(s.spend(s.token(1), ends) == "invariant_violated");
  CHECK(s.spend_and_keep(s.token(1)) == "invariant_violated");
  s.run("SAVEPOINT s");
  CHECK(s.spend_and_keep(s.token()) == "ok");  // the twin
  s.run("ROLLBACK TO s");
  s.run("DELETE FROM wallock_resources");
  CHECK(s.spend(s.token(), ends) == "invariant_violated");
}

TEST_CASE("INV-05 no token is spent while the file's breaker is not closed, or not there") {
  const bool ends = GENERATE(false, true);
  const std::string spoiled = GENERATE(
      as<std::string>(), "UPDATE wallock_breakers SET state = 1, interval_ns = 1, generation = 1",
      "UPDATE wallock_breakers SET state = 2, interval_ns = 1, generation = 1, probe_token = 1, "
      "probe_holder = 'x', probe_instance = 1, probe_expires_at = 1",
      "UPDATE wallock_breakers SET state = 1, interval_ns = 1, generation = 1, forced = 1",
      "DELETE FROM wallock_breakers",
      "PRAGMA ignore_check_constraints = 1; UPDATE wallock_breakers SET state = 7");
  CAPTURE(spoiled);
  Spending s;
  s.run(told_of_breakers);
  s.run("SAVEPOINT s; " + spoiled);
  CHECK(s.spend(s.token(), ends) == "invariant_violated");
  s.run("ROLLBACK TO s");
  CHECK(s.spend(s.token(), ends) == "ok");  // the twin
}

TEST_CASE("a lease is prolonged only in the row that it was decided by") {
  const std::string spoiled =
      GENERATE(as<std::string>(), "SET max_fence = max_fence + 1", "SET issued = issued + 1",
               "SET granted_at = granted_at - 1", "SET resource = 's'");
  CAPTURE(spoiled);
  Spending s;
  ResourceState next = s.before.state;
  next.tenure->expires_at += 1min;
  const auto store = [&] {
    return answer(s.resources.store(s.connection->handle(), s.name, s.before, next));
  };
  s.run("SAVEPOINT s; UPDATE wallock_resources " + spoiled);
  CHECK(store() == "invariant_violated");
  s.run("ROLLBACK TO s");
  CHECK(store() == "ok");  // the twin
}

}  // namespace wallock::test
