// What a claim walks past: nothing that it cannot take, however much of it there is (case O22).
#include <functional>

#include "repository_support.hpp"
#include "sqlite/invariants.hpp"
#include "sqlite/outbox_store.hpp"

namespace wallock::test {
namespace {

ClaimOptions from_bank(std::uint32_t limit = 1000) {
  ClaimOptions options{.destination = "bank"};
  options.limit = limit;
  return options;
}

struct Queue {
  TempStore at;
  Coordinator store = at.open(quick_to_trip(at.options()));
  RawDatabase raw = at.raw();

  void put(const std::string& resource, const std::string& id,
           const std::string& destination = "bank") {
    REQUIRE(answer(store.execute(resource, sent(id, "payload", destination))) == "ok");
  }
  // All that can be claimed, so many.
  std::vector<Delivery> claimed(std::size_t count) {
    auto deliveries = store.claim(from_bank()).value();
    REQUIRE(deliveries.size() == count);
    return deliveries;
  }
  std::string ids() {
    auto deliveries = store.claim(from_bank());
    if (!deliveries) return answer(deliveries);
    std::string found;
    for (const Delivery& delivery : *deliveries)
      found += (found.empty() ? "" : " ") + delivery.action_id().str();
    return found;
  }
  void settle_all(const std::vector<Delivery>& deliveries, DeliveryOutcome outcome) {
    for (const Delivery& delivery : deliveries)
      REQUIRE(answer(store.settle(delivery, outcome)) == "ok");
  }
  // The steps of SQLite's machine that looking for one delivery takes; it finds "good".
  std::int64_t steps() {
    sqlite::OutboxStore outbox;
    raw.must("BEGIN IMMEDIATE");
    const auto found =
        outbox.claimable(raw.handle(), Destination::parse("bank").value(), 1, at.clock->now());
    REQUIRE(found);
    REQUIRE(found->size() == 1);
    CHECK(found->front().row.resource.str() == "good");
    std::int64_t sum = 0;
    for (sqlite3_stmt* statement = nullptr;
         (statement = sqlite3_next_stmt(raw.handle(), statement)) != nullptr;) {
      sum += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0);
      CHECK(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_SORT, 0) == 0);
    }
    raw.must("ROLLBACK");
    return sum;
  }
};

// What `count` deliveries are to be before the one that can be claimed.
struct Kind {
  const char* name;
  std::function<void(Queue&, int count)> make;
};

std::string name_of(int i) { return "r" + std::to_string(i); }

void put_each(Queue& queue, int count, const std::string& destination = "bank") {
  for (int i = 0; i < count; ++i)
    queue.put(name_of(i), name_of(i), destination);
}

void open_each(Queue& queue, int count) {
  for (int i = 0; i < count; ++i)
    REQUIRE(answer(queue.store.force_open(name_of(i), "why")) == "ok");
}

void trip_each(Queue& queue, int count) {
  for (int i = 0; i < count; ++i) {
    const auto lease = queue.store.acquire(name_of(i)).value();
    REQUIRE(effect(queue.store.report(lease, DownstreamOutcome::timeout)) == "tripped");
  }
}

