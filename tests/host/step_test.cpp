// SIGKILL at single machine instructions: whatever a process was at in shared memory when it died,
// the others go on and nothing of it stays behind.
#include <sys/ptrace.h>

#include <iostream>
#include <limits>

#include "host/waiting_queue.hpp"
#include "host_support.hpp"
#include "thread_sanitizer.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

using Work = std::function<void(Sidecar&)>;

// Runs `work` in a child that opened the sidecar as `instance`, and kills it at most `steps`
// instructions after the opening. Returns how many it took; -1 if tracing is not permitted.
long run_steps(const Shore& shore, std::uint64_t instance, long steps, const Work& work) {
  Fork child([&] {
    const auto sidecar = shore.open(instance);
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return 1;
    raise(SIGSTOP);
    work(*sidecar);
    _exit(0);
  });
  int status = 0;
  if (waitpid(child.pid(), &status, 0) != child.pid() || !WIFSTOPPED(status)) return -1;
  for (long taken = 0; taken < steps; ++taken) {
    if (ptrace(PTRACE_SINGLESTEP, child.pid(), nullptr, nullptr) != 0) return -1;
    waitpid(child.pid(), &status, 0);
    if (WIFEXITED(status)) return taken;
  }
  return steps;
}

// Kills children in the middle of `work`, each at a moment of its own, with `check` after it.
void kill_in_the_middle(std::string_view name, const Shore& shore, const Work& work,
                        const std::function<void()>& check) {
  const long length = run_steps(shore, 999, std::numeric_limits<long>::max(), work);
  if (length < 0) {
    std::cout << "tracing is not permitted: no kills at single instructions\n";
    return;
  }
  const unsigned seed = draw_seed();
  std::mt19937 random(seed);
  std::uniform_int_distribution<long> moments(0, length - 1);
  const int kills = thread_sanitizer ? 3 : storm(30);
  std::cout << name << ": " << kills << " kills within " << length << " instructions, seed " << seed
            << "\n";
  for (int i = 0; i < kills; ++i) {
    const long moment = moments(random);
    INFO("seed " << seed << ", kill " << i << " after " << moment << " instructions");
    REQUIRE(run_steps(shore, 1000 + static_cast<std::uint64_t>(i), moment, work) == moment);
    check();
  }
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
      [](Sidecar& sidecar) { static_cast<void>(sidecar.turnstile().enter(0s)); },
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
