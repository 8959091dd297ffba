// A worker of a storm: takes a resource, commits, lets go, delivers, and starts again.
#include <chrono>
#include <cstring>
#include <optional>
#include <random>

#include "counters.hpp"
#include "storm_ground.hpp"
#include "wallock/coordinator.hpp"

namespace wallock::test {
namespace {

using namespace std::chrono_literals;

// A log that is longer than this is checkpointed: a thousand pages.
constexpr int large = 4'300'000;

class StormWorker {
 public:
  StormWorker(Storm::Ground& ground, std::string database, const StormSettings& settings,
              std::size_t place, std::uint32_t life, unsigned seed)
      : ground_(ground),
        place_(ground.places[place]),
        database_(std::move(database)),
        settings_(settings),
        life_(life),
        random_(seed) {}

  int run() {
    watch_for_checkpoints(database_, place_.phase);
    if (!open()) return 1;
    ground_.has_schema = true;
    if (settings_.writing == Writing::two_transactions) open_own_connection();
    while (!ground_.over && ground_.broken == 0) {
      if (random(4) == 0) {
        deliver();
      } else {
        hold();
      }
    }
    return 0;
  }

 private:
  unsigned random(unsigned below) { return static_cast<unsigned>(random_() % below); }

  // One call of the library, told of before and after it.
  template <class Call>
  auto in(Phase phase, Call call) {
    ++place_.begun;
    place_.phase = phase;
    auto answer = call();
    place_.phase = Phase::rest;
    ++place_.done;
    return answer;
  }

  void note(const Error& error) {
    if (ground_.broken++ != 0) return;
    const std::string text = to_string(error);
    std::strncpy(ground_.answer.data(), text.c_str(), ground_.answer.size() - 1);
  }
  // Nothing but success will do.
  template <class T>
  bool is_well(const Result<T>& answer) {
    if (!answer) note(answer.error());
    return answer.has_value();
  }

  bool open() {
    place_.phase = ground_.has_schema ? Phase::open : Phase::migrate;
    auto opened = Coordinator::open(database_, {.durability = settings_.durability,
                                                .operation_timeout = 60s,
                                                .delivery = {.max_attempts = 1000}});
    if (!is_well(opened)) return false;
    coordinator_ = *std::move(opened);
    place_.phase = Phase::rest;
    return true;
  }

  void open_own_connection() {
    own_.emplace(database_, SQLite::OPEN_READWRITE, 60'000);
    own_->exec("PRAGMA wal_autocheckpoint=0");
  }

  // The lease would last for an hour: who dies with it must not be waited for.
  void hold() {
    const std::string resource = storm_resource(random(storm_resources));
    const auto lease = in(
        Phase::acquire, [&] { return coordinator_->acquire(resource, {.ttl = 1h, .wait = 60s}); });
    if (!is_well(lease)) return;
    const bool keeps = random(2) == 0;
    if (!commit(*lease, keeps ? AfterCommit::nothing : AfterCommit::release) || !keeps) return;
    is_well(in(Phase::release, [&] { return coordinator_->release(*lease); }));
  }

  bool commit(const Lease& lease, AfterCommit after) {
    const std::string resource = lease.resource().str();
    const std::string action = storm_action(life_, actions_ + 1);
    const int bytes = place_.shall_checkpoint.exchange(false) ? large : 0;
    const auto write = [&](SQLite::Database& database) {
      create_counter(database, resource);
      write_counter(database, {.action = action,
                               .resource = resource,
                               .value = read_counter(database, resource) + 1,
                               .token = lease.token().value()});
      if (bytes != 0) fill(database, bytes);
    };
    const bool torn = settings_.writing == Writing::two_transactions;
    const auto work = [&](Transaction& transaction) {
      if (!torn) write(wallock::database(transaction));
    };
    const auto answer = in(Phase::commit, [&] {
      ActionFields fields{.id = action};
      if (random(2) == 0) fields.destination = Given<Destination>("bank");
      auto done = coordinator_->commit(lease, fields, work, {.after = after});
      if (done && torn) write_apart(write);
      return done;
    });
    if (!is_well(answer)) return false;
    ground_.lives[life_].acknowledged = ++actions_;
    return true;
  }

  // Larger than the log may grow, and always in the same row.
  static void fill(SQLite::Database& database, int bytes) {
    database.exec("CREATE TABLE IF NOT EXISTS blobs (n INTEGER PRIMARY KEY, data BLOB)");
    database.exec("INSERT OR REPLACE INTO blobs VALUES (1, zeroblob(" + std::to_string(bytes) +
                  "))");
  }

  template <class Write>
  void write_apart(Write write) {
    own_->exec("BEGIN IMMEDIATE");
    write(*own_);
    own_->exec("COMMIT");
  }

  void deliver() {
    const auto found = in(Phase::claim, [&] {
      return coordinator_->claim({.destination = "bank", .limit = 2, .ttl = 50ms});
    });
    if (!is_well(found)) return;
    for (const Delivery& delivery : *found) {
      const auto settled = in(Phase::settle, [&] {
        return random(4) == 0 ? coordinator_->settle(delivery, DeliveryOutcome::retry(0s))
                              : coordinator_->settle(delivery, DeliveryOutcome::delivered());
      });
      // The claim may be over by now.
      if (!settled && settled.error().code() != Errc::claim_lost) note(settled.error());
    }
  }

  Storm::Ground& ground_;
  Storm::Ground::Place& place_;
  const std::string database_;
  const StormSettings settings_;
  const std::uint32_t life_;
  std::mt19937 random_;
  std::optional<Coordinator> coordinator_;
  std::optional<SQLite::Database> own_;
  std::uint32_t actions_ = 0;
};

}  // namespace

int live_in_storm(Storm::Ground& ground, const std::string& database, const StormSettings& settings,
                  std::size_t place, std::uint32_t life, unsigned seed) {
  return StormWorker(ground, database, settings, place, life, seed).run();
}

}  // namespace wallock::test
