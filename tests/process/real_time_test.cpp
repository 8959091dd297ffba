// Half a million answers of real processes and threads, each explained by the order of the ledger
// and the times at which it was asked for and given.
#include <chrono>
#include <iostream>
#include <thread>

#include "child_process.hpp"
#include "fork.hpp"
#include "process_support.hpp"
#include "sqlite/invariants.hpp"
#include "temp_folder.hpp"
#include "thread_sanitizer.hpp"
#include "timeline.hpp"

using namespace wallock::test;
using namespace std::chrono_literals;
using wallock::ActionFields;
using wallock::AfterCommit;
using wallock::Coordinator;
using wallock::Errc;
using wallock::Lease;
using Answer = TimedCall::Answer;
using Kind = TimedCall::Kind;

namespace {

constexpr std::uint32_t processes = 4;
constexpr std::uint32_t threads = 4;  // of each
constexpr std::uint32_t callers = processes * threads;
constexpr std::uint16_t resources = 24;
constexpr std::size_t most_calls = 40'000;  // of each thread
constexpr std::uint64_t actions_of_a_caller = 1'000'000;

struct Ground {
  struct Log {
    std::atomic<std::uint32_t> size;
    std::array<TimedCall, most_calls> calls;
  };
  std::array<Log, callers> logs;
  std::atomic<std::uint32_t> broken;  // answers that a healthy store never gives
  std::array<char, 256> answer;       // one of them
};

std::string name_of_resource(std::uint16_t resource) { return "r" + std::to_string(resource); }
std::string name_of_caller(std::uint32_t caller) { return "c" + std::to_string(caller); }
std::string name_of_action(std::uint64_t action) { return "a" + std::to_string(action); }
std::uint64_t number_in(const std::string& name) { return std::stoull(name.substr(1)); }

// One thread: calls and writes down what it was answered.
class Caller {
 public:
  Caller(Ground& ground, Coordinator& coordinator, std::uint32_t caller, unsigned seed)
      : ground_(ground),
        log_(ground.logs[caller]),
        coordinator_(coordinator),
        caller_(caller),
        random_(seed) {}

  void run(std::size_t calls) {
    while (log_.size < calls && ground_.broken == 0) {
      const unsigned dice = random(100);
      if (dice < 15) {
        read();
      } else if (dice < 35) {
        execute();
      } else if (dice < 45) {
        commit_late();
      } else {
        hold();
      }
    }
  }

 private:
  unsigned random(unsigned below) { return static_cast<unsigned>(random_() % below); }
  static std::int64_t now() { return wallock::system_clock()->now().time_since_epoch().count(); }

  void note(TimedCall& call, const wallock::Error& error) {
    switch (error.code()) {
      case Errc::lease_held:
        call.answer = error.facts().holder.empty() ? Answer::in_line : Answer::held;
        return;
      case Errc::already_held:
        call.answer = Answer::own;
        return;
      case Errc::stale_token:
        call.answer = Answer::stale;
        return;
      default:
        break;
    }
    if (ground_.broken++ != 0) return;
    const std::string text = to_string(error);
    text.copy(ground_.answer.data(), ground_.answer.size() - 1);
  }

  // Makes the call, and writes it down with what `take` makes of its answer.
  template <class Call, class Take>
  auto tell(TimedCall call, Call make, Take take) {
    call.caller = caller_;
    call.begun = now();
    auto answer = make();
    call.answered = now();
    if (answer) {
      call.answer = Answer::done;
      take(call, *answer);
    } else {
      note(call, answer.error());
    }
    if (log_.size < most_calls) {
      log_.calls[log_.size] = call;
      ++log_.size;
    }
    return answer;
  }

  void read() {
    const auto take = [](TimedCall& call, const wallock::TreeHead& head) {
      call.position = head.size;
    };
    static_cast<void>(tell({.kind = Kind::read}, [&] { return coordinator_.root(); }, take));
  }

  static void take_commit(TimedCall& call, const wallock::Committed& committed) {
    call.position = committed.results().front().position();
    if (committed.replayed()) call.answer = Answer::replayed;
  }

  void execute() {
    const TimedCall call{.kind = Kind::commit,
                         .resource = static_cast<std::uint16_t>(random(resources)),
                         .action = next_action()};
    const wallock::Duration wait = random(2) == 0 ? 0ms : 20ms;
    static_cast<void>(tell(
        call,
        [&] {
          return coordinator_.execute(name_of_resource(call.resource),
                                      ActionFields{.id = name_of_action(call.action)}, {},
                                      {.wait = wait, .holder = name_of_caller(caller_)});
        },
        &take_commit));
  }

