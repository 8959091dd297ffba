// Forks children that inherit an open Coordinator, a lease and a guard with running heartbeats.
//
//   forks DATABASE COUNT
//
// The first children try every operation, all of them exit() and so destroy what is static. The
// parent commits in between, and another of its threads all the time, so that children are born in
// the middle of transactions. Prints "ok" and the number of that thread's commits, or what went
// wrong.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "child_process.hpp"
#include "counters.hpp"
#include "wallock/coordinator.hpp"
#include "wallock/lease_guard.hpp"

// Set in children. What only a thread of the parent's pointed to is nobody's in a child, which has
// not that thread: no leak of anybody's.
static bool in_child = false;

// Asked by the leak checker of a sanitizer, if there is one.
extern "C" int __lsan_is_turned_off() { return in_child ? 1 : 0; }

namespace {

using wallock::ActionFields;
using wallock::Coordinator;
using wallock::Errc;

constexpr int children_that_call = 3;
constexpr int commits_between = 10;

// Static, so that exit() in a child destroys them.
std::optional<Coordinator> coordinator;
std::optional<Coordinator> busy_coordinator;  // without a guard that would keep it from its end
std::optional<wallock::LeaseGuard> guard;
std::optional<wallock::Lease> lease;
std::optional<wallock::Delivery> delivery;
std::optional<wallock::Probe> probe;

template <class T>
T must(wallock::Result<T> result, const char* what) {
  if (!result) throw std::runtime_error(what + (": " + to_string(result.error())));
  return *std::move(result);
}

// In a child: every answer must be forked_handle.
class Child {
 public:
  template <class Answer>
  void expect(const char* what, const Answer& answer) {
    if (!answer && answer.error().code() == Errc::forked_handle) return;
    std::cout << what << " did not answer forked_handle in a child" << std::endl;
    well_ = false;
  }
  void expect_true(const char* what, bool holds) {
    if (holds) return;
    std::cout << what << " does not hold in a child" << std::endl;
    well_ = false;
  }
  [[nodiscard]] bool well() const noexcept { return well_; }

 private:
  bool well_ = true;
};

void call_leases(Child& child) {
  const ActionFields action{.id = "in-a-child"};
  child.expect("acquire", coordinator->acquire("x"));
  child.expect("try_acquire", coordinator->try_acquire("x"));
  child.expect("guard", coordinator->guard("x"));
  child.expect("renew", coordinator->renew(*lease, std::chrono::seconds(1)));
  child.expect("commit", coordinator->commit(*lease, action));
  child.expect("release", coordinator->release(*lease));
  child.expect("execute", coordinator->execute("x", action));
  child.expect("revoke", coordinator->revoke("r", lease->token(), "reason"));
  child.expect("guard commit", guard->commit(action));
  child.expect("guard report", guard->report(wallock::DownstreamOutcome::success));
  child.expect("guard release", guard->release());
  child.expect_true("reason forked", guard->reason() == wallock::LossReason::forked);
  child.expect_true("lost is stopped", guard->lost().stop_requested());
  child.expect_true("guard is not valid", !guard->valid());
}

void call_the_rest(Child& child) {
  child.expect("report", coordinator->report(*lease, wallock::DownstreamOutcome::timeout));
  child.expect("breaker", coordinator->breaker("r"));
  child.expect("begin_recovery", coordinator->begin_recovery("broken"));
  child.expect("complete_recovery",
               coordinator->complete_recovery(*probe, {.recovered = true, .evidence = "seen"}));
  child.expect("force_open", coordinator->force_open("r", "reason"));
  child.expect("clear_forced", coordinator->clear_forced("r"));
  child.expect("claim", coordinator->claim({.destination = "d"}));
  child.expect("settle", coordinator->settle(*delivery, wallock::DeliveryOutcome::delivered()));
  child.expect("leases", coordinator->leases());
  child.expect("audit", coordinator->audit());
  child.expect("root", coordinator->root());
  child.expect("verify", coordinator->verify());
  child.expect("health", coordinator->health());
}

// A child, its exit() and its end. False if it did not end well.
bool child_ends_well(bool calls) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    in_child = true;
    Child child;
    if (calls) {
      call_leases(child);
      call_the_rest(child);
      // A grandchild inherits what the child must not use either.
      if (::fork() == 0) {
        call_leases(child);
        std::exit(child.well() ? 0 : 1);
      }
      int status = 0;
      ::wait(&status);
      child.expect_true("the grandchild", status == 0);
    }
    std::exit(child.well() ? 0 : 1);
  }
  int status = -1;
  return pid > 0 && ::waitpid(pid, &status, 0) == pid && status == 0;
}

