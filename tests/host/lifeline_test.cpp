// The kernel tells of a death: the word of an opening changes, and who sleeps on it wakes.
#include "host/lifeline.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include <vector>

#include "denied_call.hpp"
#include "host_support.hpp"

using namespace wallock;
using namespace wallock::test;
using host::Pulse;

namespace {

// Bits of the kernel's, in the words of its robust lists.
constexpr std::uint32_t waiters_bit = 0x80000000;
constexpr std::uint32_t died_bit = 0x40000000;

std::optional<Pulse> pulse(const Sidecar& sidecar, std::uint64_t instance) {
  return sidecar.membership().pulse_of(instance);
}

[[nodiscard]] bool await_beats(const Sidecar& sidecar, std::uint64_t instance) {
  return await([&] {
    const auto now = pulse(sidecar, instance);
    return now && now->beats();
  });
}

// Opens, starts its lifeline and stays.
Fork live_as(const Shore& shore, std::uint64_t instance) {
  return Fork([&shore, instance] {
    const auto sidecar = shore.open(instance);
    sidecar->lifeline().start();
    return pause();
  });
}

// Sleeps for longer than the test has patience, until `holder`'s pulse changes.
class Sleeper {
 public:
  Sleeper(Sidecar& sidecar, const std::string& resource, Pulse holder)
      : place_(sidecar.line().join(resource, Instant::max())) {
    REQUIRE(place_);
    thread_ = std::thread([this, holder, calls = place_->calls()] {
      slept_ = place_->sleep(calls, holder, 4 * long_enough);
      is_awake_ = true;
    });
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    place_->interrupt();
    thread_.join();
  }
  [[nodiscard]] bool is_awake() const { return is_awake_; }
  [[nodiscard]] bool slept() const { return slept_; }
  void interrupt() { place_->interrupt(); }

 private:
  std::optional<host::WaitingLine::Place> place_;
  std::atomic<bool> slept_{false}, is_awake_{false};
  std::thread thread_;
};

}  // namespace

TEST_CASE("a pulse beats from the start of the lifeline to a proper end, then nobody has it") {
  const Shore shore;
  const auto own = shore.open(1);
  auto other = shore.open(2);
  CHECK_FALSE(pulse(*own, 2)->beats());
  CHECK_FALSE(pulse(*own, 2)->has_stopped());
  other->lifeline().start();
  other->lifeline().start();
  REQUIRE(await_beats(*own, 2));
  CHECK_FALSE(pulse(*own, 2)->has_stopped());
  const Pulse seen = *pulse(*own, 2);
  other.reset();
  CHECK(*seen.word == 0);
  CHECK_FALSE(pulse(*own, 2));
  CHECK_FALSE(pulse(*own, 3));
  CHECK_FALSE(pulse(*own, 0));
}

TEST_CASE("the death of a process wakes everybody who sleeps on its pulse") {
  const Shore shore;
  const auto own = shore.open(1);
  Fork holder = live_as(shore, 2);
  REQUIRE(await_beats(*own, 2));
  Sleeper a(*own, "a", *pulse(*own, 2));
  Sleeper b(*own, "b", *pulse(*own, 2));
  Sleeper c(*own, "c", *pulse(*own, 2));
  std::this_thread::sleep_for(20ms);
  CHECK_FALSE((a.is_awake() || b.is_awake() || c.is_awake()));
  holder.kill();
  CHECK(await([&] { return a.is_awake() && b.is_awake() && c.is_awake(); }));
  CHECK((a.slept() && b.slept() && c.slept()));
  CHECK(pulse(*own, 2)->has_stopped());
  CHECK_FALSE(pulse(*own, 2)->beats());
  CHECK(own->membership().is_dead(2));
}

TEST_CASE("who sleeps on a pulse wakes when called, and the pulse beats on") {
  const Shore shore;
  const auto own = shore.open(1);
  own->lifeline().start();
  REQUIRE(await_beats(*own, 1));
  Sleeper sleeper(*own, "a", *pulse(*own, 1));
  sleeper.interrupt();
  CHECK(await([&] { return sleeper.is_awake(); }));
  CHECK(sleeper.slept());
  CHECK(pulse(*own, 1)->beats());
}

TEST_CASE("a container's death stops its pulse and no other with the same number of a thread") {
  if (!may_have_namespaces()) return;
  const Shore shore;
  const auto own = shore.open(1);
  const auto contained = [&](std::uint64_t instance) {
    return fork_as_pid_1([&shore, instance] {
      const auto sidecar = shore.open(instance);
      sidecar->lifeline().start();
      return pause();
    });
  };
  Fork a = contained(2);
  Fork b = contained(3);
  REQUIRE((await_beats(*own, 2) && await_beats(*own, 3)));
  CHECK(pulse(*own, 2)->seen == pulse(*own, 3)->seen);
  Sleeper sleeper(*own, "a", *pulse(*own, 2));
  a.kill();
  CHECK(await([&] { return sleeper.is_awake(); }));
  CHECK(pulse(*own, 2)->has_stopped());
  CHECK(pulse(*own, 3)->beats());
}