  struct Old {
    Lease lease;
    std::uint16_t resource = 0;
    std::uint64_t action = 0;
  };

  wallock::Result<wallock::Committed> commit(const Old& old, AfterCommit after) {
    return tell(
        {.kind = Kind::commit,
         .resource = old.resource,
         .token = old.lease.token().value(),
         .action = old.action},
        [&] {
          return coordinator_.commit(old.lease, ActionFields{.id = name_of_action(old.action)}, {},
                                     {.after = after});
        },
        &take_commit);
  }

  // As one who comes back late: an old token, for the action of then or for a new one.
  void commit_late() {
    if (!old_) return;
    Old old = *old_;
    if (random(2) == 0) old.action = next_action();
    static_cast<void>(commit(old, AfterCommit::nothing));
  }

  std::optional<Old> acquire() {
    const auto resource = static_cast<std::uint16_t>(random(resources));
    // Some run out before they are used.
    const wallock::Duration ttl = random(5) == 0 ? 1ms : 1s;
    const wallock::Duration wait = random(3) == 0 ? 20ms : 0ms;
    const auto lease = tell(
        {.kind = Kind::acquire, .resource = resource},
        [&] {
          return coordinator_.acquire(
              name_of_resource(resource),
              {.ttl = ttl, .wait = wait, .holder = name_of_caller(caller_)});
        },
        [](TimedCall& call, const Lease& granted) { call.token = granted.token().value(); });
    if (!lease) return std::nullopt;
    return Old{*lease, resource, next_action()};
  }

  void hold() {
    auto held = acquire();
    if (!held) return;
    old_ = held;
    const auto after = static_cast<AfterCommit>(random(3));
    const auto committed = commit(*held, after);
    if (committed && committed->lease()) held->lease = *committed->lease();
    if (committed && after == AfterCommit::release) return;
    if (random(100) == 0) return;  // forgotten
    const auto take = [](TimedCall& call, wallock::ReleaseEffect effect) {
      if (effect != wallock::ReleaseEffect::released) call.answer = Answer::ended;
    };
    static_cast<void>(tell(
        {.kind = Kind::release, .resource = held->resource, .token = held->lease.token().value()},
        [&] { return coordinator_.release(held->lease); }, take));
  }

  std::uint64_t next_action() { return caller_ * actions_of_a_caller + ++actions_; }

