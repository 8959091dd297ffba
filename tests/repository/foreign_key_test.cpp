// Foreign keys of the application's onto the library's tables: what they refuse is told as theirs.
#include "repository_support.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {
namespace {

// A delivery that is claimed, in a store where a row of the application's refers to it.
struct Referred {
  explicit Referred(const std::string& how) {
    REQUIRE(answer(store.execute("r", sent("a"))) == "ok");
    raw.must("CREATE TABLE app (delivery REFERENCES wallock_deliveries" + how + ")");
    raw.must("INSERT INTO app SELECT position FROM wallock_deliveries");
    delivery = store.claim({.destination = "bank"}).value().at(0);
  }
  TempStore at;
  Coordinator store = at.open();
  RawDatabase raw = at.raw();
  std::optional<Delivery> delivery;
};

}  // namespace

TEST_CASE("a foreign key onto the library's tables that refuses a write is named as the cause") {
  const std::string how =
      GENERATE(as<std::string>(), "(position)", "(position) DEFERRABLE INITIALLY DEFERRED");
  CAPTURE(how);
  Referred on(how);
  News news(on.store);
  const auto settled = on.store.settle(*on.delivery, DeliveryOutcome::delivered());
  CHECK(answer(settled) == "foreign_key_refused");
  CHECK(settled.error().error_class() == ErrorClass::deterministic);
  CHECK(settled.error().facts().native == SQLITE_CONSTRAINT_FOREIGNKEY);
  CHECK(news() == "-");
  CHECK(on.store.health().value().deliveries == 1);
  CHECK(answer(on.store.execute("s", recorded("b"))) == "ok");  // others are not concerned
  on.raw.must("DROP TABLE app");
  CHECK(effect(on.store.settle(*on.delivery, DeliveryOutcome::delivered())) !=
        "foreign_key_refused");
  CHECK(on.store.health().value().deliveries == 0);
  CHECK(verdict(on.store) == "UNANCHORED");
}

TEST_CASE("a foreign key onto columns of the library's that are no key is not a damaged store") {
  TempStore at;
  auto store = at.open();
  const auto lease = store.acquire("r", by("ann")).value();
  auto raw = at.raw();
  raw.must("CREATE TABLE app (holder REFERENCES wallock_resources (holder))");
  News news(store);
  CHECK(answer(store.commit(lease, sent("a"), {}, {.after = AfterCommit::release})) ==
        "foreign_key_refused");
  CHECK(answer(store.release(lease)) == "foreign_key_refused");
  CHECK(news() == "-");
  raw.must("DROP TABLE app");
  CHECK(answer(store.commit(lease, sent("a"), {}, {.after = AfterCommit::release})) == "ok");
}

TEST_CASE("opening a file whose foreign keys do not fit the library's tables says so") {
  TempStore at;
  static_cast<void>(at.open());
  at.raw().must("CREATE TABLE app (epoch REFERENCES wallock_meta (epoch))");
  at.clock->reboot("boot-2");  // the epoch is to be raised
  CHECK(answer(Coordinator::open(at.path(), at.options())) == "foreign_key_refused");
  at.raw().must("DROP TABLE app");
  CHECK(answer(Coordinator::open(at.path(), at.options())) == "ok");
}

}  // namespace wallock::test
