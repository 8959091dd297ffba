// A worker of the crowd: takes leases, reads a counter, thinks, and commits the counter plus one,
// until it is told to end, killed, or paused. Logs every call before and after it.
//
//   worker DATABASE LOG NAME SEED fenced|unfenced [HOLDER RESOURCE ACTION TOKEN INSTANCE VALUE]
//
// The last six are a commit of a predecessor that was never answered: it is repeated first, under
// the lease that the predecessor had.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "child_process.hpp"
#include "counters.hpp"
#include "history.hpp"
#include "wallock/coordinator.hpp"

namespace {

using std::chrono::milliseconds;
using wallock::AfterCommit;
using wallock::Duration;
using wallock::Lease;
using wallock::test::Attempt;

constexpr milliseconds ttl{80};
constexpr milliseconds wait{500};
constexpr std::size_t leases_remembered = 8;
constexpr int most_repeats = 20;

volatile std::sig_atomic_t told_to_end = 0;

void on_terminate(int) { told_to_end = 1; }

struct Arguments {
  std::string database;
  std::string log;
  std::string name;
  unsigned seed = 0;
  bool fenced = true;
  std::optional<Attempt> unanswered = {};
};

// What a worker knows when it wants to commit.
struct Held {
  Lease lease;
  std::int64_t value = 0;  // the counter, read under the lease
  std::string action = {};
};

class Worker {
 public:
  explicit Worker(const Arguments& arguments)
      : arguments_(arguments),
        random_(arguments.seed),
        log_(::open(arguments.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)),
        coordinator_(open(arguments)),
        database_(arguments.database,
                  arguments.fenced ? SQLite::OPEN_READONLY : SQLite::OPEN_READWRITE, 10'000) {
    if (!arguments.fenced) database_.exec("PRAGMA wal_autocheckpoint=0");
  }

  void run() {
    if (arguments_.unanswered) repeat_unanswered(*arguments_.unanswered);
    while (told_to_end == 0) {
      const unsigned dice = random(100);
      if (arguments_.fenced && dice < 15) {
        execute();
      } else if (arguments_.fenced && dice < 25) {
        commit_late();
      } else {
        hold();
      }
    }
  }

 private:
  static wallock::Coordinator open(const Arguments& arguments) {
    auto opened = wallock::Coordinator::open(arguments.database, {.holder = arguments.name});
    if (!opened) throw std::runtime_error("open: " + to_string(opened.error()));
    return *std::move(opened);
  }

  static std::int64_t now() { return wallock::system_clock()->now().time_since_epoch().count(); }
  unsigned random(unsigned below) { return static_cast<unsigned>(random_() % below); }
  std::string some_resource() { return "counter-" + std::to_string(random(4)); }
  std::string next_action() { return arguments_.name + "-" + std::to_string(++actions_); }