  Ground& ground_;
  Ground::Log& log_;
  Coordinator& coordinator_;
  const std::uint32_t caller_;
  std::mt19937 random_;
  std::uint64_t actions_ = 0;
  std::optional<Old> old_;
};

int call(Ground& ground, const std::string& database, std::uint32_t process, std::size_t calls,
         unsigned seed) {
  auto coordinator = Coordinator::open(
      database, {.durability = wallock::Durability::relaxed, .operation_timeout = 60s});
  if (!coordinator) return 1;
  std::vector<std::thread> crew;
  for (std::uint32_t i = 0; i < threads; ++i) {
    const std::uint32_t caller = process * threads + i;
    crew.emplace_back([&ground, &coordinator, caller, calls, seed] {
      Caller(ground, *coordinator, caller, seed + caller).run(calls);
    });
  }
  for (std::thread& thread : crew)
    thread.join();
  return 0;
}

LedgerLine to_line(const wallock::LedgerEntry& entry) {
  using wallock::RecordKind;
  LedgerLine line{.token = entry.token.value()};
  if (entry.resource) line.resource = static_cast<std::uint16_t>(number_in(entry.resource->str()));
  if (entry.kind == RecordKind::lease_granted) {
    line.kind = LedgerLine::Kind::grant;
    line.caller = static_cast<std::uint32_t>(number_in(entry.actor));
    line.until = entry.until->time_since_epoch().count();
  } else if (entry.kind == RecordKind::action_recorded) {
    line.kind = LedgerLine::Kind::action;
    line.action = number_in(entry.action_id->str());
  } else if (entry.kind == RecordKind::lease_released) {
    line.kind = LedgerLine::Kind::ending;
  }
  return line;
}

std::vector<LedgerLine> read_ledger(const std::string& database) {
  auto coordinator = must(Coordinator::open(database));
  std::vector<LedgerLine> lines;
  for (;;) {
    const auto page = must(coordinator.audit({.from = lines.size(), .limit = 10'000}));
    if (page.empty()) return lines;
    for (const auto& record : page)
      lines.push_back(to_line(record.entry()));
  }
}

std::vector<TimedCall> read_calls(const Ground& ground) {
  std::vector<TimedCall> calls;
  for (const auto& log : ground.logs)
    calls.insert(calls.end(), log.calls.begin(), log.calls.begin() + log.size);
  return calls;
}

std::size_t count(const std::vector<TimedCall>& calls, Answer answer) {
  return static_cast<std::size_t>(std::ranges::count(calls, answer, &TimedCall::answer));
}

struct Played {
  std::vector<TimedCall> calls;
  std::vector<LedgerLine> lines;
};

Played play(std::size_t calls_of_each, unsigned seed) {
  const TempFolder folder;
  const std::string database = folder / "store.db";
  const Shared<Ground> ground;
  std::vector<Fork> crew;
  for (std::uint32_t i = 0; i < processes; ++i)
    crew.emplace_back([&, i] { return call(*ground, database, i, calls_of_each, seed); });
  for (Fork& process : crew)
    REQUIRE(process.wait() == 0);
  INFO(ground->answer.data());
  REQUIRE(ground->broken == 0);
  CHECK(must(wallock::sqlite::check_invariants(database)).empty());
  return {read_calls(*ground), read_ledger(database)};
}

void check(const Played& played, unsigned seed) {
  const auto& [calls, lines] = played;
  std::string text;
  for (const auto& words : unexplained(calls, lines))
    text += words + "\n";
  INFO(text);
  REQUIRE(text.empty());
  std::cout << "real time: " << calls.size() << " calls, " << lines.size() << " records, "
            << count(calls, Answer::held) << " held, " << count(calls, Answer::in_line)
            << " in line, " << count(calls, Answer::own) << " own, " << count(calls, Answer::stale)
            << " stale, " << count(calls, Answer::replayed) << " replayed, "
            << count(calls, Answer::ended) << " ended, seed " << seed << std::endl;
  for (const Answer answer : {Answer::held, Answer::stale, Answer::replayed, Answer::ended})
    CHECK(count(calls, answer) > 0);
}

// The last call of that kind with that answer.
TimedCall& last(std::vector<TimedCall>& calls, Kind kind, Answer answer) {
  const auto fits = [&](const TimedCall& c) { return c.kind == kind && c.answer == answer; };
  const auto found = std::ranges::find_if(calls.rbegin(), calls.rend(), fits);
  REQUIRE(found != calls.rend());
  return *found;
}

// Five answers that cannot have been given, in a history that really was.
void plant(std::vector<TimedCall>& calls) {
  TimedCall& refusal = last(calls, Kind::acquire, Answer::held);  // before anybody had it
  refusal.begun = refusal.answered = std::ranges::min(calls, {}, &TimedCall::begun).begun - 1;
  last(calls, Kind::read, Answer::done).position = 1;   // of what was long past
  ++last(calls, Kind::acquire, Answer::done).caller;    // what somebody else was granted
  ++last(calls, Kind::commit, Answer::done).action;     // of what is not recorded
  last(calls, Kind::commit, Answer::stale).token = 42;  // of a token that never was
}

// A grant that is answered before all others of its time: none of those can be explained any more.
void plant_haste(std::vector<TimedCall>& calls) {
  TimedCall& grant = last(calls, Kind::acquire, Answer::done);
  grant.begun = grant.answered = std::ranges::min(calls, {}, &TimedCall::begun).begun - 1;
}

std::uint64_t operations() {
  return how_many("WALLOCK_SOAK_OPERATIONS", thread_sanitizer ? 10'000 : 500'000);
}

}  // namespace

TEST_CASE("real time: the order of the ledger explains every answer of 4 processes of 4 threads") {
  const unsigned seed = draw_seed();
  CAPTURE(seed);
  std::uint64_t left = operations();
  for (unsigned store = 0; left > 0; ++store) {
    const std::uint64_t each = std::min<std::uint64_t>(most_calls, left / callers + 1);
    check(play(each, seed + store * callers), seed + store * callers);
    left -= std::min(left, each * callers);
  }
}

TEST_CASE("real time: five wrong answers planted in a real history are found, and no others") {
  const unsigned seed = draw_seed();
  CAPTURE(seed);
  Played played = play(500, seed);
  REQUIRE(unexplained(played.calls, played.lines).empty());
  plant(played.calls);
  CHECK(unexplained(played.calls, played.lines, 100).size() == 5);
  plant_haste(played.calls);
  CHECK(unexplained(played.calls, played.lines, 100).size() > 5);
}