const Kind kinds[] = {
    {"behind breakers forced open",
     [](Queue& queue, int count) {
       put_each(queue, count);
       open_each(queue, count);
     }},
    {"behind breakers that tripped",
     [](Queue& queue, int count) {
       put_each(queue, count);
       trip_each(queue, count);
     }},
    {"behind breakers that are probed",
     [](Queue& queue, int count) {
       put_each(queue, count);
       trip_each(queue, count);
       queue.at.clock->advance(10s);
       for (int i = 0; i < count; ++i)
         REQUIRE(answer(queue.store.begin_recovery(name_of(i))) == "ok");
     }},
    // Whose rows are there already.
    {"behind breakers that opened once more",
     [](Queue& queue, int count) {
       put_each(queue, count);
       trip_each(queue, count);
       queue.at.clock->advance(10s);
       for (int i = 0; i < count; ++i) {
         const auto probe = queue.store.begin_recovery(name_of(i)).value();
         REQUIRE(answer(queue.store.complete_recovery(probe, {true, "ok"})) == "ok");
       }
       open_each(queue, count);
     }},
    {"claimed when their breakers opened, and the claims ran out",
     [](Queue& queue, int count) {
       put_each(queue, count);
       static_cast<void>(queue.claimed(static_cast<std::size_t>(count)));
       open_each(queue, count);
       queue.at.clock->advance(1h);
     }},
    {"given back behind breakers that opened meanwhile",
     [](Queue& queue, int count) {
       put_each(queue, count);
       const auto claimed = queue.claimed(static_cast<std::size_t>(count));
       open_each(queue, count);
       queue.settle_all(claimed, DeliveryOutcome::retry(0s));
     }},
    {"delayed, with others in line behind them",
     [](Queue& queue, int count) {
       queue.put("r", "first");
       for (int i = 0; i < count; ++i)
         queue.put("r", name_of(i));
       queue.settle_all(queue.claimed(1), DeliveryOutcome::retry(1h));
     }},
    {"delayed, each alone",
     [](Queue& queue, int count) {
       put_each(queue, count);
       queue.settle_all(queue.claimed(static_cast<std::size_t>(count)), DeliveryOutcome::retry(1h));
     }},
    {"with somebody who delivers them",
     [](Queue& queue, int count) {
       put_each(queue, count);
       static_cast<void>(queue.claimed(static_cast<std::size_t>(count)));
     }},
    {"for other destinations",
     [](Queue& queue, int count) {
       put_each(queue, count, "bang");
       for (int i = 0; i < count; ++i)
         queue.put("other" + name_of(i), "other" + name_of(i), "banks");
     }},
    {"delivered",
     [](Queue& queue, int count) {
       put_each(queue, count);
       queue.settle_all(queue.claimed(static_cast<std::size_t>(count)),
                        DeliveryOutcome::delivered());
     }},
    {"dead",
     [](Queue& queue, int count) {
       put_each(queue, count);
       queue.settle_all(queue.claimed(static_cast<std::size_t>(count)), DeliveryOutcome::reject());
     }},
};

std::int64_t steps_with(const Kind& kind, int count) {
  Queue queue;
  kind.make(queue, count);
  queue.at.clock->advance(1s);
  queue.put("good", "good");
  return queue.steps();
}

}  // namespace

TEST_CASE("looking for a delivery takes as many steps behind many that cannot go as behind few") {
  for (const Kind& kind : kinds) {
    CAPTURE(kind.name);
    CHECK(steps_with(kind, 40) == steps_with(kind, 2));
  }
}

TEST_CASE("a claim holds what it met behind an open breaker, and the next does not meet it") {
  Queue queue;
  for (int i = 0; i < 20; ++i)
    queue.put(name_of(i), name_of(i));
  for (int i = 0; i < 20; ++i)
    queue.put(name_of(i), "behind" + name_of(i));
  const auto claimed = queue.claimed(20);
  open_each(queue, 20);
  queue.settle_all(claimed, DeliveryOutcome::delivered());  // those behind are next, and not held
  queue.at.clock->advance(1s);
  queue.put("good", "good");
  const auto at_first = queue.steps();  // undone again
  queue.settle_all(queue.claimed(1), DeliveryOutcome::delivered());
  queue.put("good", "better");
  CHECK(queue.steps() * 5 < at_first);
  CHECK(sqlite::check_invariants(queue.at.path()).value().empty());
}