  void write_log(const Attempt& attempt) const {
    const std::string line = log_line(attempt);
    if (::write(log_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
  }

  static void take_error(const wallock::Error& error, Attempt& attempt) {
    attempt.error = std::string(to_string(error.code()));
    switch (error.error_class()) {
      case wallock::ErrorClass::business:
        attempt.answer = Attempt::Answer::refused;
        return;
      case wallock::ErrorClass::transient:
        attempt.answer = Attempt::Answer::repeat;
        return;
      default:
        attempt.answer = Attempt::Answer::broken;
    }
  }

  // Logs the attempt, makes the call, and logs its answer.
  template <class Call, class Take>
  auto tell(Attempt& attempt, Call call, Take take) {
    attempt.begun = now();
    attempt.answer = Attempt::Answer::none;
    write_log(attempt);
    auto answer = call();
    attempt.answered = now();
    if (answer) {
      attempt.answer = Attempt::Answer::done;
      take(*answer);
    } else {
      take_error(answer.error(), attempt);
    }
    write_log(attempt);
    return answer;
  }

  // A commit or execute, repeated until it is answered for good.
  template <class Call>
  std::optional<wallock::Committed> tell_commit(Attempt& attempt, Call call) {
    for (int i = 0; i < most_repeats; ++i) {
      auto answer = tell(attempt, call, [&](const wallock::Committed& committed) {
        attempt.position = committed.results().front().position();
        if (committed.replayed()) attempt.answer = Attempt::Answer::replayed;
        if (committed.lease()) attempt.granted = committed.lease()->token().value();
      });
      if (answer) return *std::move(answer);
      if (attempt.answer != Attempt::Answer::repeat) break;
    }
    return std::nullopt;
  }

  std::optional<Lease> acquire(const std::string& resource) {
    Attempt attempt{.kind = Attempt::Kind::acquire, .resource = resource};
    auto lease = tell(
        attempt, [&] { return coordinator_.acquire(resource, {.ttl = ttl, .wait = wait}); },
        [&](const Lease& granted) { attempt.granted = granted.token().value(); });
    return lease ? std::optional(*std::move(lease)) : std::nullopt;
  }

  void release(const Lease& lease) {
    Attempt attempt{.kind = Attempt::Kind::release,
                    .resource = lease.resource().str(),
                    .token = lease.token().value()};
    static_cast<void>(
        tell(attempt, [&] { return coordinator_.release(lease); }, [](wallock::ReleaseEffect) {}));
  }

  std::optional<wallock::Committed> commit(const Held& held, AfterCommit after) {
    Attempt attempt{.kind = Attempt::Kind::commit,
                    .resource = held.lease.resource().str(),
                    .action = held.action,
                    .token = held.lease.token().value(),
                    .holder = held.lease.holder().str(),
                    .instance = static_cast<std::uint64_t>(held.lease.instance()),
                    .value = held.value};
    const wallock::test::Increment increment{.action = held.action,
                                             .resource = attempt.resource,
                                             .value = held.value + 1,
                                             .token = attempt.token};
    const auto work = [&increment](wallock::Transaction& transaction) {
      wallock::test::write_counter(wallock::database(transaction), increment);
    };
    return tell_commit(attempt, [&] {
      return coordinator_.commit(held.lease, wallock::ActionFields{.id = held.action}, work,
                                 {.after = after});
    });
  }

  // What many do instead: a lease, and then a write that trusts it.
  void write_without_fence(const Held& held) {
    database_.exec("BEGIN IMMEDIATE");
    wallock::test::write_counter(database_, {.action = held.action,
                                             .resource = held.lease.resource().str(),
                                             .value = held.value + 1,
                                             .token = held.lease.token().value()});
    database_.exec("COMMIT");
  }

  // Now and then for too long: until the next holder has read and thinks in its turn.
  void think(const Lease& lease) {
    const Duration thought = std::chrono::microseconds(random(4000));
    const bool too_long = random(24) == 0;
    std::this_thread::sleep_for(
        too_long ? lease.expires_at() - wallock::system_clock()->now() + thought : thought);
  }

  // Acquires, then reads, thinks and commits once or several times, then lets go, or forgets to.
  void hold() {
    auto lease = acquire(some_resource());
    while (lease && told_to_end == 0) {
      const Held held{.lease = *lease,
                      .value = wallock::test::read_counter(database_, lease->resource().str()),
                      .action = next_action()};
      remember(held);
      think(*lease);
      if (!arguments_.fenced) {
        write_without_fence(held);
        return release(*lease);
      }
      const auto after = static_cast<AfterCommit>(random(3));
      const auto committed = commit(held, after);
      if (after == AfterCommit::release) return;
      if (!committed || !committed->lease()) break;
      lease = committed->lease();
    }
    if (lease && random(10) != 0) release(*lease);
  }

  void execute() {
    Attempt attempt{
        .kind = Attempt::Kind::execute, .resource = some_resource(), .action = next_action()};
    const auto work = [&attempt](wallock::Transaction& transaction) {
      SQLite::Database& database = wallock::database(transaction);
      wallock::test::write_counter(
          database, {.action = attempt.action,
                     .resource = attempt.resource,
                     .value = wallock::test::read_counter(database, attempt.resource) + 1,
                     .token = transaction.token().value()});
    };
    static_cast<void>(tell_commit(attempt, [&] {
      return coordinator_.execute(attempt.resource, wallock::ActionFields{.id = attempt.action},
                                  work, {.wait = wait});
    }));
  }

  // As a worker does that was away for a while: an old token and an old reading, for an action of
  // then or a new one.
  void commit_late() {
    if (remembered_.empty()) return;
    Held held = remembered_[random(static_cast<unsigned>(remembered_.size()))];
    if (random(2) == 0) held.action = next_action();
    static_cast<void>(commit(held, AfterCommit::nothing));
  }

  void remember(const Held& held) {
    if (remembered_.size() == leases_remembered) remembered_.erase(remembered_.begin());
    remembered_.push_back(held);
  }

  void repeat_unanswered(const Attempt& unanswered) {
    const auto lease =
        Lease::create({.resource = wallock::ResourceName::parse(unanswered.resource).value(),
                       .token = wallock::FencingToken::from_value(unanswered.token).value(),
                       .holder = wallock::HolderId::parse(unanswered.holder).value(),
                       .instance = wallock::InstanceId{unanswered.instance},
                       .requested_at = wallock::Instant(milliseconds(1)),
                       .granted_at = wallock::Instant(milliseconds(1)),
                       .expires_at = wallock::Instant(milliseconds(2))});
    static_cast<void>(
        commit({.lease = lease.value(), .value = unanswered.value, .action = unanswered.action},
               AfterCommit::nothing));
  }

  const Arguments arguments_;
  std::mt19937 random_;
  const int log_;
  wallock::Coordinator coordinator_;
  SQLite::Database database_;  // the application's own, outside of commits
  std::vector<Held> remembered_;
  unsigned actions_ = 0;
};

Arguments read_arguments(const std::vector<std::string>& words) {
  Arguments arguments{.database = words.at(1),
                      .log = words.at(2),
                      .name = words.at(3),
                      .seed = static_cast<unsigned>(std::stoul(words.at(4))),
                      .fenced = words.at(5) == "fenced"};
  if (words.size() > 6) {
    arguments.unanswered = Attempt{.resource = words.at(7),
                                   .action = words.at(8),
                                   .token = std::stoull(words.at(9)),
                                   .holder = words.at(6),
                                   .instance = std::stoull(words.at(10)),
                                   .value = std::stoll(words.at(11))};
  }
  return arguments;
}

}  // namespace

int main(int count, char** words) {
  wallock::test::die_with_parent();
  std::signal(SIGTERM, on_terminate);
  std::puts("ready");  // to be told to end
  std::fflush(stdout);
  try {
    Worker(read_arguments({words, words + count})).run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "worker: %s\n", error.what());
    return 1;
  }
}