void set_up(const std::string& database) {
  coordinator = must(
      Coordinator::open(
          database, {.breaker = {.trip_after = 1, .first_interval = std::chrono::milliseconds(1)}}),
      "open");
  busy_coordinator = must(Coordinator::open(database), "open once more");
  must(coordinator->execute("out", ActionFields{.id = "out", .destination = "d"}), "out");
  delivery = must(coordinator->claim({.destination = "d"}), "claim").at(0);
  const auto broken = must(coordinator->acquire("broken"), "broken");
  must(coordinator->report(broken, wallock::DownstreamOutcome::timeout), "report");
  ::usleep(5000);
  probe = must(coordinator->begin_recovery("broken"), "begin_recovery");
  lease = must(coordinator->acquire("r", {.ttl = std::chrono::hours(1)}), "acquire");
  guard = must(coordinator->guard("guarded", {.ttl = std::chrono::seconds(30)}), "guard");
}

void commit_in_parent(int round) {
  const std::string action = "commit-" + std::to_string(round);
  const auto committed = must(coordinator->commit(*lease, ActionFields{.id = action}, {},
                                                  {.after = wallock::AfterCommit::keep}),
                              "commit in the parent");
  lease = committed.lease();
  must(guard->commit(ActionFields{.id = action + "-guarded"}), "guarded commit in the parent");
}

// A thread that commits until it is told to end.
class Busy {
 public:
  Busy() : thread_([this] { work(); }) {}
  ~Busy() { end(); }
  // How many commits it made; -1 if one failed.
  int end() {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
    return failed_ ? -1 : commits_;
  }

 private:
  void work() {
    while (!ended_ && !failed_) {
      const std::string action = "busy-" + std::to_string(commits_);
      failed_ = !busy_coordinator->execute("busy", ActionFields{.id = action, .payload = large_});
      ++commits_;
    }
  }

  const std::string large_ = std::string(100'000, 'x');
  std::atomic<bool> ended_{false};
  std::atomic<bool> failed_{false};
  int commits_ = 0;
  std::thread thread_;
};

int run(const std::string& database, int count) {
  set_up(database);
  Busy busy;
  for (int i = 0; i < count; ++i) {
    if (!child_ends_well(i < children_that_call)) throw std::runtime_error("a child ended badly");
    if (i % commits_between == 0) commit_in_parent(i);
  }
  const int commits = busy.end();
  if (commits < 0) throw std::runtime_error("the other thread could not commit");
  // Everything that the children inherited is still the parent's.
  if (!guard->valid()) throw std::runtime_error("the guard was lost");
  if (must(coordinator->leases(), "leases").size() != 2) throw std::runtime_error("lost a lease");
  must(guard->release(), "guard release");
  must(coordinator->release(*lease), "release");
  must(coordinator->settle(*delivery, wallock::DeliveryOutcome::delivered()), "settle");
  return commits;
}

}  // namespace

int main(int count, char** words) {
  wallock::test::die_with_parent();
  const std::vector<std::string> arguments(words, words + count);
  try {
    const int commits = run(arguments.at(1), std::stoi(arguments.at(2)));
    std::cout << "ok " << commits << std::endl;
    return 0;
  } catch (const std::exception& error) {
    std::cout << error.what() << std::endl;
    return 1;
  }
}
