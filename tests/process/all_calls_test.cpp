// Every public call from several threads at once: what ThreadSanitizer looks at.
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "process_support.hpp"
#include "temp_folder.hpp"
#include "thread_sanitizer.hpp"
#include "wallock/lease_guard.hpp"

using namespace wallock;
using namespace wallock::test;
using namespace std::chrono_literals;

namespace {

constexpr unsigned threads = 6;
constexpr unsigned rounds = thread_sanitizer ? 10 : 40;

// How often each call was answered well, was refused as it may be, and failed as it must not.
struct Tally {
  std::atomic<unsigned> done{0};
  std::atomic<unsigned> refused{0};
  std::atomic<unsigned> broken{0};
  std::mutex mutex = {};
  std::string first_broken = {};
};

// What a thread works with: its own names, and those that all share.
struct Hand {
  Coordinator& store;
  const std::string& path;
  std::string own;
  unsigned number = 0;

  [[nodiscard]] std::string next_id() { return own + "-" + std::to_string(++number); }
  [[nodiscard]] std::string shared() const { return number % 2 == 0 ? "even" : "odd"; }
};

template <class T>
bool note(Tally& tally, const Result<T>& answer) {
  if (answer) {
    ++tally.done;
  } else if (answer.error().error_class() == ErrorClass::business ||
             answer.error().code() == Errc::busy) {
    ++tally.refused;
  } else {
    ++tally.broken;
    const std::lock_guard lock(tally.mutex);
    if (tally.first_broken.empty()) tally.first_broken = to_string(answer.error());
  }
  return answer.has_value();
}

AcquireOptions short_wait() {
  AcquireOptions options;
  options.wait = 20ms;
  options.metadata = "m";
  return options;
}

using Call = std::function<void(Hand&, Tally&)>;

void use_lease(Hand& hand, Tally& tally) {
  const auto lease = hand.store.acquire(hand.shared(), short_wait());
  if (!note(tally, lease)) return;
  note(tally, hand.store.renew(*lease, 30s));
  note(tally, hand.store.report(*lease, DownstreamOutcome::success));
  note(tally, hand.store.commit(*lease, ActionFields{.id = hand.next_id()}));
  note(tally, hand.store.release(*lease));
}

void try_lease(Hand& hand, Tally& tally) {
  const auto lease = hand.store.try_acquire(hand.own);
  if (note(tally, lease)) note(tally, hand.store.release(*lease));
}

void use_several(Hand& hand, Tally& tally) {
  const auto leases = hand.store.acquire_all({hand.own + "/1", "all", hand.own + "/2"});
  if (!note(tally, leases)) return;
  for (const Lease& lease : *leases)
    note(tally, hand.store.release(lease));
}

// The members of a guard that any thread may call, from another one than its owner's.
void use_guard(Hand& hand, Tally& tally) {
  auto guard = hand.store.guard(hand.own, {.ttl = 300ms}, {.on_lost = [](LossReason) {}});
  if (!note(tally, guard)) return;
  std::thread watcher([&guard] {
    for (int i = 0; i < 50; ++i) {
      static_cast<void>(guard->valid() && guard->token());
      static_cast<void>(guard->lost().stop_requested());
      static_cast<void>(guard->reason());
    }
  });
  note(tally, guard->commit(ActionFields{.id = hand.next_id()}));
  note(tally, guard->report(DownstreamOutcome::failure));
  static_cast<void>(guard->lease());
  watcher.join();
  LeaseGuard moved = *std::move(guard);
  note(tally, moved.release());
}

void execute(Hand& hand, Tally& tally) {
  const auto work = [](Transaction& transaction) {
    database(transaction).exec("INSERT INTO app VALUES (1)");
  };
  note(tally, hand.store.execute(hand.shared(),
                                 ActionFields{.id = hand.next_id(),
                                              .destination = Given<Destination>("post"),
                                              .payload = "p"},
                                 work, {.wait = 20ms}));
}

void deliver(Hand& hand, Tally& tally) {
  const auto sent = hand.store.claim({.destination = "post", .limit = 2, .wait = 1ms});
  if (!note(tally, sent) || sent->empty()) return;
  const auto outcome =
      hand.number % 3 == 0 ? DeliveryOutcome::retry(1ms) : DeliveryOutcome::delivered();
  if (hand.number % 2 == 0) {
    std::vector<Settlement> settlements;
    for (const Delivery& delivery : *sent)
      settlements.push_back({delivery, outcome});
    note(tally, hand.store.settle_all(settlements));
    return;
  }
  for (const Delivery& delivery : *sent)
    note(tally, hand.store.settle(delivery, outcome));
}

void look(Hand& hand, Tally& tally) {
  note(tally, hand.store.leases());
  note(tally, hand.store.audit({.limit = 10}));
  note(tally, hand.store.root());
  note(tally, hand.store.health());
  note(tally, hand.store.breaker(hand.shared()));
}

void verify(Hand& hand, Tally& tally) {
  const auto head = hand.store.root();
  if (note(tally, head)) note(tally, hand.store.verify(*head));
}

void steer(Hand& hand, Tally& tally) {
  const std::string valve = "valve";
  note(tally, hand.store.force_open(valve, "test"));
  note(tally, hand.store.clear_forced(valve));
  std::this_thread::sleep_for(2ms);
  const auto probe = hand.store.begin_recovery(valve);
  if (note(tally, probe)) {
    note(tally, hand.store.complete_recovery(*probe, {.recovered = true, .evidence = "seen"}));
  }
}

void revoke(Hand& hand, Tally& tally) {
  const auto lease = hand.store.try_acquire("revoked");
  if (note(tally, lease)) note(tally, hand.store.revoke("revoked", lease->token(), "test"));
}

void open_another(Hand& hand, Tally& tally) {
  auto other = Coordinator::open(hand.path);
  if (!note(tally, other)) return;
  Coordinator moved = *std::move(other);
  note(tally, moved.health());
}

const std::map<std::string, Call>& all_calls() {
  static const std::map<std::string, Call> calls = {{"use_lease", use_lease},
                                                    {"try_lease", try_lease},
                                                    {"use_several", use_several},
                                                    {"use_guard", use_guard},
                                                    {"execute", execute},
                                                    {"deliver", deliver},
                                                    {"look", look},
                                                    {"verify", verify},
                                                    {"steer", steer},
                                                    {"revoke", revoke},
                                                    {"open_another", open_another}};
  return calls;
}

void work(Hand hand, unsigned seed, std::map<std::string, Tally>& tallies) {
  std::vector<std::string> order;
  for (const auto& [name, call] : all_calls())
    order.push_back(name);
  std::mt19937 random(seed);
  for (unsigned round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::string& name : order)
      all_calls().at(name)(hand, tallies.at(name));
  }
}

}  // namespace

TEST_CASE("threads: every public call from several threads at once answers well or refuses") {
  const TempFolder folder;
  const std::string path = folder / "store.db";
  Options options;
  options.breaker.first_interval = 1ms;
  auto store = must(Coordinator::open(path, options));
  static_cast<void>(
      must(store.execute("setup", ActionFields{.id = "setup"}, [](Transaction& transaction) {
        database(transaction).exec("CREATE TABLE app (x)");
      })));
  std::map<std::string, Tally> tallies;
  for (const auto& [name, call] : all_calls())
    tallies[name].done = 0;
  std::vector<std::thread> crew;
  for (unsigned i = 0; i < threads; ++i) {
    crew.emplace_back(work, Hand{.store = store, .path = path, .own = "t" + std::to_string(i)}, i,
                      std::ref(tallies));
  }
  for (std::thread& thread : crew)
    thread.join();
  for (const auto& [name, tally] : tallies) {
    CAPTURE(name, tally.done, tally.refused, tally.first_broken);
    CHECK(tally.broken == 0);
    CHECK(tally.done > 0);
  }
  CHECK(must(store.verify()).verdict == VerifyVerdict::unanchored);
}
