// Crossroads: a store at which the operations of several threads meet in one transaction.
#pragma once

#include <chrono>
#include <future>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "repository_support.hpp"
#include "sync_counter.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {

// From now on the file refuses the last row of an action with this id: a refusal after a write.
inline void refuse(RawDatabase& raw, const std::string& id) {
  raw.must(
      "CREATE TRIGGER refuses BEFORE INSERT ON wallock_payloads WHEN (SELECT action_id FROM "
      "wallock_lease_queue_events WHERE position = NEW.position) = '" +
      id + "' BEGIN SELECT RAISE(ABORT, 'refused'); END");
}

// Starts an operation on a thread of its own and waits until it is in line for the store.
template <class Operation>
auto join_line(Coordinator& store, Operation operation) {
  const auto before = store.health().value().waiting_operations;
  auto joined = std::async(std::launch::async, std::move(operation));
  while (store.health().value().waiting_operations == before)
    std::this_thread::yield();
  return joined;
}

// A store whose transactions a test can hold open: work that waits to be let go.
class Crossroads {
 public:
  // `refused`: an action whose last row the file refuses, after the others were written. `before`:
  // SQL that is run first.
  explicit Crossroads(Duration timeout = 60s, bool share_flushes = true,
                      const std::string& refused = {}, const std::string& before = {}) {
    options_ = at_.options();
    options_.durability = Durability::commits;
    options_.share_flushes = share_flushes;
    options_.operation_timeout = timeout;
    store_.emplace(at_.open(options_));
    raw_.emplace(at_.path());
    raw_->must("CREATE TABLE app (id INTEGER PRIMARY KEY, note TEXT UNIQUE)");
    raw_->must(
        "CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES app (id) "
        "DEFERRABLE INITIALLY DEFERRED)");
    if (!refused.empty()) refuse(*raw_, refused);
    raw_->must(before);
    opener_ = std::async(std::launch::async, [this] {
      return answer(store().execute("opener", recorded("opener"), [this] {
        opened_.count_down();
        go_.wait();
      }));
    });
    opened_.wait();
    static_cast<void>(flushes());
  }
  ~Crossroads() {
    if (opener_.valid()) static_cast<void>(go());
  }

  [[nodiscard]] Coordinator& store() { return *store_; }
  [[nodiscard]] RawDatabase& raw() { return *raw_; }

  template <class Operation>
  auto join(Operation operation) {
    return join_line(store(), std::move(operation));
  }
  auto commit(const std::string& id, Work work = {}) {
    return join([this, id, work = std::move(work)] {
      return store().execute("resource of " + id, recorded(id), work);
    });
  }

  // Lets the open transaction go on, with all who joined; answers what came of its opener.
  [[nodiscard]] std::string go() {
    go_.count_down();
    return opener_.get();
  }
  // From now on each flush takes that much longer.
  void slow_down(std::chrono::milliseconds by) { counter_.slow_down(by); }
  // How often the log was flushed since it was last asked.
  [[nodiscard]] std::uint64_t flushes() const { return counter_.taken(); }

  [[nodiscard]] std::string notes() {
    return raw().text(
        "SELECT coalesce(group_concat(note, ' '), '-') FROM "
        "(SELECT note FROM app ORDER BY note)");
  }
  [[nodiscard]] bool is_recorded(const std::string& id) {
    return raw().integer("SELECT count(*) FROM wallock_lease_queue_events WHERE action_id = '" +
                         id + "'") == 1;
  }

 private:
  SyncCounter counter_;
  TempStore at_;
  Options options_;
  std::optional<Coordinator> store_;
  std::optional<RawDatabase> raw_;
  std::latch opened_{1};
  std::latch go_{1};
  std::future<std::string> opener_;
};

inline void insert(Transaction& transaction, const std::string& note) {
  database(transaction).exec("INSERT INTO app (note) VALUES ('" + note + "')");
}

inline Work inserting(const std::string& note) {
  return [note](Transaction& transaction) { insert(transaction, note); };
}

}  // namespace wallock::test
