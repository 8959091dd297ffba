// The store's own writes never let a fence fall, whatever a rule should say.
#include "ledger/sha256.hpp"
#include "repository_support.hpp"
#include "sqlite/session.hpp"

namespace wallock::test {

TEST_CASE("INV-01 the store refuses to write a fence or an issued token that falls") {
  TempStore at;
  auto store = at.open();
  REQUIRE(store.acquire("r", {}).has_value());
  const auto clock = system_clock();
  auto connection = sqlite::Connection::open(at.path(), sqlite::Access::write, *clock,
                                             clock->now() + std::chrono::seconds(5));
  REQUIRE(connection);
  sqlite::Session session(*std::move(connection), ledger::Sha256::create().value());
  sqlite3* const db = session.connection->handle();
  const auto resource = ResourceName::parse("r").value();
  const auto before = session.resources.load(db, resource, 0).value();
  const std::string metadata;
  const bool granting = GENERATE(false, true);
  const bool held = GENERATE(false, true);
  auto next = before.state;
  if (!held) next.tenure.reset();
  const auto written = [&](const rules::ResourceState& state) {
    return session.resources.store(db, resource, before, state, granting ? &metadata : nullptr);
  };
  for (auto* number : {&next.max_fence, &next.issued}) {
    const FencingToken right = *number;
    *number = right.predecessor();
    const auto refused = written(next);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::invariant_violated);
    *number = right;
  }
  next.max_fence = next.issued;
  CHECK(written(next));  // the twin
}

}  // namespace wallock::test
