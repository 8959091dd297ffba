// SIGKILL at single machine instructions: whatever a process was at in shared memory when it died,
// the others go on and nothing of it stays behind.
#include <sys/ptrace.h>

#include <algorithm>
#include <iostream>
#include <limits>

#include "host/waiting_queue.hpp"
#include "host_support.hpp"
#include "thread_sanitizer.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

using Work = std::function<int(Sidecar&)>;

// A child that opened the sidecar and goes through `work` by single instructions.
class Traced {
 public:
  Traced(const Shore& shore, std::uint64_t instance, const Work& work)
      : child_([&] {
          const auto sidecar = shore.open(instance);
          if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return 1;
          raise(SIGSTOP);
          return work(*sidecar);
        }) {
    int status = 0;
    may_trace_ = waitpid(child_.pid(), &status, 0) == child_.pid() && WIFSTOPPED(status);
  }

  [[nodiscard]] bool may_trace() const noexcept { return may_trace_; }
  // At most `steps`; returns how many it took until its end, -1 if it cannot be traced.
  long step(long steps) {
    int status = 0;
    for (long taken = 0; taken < steps; ++taken) {
      if (ptrace(PTRACE_SINGLESTEP, child_.pid(), nullptr, nullptr) != 0) return -1;
      waitpid(child_.pid(), &status, 0);
      if (WIFEXITED(status)) return taken;
    }
    return steps;
  }
  // Runs to the end. What `work` returned.
  int finish() {
    REQUIRE(ptrace(PTRACE_CONT, child_.pid(), nullptr, nullptr) == 0);
    return child_.wait();
  }

 private:
  Fork child_;
  bool may_trace_ = false;
};

// Moments of a work, one in each part of it, drawn from the seed, which is printed.
class Moments {
 public:
  Moments(std::string_view name, const Shore& shore, const Work& work, int count) {
    if (thread_sanitizer) {
      std::cout << name << ": too many instructions under ThreadSanitizer, none traced"
                << std::endl;
      return;
    }
    Traced whole(shore, 999, work);
    if (!whole.may_trace()) {
      std::cout << "tracing is not permitted: nothing at single instructions" << std::endl;
      return;
    }
    length_ = whole.step(std::numeric_limits<long>::max());
    random_.seed(seed_);
    count_ = count;
    std::cout << name << ": " << count_ << " moments of " << length_ << " instructions, seed "
              << seed_ << std::endl;
  }

  [[nodiscard]] int count() const noexcept { return count_; }
  [[nodiscard]] unsigned seed() const noexcept { return seed_; }
  // Of the part with that number, from 0.
  [[nodiscard]] long draw(int part) {
    const long first = length_ * part / count_;
    const long last = std::max(first, length_ * (part + 1) / count_ - 1);
    return std::uniform_int_distribution<long>(first, last)(random_);
  }

 private:
  unsigned seed_ = draw_seed();
  std::mt19937 random_;
  long length_ = 0;
  int count_ = 0;
};

// Kills children in the middle of `work`, each at a moment of its own, with `check` after it.
void kill_in_the_middle(std::string_view name, const Shore& shore, const Work& work,
                        const std::function<void()>& check) {
  Moments moments(name, shore, work, storm(30));
  int killed = 0;
  for (int i = 0; i < moments.count(); ++i) {
    const long moment = moments.draw(i);
    INFO("seed " << moments.seed() << ", kill " << i << " after " << moment << " instructions");
    // How many instructions the work takes depends on the clock: a late moment may find it done.
    const bool in_time =
        Traced(shore, 1000 + static_cast<std::uint64_t>(i), work).step(moment) == moment;
    killed += in_time ? 1 : 0;
    check();
  }
  CHECK(2 * killed >= moments.count());
}

}  // namespace

TEST_CASE("a process killed at any instruction of a turn leaves the turnstile free") {
  const Shore shore;
  const auto own = shore.open(1);
  const RawSidecar raw(shore.sidecar());
  kill_in_the_middle(
      "turns", shore,
      [](Sidecar& sidecar) {
        if (sidecar.turnstile().enter(0s)) sidecar.turnstile().leave();
        return 0;
      },
      [&] {
        REQUIRE(own->turnstile().enter(0s));
        own->turnstile().leave();
      });
}

TEST_CASE("a process killed at any instruction of waiting for a turn leaves no place in line") {
  const Shore shore;
  const auto own = shore.open(1);
  const RawSidecar raw(shore.sidecar());
  REQUIRE(own->turnstile().enter(0s));
  kill_in_the_middle(
      "waiting for turns", shore,
      [](Sidecar& sidecar) { return sidecar.turnstile().enter(0s) ? 1 : 0; },
      [&] {
        own->turnstile().leave();
        REQUIRE(own->turnstile().enter(long_enough));
        REQUIRE(host::slots_in_use(raw->turnstile.shard) == 0);
      });
}

TEST_CASE("a process killed at any instruction of a place's life leaves the line to the others") {
  const Shore shore;
  const auto own = shore.open(1);
  int checks = 0;
  kill_in_the_middle(
      "places in line", shore,
      [](Sidecar& sidecar) {
        auto place = sidecar.line().join("r", Instant::max());
        if (place && place->is_first()) place->stay();
        sidecar.line().call_first("r");
        return 0;
      },
      [&] {
        // Now and then two of them in a row, so that one dies while it frees what another left.
        if (++checks % 3 == 0) return;
        auto place = own->line().join("r", Instant::max());
        REQUIRE(place);
        REQUIRE(place->is_first());
        place.reset();
        REQUIRE_FALSE(own->line().is_waited_for("r"));
        REQUIRE(own->line().count() == 0);
      });
}

TEST_CASE("an opening that closes at any instruction of the question is not dead") {
  const Shore shore;
  const auto own = shore.open(1);
  auto closing = shore.open(2);
  const Work ask = [](Sidecar& sidecar) { return sidecar.membership().is_dead(2) ? 1 : 0; };
  // The two looks that must not be one are some 60 instructions apart.
  Moments moments("questions", shore, ask, storm(120));
  int asked = 0;
  for (int i = 0; i < moments.count(); ++i) {
    const long moment = moments.draw(i);
    INFO("seed " << moments.seed() << ", closed after " << moment << " instructions");
    Traced asking(shore, 1000 + static_cast<std::uint64_t>(i), ask);
    // A late moment may find the question answered.
    const bool in_time = asking.step(moment) == moment;
    asked += in_time ? 1 : 0;
    closing.reset();
    if (in_time) CHECK(asking.finish() == 0);
    closing = shore.open(2);
  }
  CHECK(2 * asked >= moments.count());
}
