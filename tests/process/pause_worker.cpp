// A worker that reads under a lease, thinks, and commits what it read plus one.
#include <chrono>
#include <cstring>
#include <thread>

#include "counters.hpp"
#include "pauses.hpp"
#include "wallock/coordinator.hpp"

namespace wallock::test {
namespace {

using namespace std::chrono_literals;
using Phase = PauseGround::Phase;
using Outcome = PauseGround::Outcome;

constexpr Duration ttl = 15ms;
// Others must be answered while the write lock is out of their reach.
constexpr Duration operation_timeout = 5ms;

Options options() { return {.operation_timeout = operation_timeout}; }

class PauseWorker {
 public:
  PauseWorker(PauseGround& ground, const std::string& database, bool fenced, std::size_t place,
              unsigned seed)
      : ground_(ground),
        place_(ground.places[place]),
        fenced_(fenced),
        name_("w" + std::to_string(place)),
        random_(seed),
        coordinator_(open(database)),
        own_(database, fenced ? SQLite::OPEN_READONLY : SQLite::OPEN_READWRITE, 60'000) {
    if (!fenced) own_.exec("PRAGMA wal_autocheckpoint=0");
  }

  int run() {
    while (!ground_.over && ground_.broken == 0)
      work();
    return 0;
  }

 private:
  static Coordinator open(const std::string& database) {
    for (;;) {
      auto opened = Coordinator::open(database, options());
      // Somebody may be stopped with the write lock.
      if (opened || opened.error().code() != Errc::busy) return std::move(opened).value();
    }
  }

  unsigned random(unsigned below) { return static_cast<unsigned>(random_() % below); }
  void rest(unsigned most) { std::this_thread::sleep_for(std::chrono::microseconds(random(most))); }

  void note(const Error& error) {
    if (ground_.broken++ != 0) return;
    const std::string text = to_string(error);
    std::strncpy(ground_.answer.data(), text.c_str(), ground_.answer.size() - 1);
  }

  // One call of the library. A transient answer is counted where it is that of a write lock that
  // cannot be had.
  template <class Call>
  auto tell(Call call) {
    const std::uint32_t number = ++place_.calls;
    auto answer = call();
    if (!answer && answer.error().code() == Errc::busy) place_.busy_call = number;
    return answer;
  }

  void work() {
    const std::uint32_t resource = random(pause_resources);
    const std::string name = "r" + std::to_string(resource);
    const auto lease = tell([&] { return coordinator_.acquire(name, {.ttl = ttl, .wait = 50ms}); });
    if (!lease) {
      if (!is_ordinary(lease.error().code())) note(lease.error());
      return;
    }
    announce(*lease, resource);
    const std::int64_t value = read_counter(own_, name);
    place_.phase = Phase::working;
    rest(1500);
    place_.phase = Phase::elsewhere;
    const Increment increment{.action = name_ + "-" + std::to_string(++actions_),
                              .resource = name,
                              .value = value + 1,
                              .token = lease->token().value()};
    if (fenced_) {
      commit(*lease, increment);
    } else {
      write_without_fence(increment);
    }
    static_cast<void>(tell([&] { return coordinator_.release(*lease); }));
  }

  // Already held: a release was answered busy, and the lease lasts a little longer.
  static bool is_ordinary(Errc code) {
    return code == Errc::lease_held || code == Errc::already_held || code == Errc::busy;
  }

  void announce(const Lease& lease, std::uint32_t resource) {
    place_.resource = resource;
    place_.token = lease.token().value();
    place_.expires_at = lease.expires_at().time_since_epoch().count();
    place_.outcome = Outcome::pending;
    auto& latest = ground_.latest[resource];
    std::uint64_t seen = latest;
    while (seen < place_.token && !latest.compare_exchange_weak(seen, place_.token)) {
    }
  }

  void take(Outcome outcome) {
    ++(outcome == Outcome::accepted ? place_.commits : place_.stale);
    place_.outcome = outcome;
    while (place_.watched)
      std::this_thread::sleep_for(50us);
  }

  // Until it is answered with more than "later".
  void commit(const Lease& lease, const Increment& increment) {
    const auto write = [&](Transaction& transaction) {
      place_.phase = Phase::inside;
      rest(500);
      write_counter(wallock::database(transaction), increment);
      place_.phase = Phase::elsewhere;
    };
    for (;;) {
      const auto done = tell(
          [&] { return coordinator_.commit(lease, ActionFields{.id = increment.action}, write); });
      if (done) return take(Outcome::accepted);
      if (done.error().code() == Errc::stale_token) return take(Outcome::stale);
      if (done.error().error_class() != ErrorClass::transient) return note(done.error());
    }
  }

  // What many do instead: a lease, and then a write that trusts it.
  void write_without_fence(const Increment& increment) {
    own_.exec("BEGIN IMMEDIATE");
    place_.phase = Phase::inside;
    write_counter(own_, increment);
    place_.phase = Phase::elsewhere;
    own_.exec("COMMIT");
    take(Outcome::accepted);
  }

  PauseGround& ground_;
  PauseGround::Place& place_;
  const bool fenced_;
  const std::string name_;
  std::mt19937 random_;
  Coordinator coordinator_;
  SQLite::Database own_;
  std::uint32_t actions_ = 0;
};

}  // namespace

int work_with_pauses(PauseGround& ground, const std::string& database, bool fenced,
                     std::size_t place, unsigned seed) {
  return PauseWorker(ground, database, fenced, place, seed).run();
}

}  // namespace wallock::test
