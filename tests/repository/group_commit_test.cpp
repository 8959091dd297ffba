// Operations of several threads share a transaction and its flush, and each still stands alone.
#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "crossroads.hpp"

namespace wallock::test {

TEST_CASE("operations that come while a transaction is open share it, and its flush") {
  Crossroads at;
  const auto before = at.store().health().value();
  auto a = at.commit("a");
  auto b = at.commit("b", inserting("b"));
  auto grant = at.join([&] { return at.store().acquire("r", by("ann")); });
  auto c = at.commit("c", inserting("c"));
  auto refused = at.join([&] { return at.store().acquire("r", by("bob")); });
  CHECK(at.go() == "ok");
  CHECK(answer(a.get()) == "ok");
  CHECK(answer(b.get()) == "ok");
  CHECK(answer(grant.get()) == "ok");
  CHECK(answer(c.get()) == "ok");
  CHECK(answer(refused.get()) == "lease_held");  // by a grant of the same transaction
  CHECK(at.flushes() == 1);
  const auto after = at.store().health().value();
  CHECK(after.transactions - before.transactions == 1);
  CHECK(after.operations - before.operations == 6);
  CHECK(at.notes() == "b c");
  CHECK(verdict(at.store()) == "UNANCHORED");
}

TEST_CASE("work runs on its caller's thread, also in a shared transaction") {
  Crossroads at;
  std::thread::id caller;
  std::thread::id worker;
  auto joined = at.join([&] {
    caller = std::this_thread::get_id();
    return at.store().execute("r", recorded("a"), [&] { worker = std::this_thread::get_id(); });
  });
  CHECK(at.go() == "ok");
  CHECK(answer(joined.get()) == "ok");
  CHECK(caller == worker);
}

TEST_CASE("work that fails in a shared transaction harms no other") {
  Crossroads at;
  auto a = at.commit("a", inserting("a"));
  auto b = at.commit("b", [](Transaction& transaction) {
    insert(transaction, "b");
    throw std::runtime_error("declined");
  });
  auto c = at.commit("c");
  auto d = at.commit("d", inserting("d"));
  CHECK(at.go() == "ok");
  CHECK(answer(a.get()) == "ok");
  CHECK(answer(b.get()) == "work_failed");
  CHECK(answer(c.get()) == "ok");
  CHECK(answer(d.get()) == "ok");
  CHECK(at.notes() == "a d");
  CHECK_FALSE(at.is_recorded("b"));
  CHECK(at.flushes() == 1);
  CHECK(verdict(at.store()) == "UNANCHORED");
  // What it granted itself is undone with it, and what is remembered of it too.
  CHECK(answer(at.store().execute("resource of b", recorded("b"))) == "ok");
  CHECK(verdict(at.store()) == "UNANCHORED");
}

TEST_CASE("work whose deferred constraint is broken is the one that fails") {
  Crossroads at;
  const auto orphan = [](Transaction& transaction) {
    database(transaction).exec("INSERT INTO child (parent) VALUES (4711)");
  };
  auto a = at.commit("a", inserting("a"));
  auto b = at.commit("b", orphan);
  auto c = at.commit("c", inserting("c"));
  CHECK(at.go() == "ok");
  CHECK(answer(a.get()) == "ok");
  const auto broken = b.get();
  CHECK(answer(broken) == "work_failed");
  CHECK(broken.error().facts().native == SQLITE_CONSTRAINT_FOREIGNKEY);
  CHECK(answer(c.get()) == "ok");
  CHECK(at.notes() == "a c");
  CHECK(at.raw().integer("SELECT count(*) FROM child") == 0);
  CHECK(answer(at.store().execute("r", recorded("alone"), orphan)) == "work_failed");
  CHECK(at.raw().integer("SELECT count(*) FROM child") == 0);
}

TEST_CASE("work that ends the shared transaction fails; the others run again or are told to") {
  Crossroads at;
  auto plain = at.commit("plain");
  auto worked = at.commit("worked", inserting("worked"));
  auto ending = at.commit("ending", [](Transaction& transaction) {
    insert(transaction, "x");
    database(transaction).exec("INSERT OR ROLLBACK INTO app (note) VALUES ('x')");
  });
  auto late = at.commit("late", inserting("late"));
  CHECK(at.go() == "busy");  // its work ran, and must not run twice
  CHECK(answer(plain.get()) == "ok");
  CHECK(answer(worked.get()) == "busy");
  CHECK(answer(ending.get()) == "work_failed");
  CHECK(answer(late.get()) == "ok");
  CHECK(at.notes() == "late");
  CHECK(at.is_recorded("plain"));
  CHECK_FALSE(at.is_recorded("worked"));
  CHECK_FALSE(at.is_recorded("opener"));
  CHECK(verdict(at.store()) == "UNANCHORED");
}

TEST_CASE("INV-10 who waits behind work that takes long gets busy, and leaves the line") {
  Crossroads at(100ms);
  auto kept_waiting = at.commit("a", inserting("a"));
  auto behind = at.commit("b");
  CHECK(answer(kept_waiting.get()) == "busy");
  CHECK(answer(behind.get()) == "busy");
  CHECK(at.store().health().value().waiting_operations == 0);
  CHECK(at.go() == "ok");
  CHECK(at.notes() == "-");
  CHECK_FALSE(at.is_recorded("a"));
  CHECK(answer(at.store().execute("resource of a", recorded("a"), inserting("a"))) == "ok");
}

TEST_CASE("INV-10 a commit that another thread's work holds up ends as unknown, and repeats") {
  Crossroads at(300ms);
  std::mutex of_the_application;
  std::unique_lock held(of_the_application);
  auto done = at.commit("done", inserting("done"));
  auto blocked = at.commit("blocked", [&](Transaction& transaction) {
    const std::lock_guard lock(of_the_application);
    insert(transaction, "blocked");
  });
  // Both ran before the work that waits for a mutex that the application holds over its commit.
  CHECK(at.go() == "outcome_unknown");
  CHECK(answer(done.get()) == "outcome_unknown");
  held.unlock();
  CHECK(answer(blocked.get()) == "ok");
  const auto again = at.store().execute("resource of done", recorded("done"), inserting("twice"));
  CHECK(answer(again) == "ok");
  CHECK(again.value().replayed());
  CHECK(at.notes() == "blocked done");
  CHECK(at.is_recorded("opener"));
}

TEST_CASE("what needs no flush does not wait for one, and what needs one gets it") {
  Crossroads at;
  auto grant = at.join([&] { return at.store().acquire("r", by("ann")); });
  CHECK(at.go() == "ok");
  const auto lease = grant.get().value();
  static_cast<void>(at.flushes());
  CHECK(effect(at.store().release(lease)) == "released");
  CHECK(at.flushes() == 0);
  CHECK(answer(at.store().execute("r", recorded("a"))) == "ok");
  CHECK(at.flushes() == 1);
}

TEST_CASE(
    "on a slow disk a transaction ends while there is more to do: the next has a flush, too") {
  SyncCounter counter;
  TempStore at;
  auto options = at.options();
  options.durability = Durability::commits;
  options.operation_timeout = 60s;
  auto store = at.open(options);
  counter.slow_down(4ms);
  REQUIRE(answer(store.execute("r", recorded("slow"))) == "ok");  // now it is known how slow
  std::latch opened{1};
  std::latch go{1};
  auto opener = std::async(std::launch::async, [&] {
    return answer(store.execute("opener", recorded("opener"), [&] {
      opened.count_down();
      go.wait();
      std::this_thread::sleep_for(2ms);  // longer than a quarter of a flush
    }));
  });
  opened.wait();
  std::vector<std::future<std::string>> others;
  for (int i = 0; i < 20; ++i) {
    const std::string id = "a" + std::to_string(i);
    others.push_back(
        join_line(store, [&store, id] { return answer(store.execute("of " + id, recorded(id))); }));
  }
  const auto before = store.health().value();
  go.count_down();
  CHECK(opener.get() == "ok");
  for (auto& other : others)
    CHECK(other.get() == "ok");
  const auto after = store.health().value();
  CHECK(after.operations - before.operations == 21);
  CHECK(after.transactions - before.transactions > 1);
  CHECK(after.transactions - before.transactions < 21);  // and yet some share
}

TEST_CASE("threads that commit, fail and are refused at once leave what they were answered") {
  TempStore at;
  const std::uint64_t seed = Catch::rngSeed();
  CAPTURE(seed);
  auto store = at.open();
  at.raw().must("CREATE TABLE app (id INTEGER PRIMARY KEY, note TEXT UNIQUE)");
  std::atomic<int> committed{0};
  std::atomic<int> unexpected{0};
  {
    std::vector<std::jthread> threads;
    for (unsigned thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, thread] {
        std::mt19937_64 random(seed + thread);
        for (int i = 0; i < 200; ++i) {
          const std::string id = std::to_string(thread) + "/" + std::to_string(i);
          const auto kind = random() % 4;
          const auto result = store.execute("r" + std::to_string(random() % 6), recorded(id),
                                            kind == 0 ? Work() : Work([&](Transaction& t) {
                                              insert(t, id);
                                              if (kind == 1) throw std::runtime_error("no");
                                            }));
          if (result) ++committed;
          const bool expected = kind == 1 ? answer(result) == "work_failed" : result.has_value();
          if (!expected) ++unexpected;
        }
      });
    }
  }
  CHECK(unexpected == 0);
  auto raw = at.raw();
  CHECK(raw.integer("SELECT count(*) FROM wallock_lease_queue_events WHERE kind = 20") ==
        committed);
  CHECK(raw.integer("SELECT count(*) FROM app AS a LEFT JOIN wallock_lease_queue_events AS e "
                    "ON e.action_id = a.note WHERE e.position IS NULL") == 0);
  CHECK(verdict(store) == "UNANCHORED");
  const auto health = store.health().value();
  CHECK(health.operations >= static_cast<std::uint64_t>(committed));
}

}  // namespace wallock::test