TEST_CASE("a held delivery goes out once its breaker is CLOSED, by whatever hand") {
  Queue queue;
  queue.put("r", "first");
  queue.put("r", "second");
  REQUIRE(answer(queue.store.acquire("r")) == "ok");
  REQUIRE(answer(queue.store.force_open("r", "why")) == "ok");
  REQUIRE(queue.raw.integer("SELECT sum(held) FROM wallock_deliveries") == 1);
  CHECK(queue.ids() == "");
  SECTION("after a recovery") {
    REQUIRE(answer(queue.store.clear_forced("r")) == "ok");
    queue.at.clock->advance(10s);
    const auto probe = queue.store.begin_recovery("r").value();
    CHECK(queue.ids() == "");
    SECTION("that failed first") {
      REQUIRE(answer(queue.store.complete_recovery(probe, {false, "no"})) == "ok");
      CHECK(queue.ids() == "");
      queue.at.clock->advance(1h);
      const auto again = queue.store.begin_recovery("r").value();
      REQUIRE(answer(queue.store.complete_recovery(again, {true, "ok"})) == "ok");
    }
    SECTION("at once") {
      REQUIRE(answer(queue.store.complete_recovery(probe, {true, "ok"})) == "ok");
    }
    CHECK(sqlite::check_invariants(queue.at.path()).value().empty());
  }
  SECTION("mended in the file") {
    queue.raw.must("DROP TRIGGER wallock_breakers_close_only_by_a_probe");
    queue.raw.must("UPDATE wallock_breakers SET state = 0, forced = 0, interval_ns = 0");
  }
  SECTION("put back into the file") {
    queue.raw.must("DROP TRIGGER wallock_breakers_open_row_stays");
    queue.raw.must("DELETE FROM wallock_breakers");
    CHECK(queue.ids() == "");
    queue.raw.must(told_of_breakers);
  }
  CHECK(queue.ids() == "first");
  CHECK(queue.raw.integer("SELECT sum(held) FROM wallock_deliveries") == 0);
}

TEST_CASE("a breaker row that is out of bounds holds its deliveries until it is mended") {
  Queue queue;
  queue.put("r", "a");
  queue.raw.must(told_of_breakers);
  queue.raw.must("UPDATE wallock_breakers SET timeouts = 5000000000");
  CHECK(queue.ids() == "");
  CHECK(queue.raw.integer("SELECT held FROM wallock_deliveries") == 1);
  queue.raw.must("UPDATE wallock_breakers SET timeouts = 0");
  CHECK(queue.ids() == "a");
}

TEST_CASE("a breaker row that is open in nothing but its state holds its deliveries") {
  Queue queue;
  queue.put("r", "a");
  queue.raw.must(told_of_breakers);
  queue.raw.must("PRAGMA ignore_check_constraints = 1; UPDATE wallock_breakers SET state = 1");
  queue.raw.must("UPDATE wallock_deliveries SET held = 0");  // as if nobody had looked at it yet
  CHECK(queue.ids() == "");
  CHECK(queue.raw.integer("SELECT held FROM wallock_deliveries") == 1);
}

TEST_CASE("a breaker row that its resource does not tell of keeps deliveries until it does") {
  Queue queue;
  queue.put("r", "a");
  queue.raw.must(told_of_breakers);
  queue.raw.must("DROP TRIGGER wallock_resources_breaker_stays");
  queue.raw.must("UPDATE wallock_resources SET has_breaker = 0");
  CHECK(queue.ids() == "");
  queue.raw.must("UPDATE wallock_resources SET has_breaker = 1");
  CHECK(queue.ids() == "a");
}

TEST_CASE("a held delivery whose breaker is CLOSED is a violation") {
  Queue queue;
  queue.put("r", "a");
  REQUIRE(sqlite::check_invariants(queue.at.path()).value().empty());
  queue.raw.must("UPDATE wallock_deliveries SET held = 1");
  const auto found = sqlite::check_invariants(queue.at.path()).value();
  REQUIRE(found.size() == 1);
  CHECK(found.front().invariant == sqlite::Invariant::delivery_row);
}

}  // namespace wallock::test