TEST_CASE("a stopped process's pulse beats, whatever its children do (case L32)") {
  const Shore shore;
  const auto own = shore.open(1);
  const Shared<std::atomic<bool>> has_forked;
  Fork holder([&] {
    const auto sidecar = shore.open(2);
    sidecar->lifeline().start();
    static_cast<void>(Fork([&] { return sidecar->lifeline().start(), 0; }).wait());
    *has_forked = true;
    return pause();
  });
  REQUIRE((await([&] { return has_forked->load(); }) && await_beats(*own, 2)));
  REQUIRE(holder.stop());
  CHECK(pulse(*own, 2)->beats());
  CHECK_FALSE(own->membership().is_dead(2));
}

TEST_CASE("a pulse stops with its process, though a forked child lives on (case L32)") {
  const Shore shore;
  const auto own = shore.open(1);
  const Shared<std::atomic<pid_t>> grandchild;
  Fork holder([&] {
    auto sidecar = shore.open(2);
    sidecar->lifeline().start();
    if (const pid_t child = fork(); child != 0) return pause();
    prctl(PR_SET_PDEATHSIG, 0);
    sidecar->lifeline().start();
    sidecar.reset();
    *grandchild = getpid();
    for (;;)
      pause();
  });
  REQUIRE(await([&] { return grandchild->load() != 0; }));
  REQUIRE(await_beats(*own, 2));
  holder.kill();
  CHECK(pulse(*own, 2)->has_stopped());
  CHECK(kill(*grandchild, SIGKILL) == 0);
}

TEST_CASE("a process that executes another program is dead, and its pulse tells") {
  const Shore shore;
  const auto own = shore.open(1);
  Fork holder([&] {
    const auto sidecar = shore.open(2);
    sidecar->lifeline().start();
    if (!await_beats(*sidecar, 2)) return 1;
    return execl("/bin/sleep", "sleep", "60", nullptr);
  });
  CHECK(await([&] {
    const auto now = pulse(*own, 2);
    return now && now->has_stopped();
  }));
  CHECK(await([&] { return own->membership().is_dead(2); }));
}

TEST_CASE("a joiner's pulse is none of its predecessor's") {
  const Shore shore;
  const auto own = shore.open(1);
  const RawSidecar raw(shore.sidecar());
  raw->members.places[1].life = waiters_bit | died_bit;
  const auto other = shore.open(2);
  REQUIRE(other->membership().own() == 1);
  CHECK(pulse(*own, 2)->seen == 0);
}

TEST_CASE("an opening that lost its place to another leaves the other's pulse alone") {
  const Shore shore;
  const auto own = shore.open(1);
  const RawSidecar raw(shore.sidecar());
  host::SharedWord& word = raw->members.places[1].life;
  auto late = shore.open(2);
  REQUIRE(late->membership().own() == 1);
  word = 7;
  late->lifeline().start();
  late.reset();
  CHECK(word == 7);
  auto early = shore.open(3);
  early->lifeline().start();
  REQUIRE(await_beats(*own, 3));
  word = 8;
  early.reset();
  CHECK(word == 8);
}

TEST_CASE("where the kernel has no robust lists there is no pulse to sleep on") {
  const Shore shore;
  const auto own = shore.open(1);
  Fork holder([&] {
    if (!deny_call(SYS_set_robust_list)) return 1;
    auto sidecar = shore.open(2);
    sidecar->lifeline().start();
    sidecar.reset();
    const auto again = shore.open(3);
    again->lifeline().start();
    return pause();
  });
  REQUIRE(await([&] { return pulse(*own, 3).has_value(); }));
  std::this_thread::sleep_for(20ms);
  CHECK_FALSE(pulse(*own, 3)->beats());
  holder.kill();
  CHECK_FALSE(pulse(*own, 3)->has_stopped());
  CHECK(own->membership().is_dead(3));
}

TEST_CASE("two words are waited for until one changes, for no longer than the patience") {
  host::SharedWord one{1}, other{2};
  CHECK(host::wait_while_both(one, 0, other, 2, Duration::max()));
  CHECK(host::wait_while_both(one, 1, other, 0, Duration::max()));
  CHECK(host::wait_while_both(one, 1, other, 2, Duration::zero()));
  const auto start = std::chrono::steady_clock::now();
  CHECK(host::wait_while_both(one, 1, other, 2, 5ms));
  CHECK(std::chrono::steady_clock::now() - start >= 5ms);
}

TEST_CASE("where the system cannot wait for two words, it says so at once") {
  CHECK(Fork([] {
          host::SharedWord one{1}, other{2};
          if (!deny_call(SYS_futex_waitv)) return 1;
          return host::wait_while_both(one, 1, other, 2, Duration::max()) ? 2 : 0;
        }).wait() == 0);
}
