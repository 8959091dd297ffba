// Waiting for a resource among processes: first come, first served; the dead cost nobody anything.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <future>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "child_process.hpp"
#include "host/sidecar_layout.hpp"
#include "process_support.hpp"
#include "temp_folder.hpp"

using namespace wallock::test;
using namespace std::chrono_literals;
using wallock::ActionFields;
using wallock::Coordinator;
using wallock::Errc;
using wallock::RecordKind;

namespace {

class Line {
 public:
  Line() { REQUIRE(must(store_.health()).has_sidecar); }

  [[nodiscard]] Coordinator& store() { return store_; }

  // A process that waits for the resource, and is in line when this returns.
  [[nodiscard]] ChildProcess wait_for(const std::string& resources,
                                      const std::string& wait = "60000",
                                      const std::string& ttl = "60000") {
    const auto before = waiting();
    ChildProcess child(program("waiter"), {folder_ / "store.db", resources, wait, ttl});
    REQUIRE(child.read_line() == "waiting");
    while (waiting() == before)
      std::this_thread::sleep_for(1ms);
    return child;
  }
  // A process that has the resource.
  [[nodiscard]] ChildProcess hold(const std::string& resource, const std::string& ttl = "60000",
                                  std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{folder_ / "store.db", resource, "60000", ttl};
    arguments.insert(arguments.end(), more.begin(), more.end());
    ChildProcess child(program("waiter"), arguments);
    REQUIRE(child.read_line() == "waiting");
    REQUIRE(is_granted(child));
    return child;
  }
  [[nodiscard]] std::size_t waiting() { return must(store_.health()).waiting_in_line; }
  // What the kernel would tell of every opening.
  void forge_pulses(std::uint32_t word);

  [[nodiscard]] static bool is_granted(ChildProcess& child) {
    const auto line = child.read_line();
    return line && line->starts_with("granted");
  }
  static void let_go(ChildProcess& child) {
    child.send("release\n");
    REQUIRE(child.read_line() == "released");
    REQUIRE(child.wait() == 0);
  }

 private:
  TempFolder folder_;
  Coordinator store_ = must(Coordinator::open(folder_ / "store.db"));
};

// Has `forge` write into the sidecar's table of members.
void forge_members(const std::string& sidecar,
                   const std::function<void(wallock::host::MembershipLayout&)>& forge) {
  const int file = open(sidecar.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(file >= 0);
  void* const at = mmap(nullptr, sizeof(wallock::host::SidecarLayout), PROT_READ | PROT_WRITE,
                        MAP_SHARED, file, 0);
  close(file);
  REQUIRE(at != MAP_FAILED);
  forge(static_cast<wallock::host::SidecarLayout*>(at)->members);
  munmap(at, sizeof(wallock::host::SidecarLayout));
}

// Makes the sidecar say that the opening of that instance is dead: moves its id to a place on which
// nobody has a lock.
void bury(const std::string& sidecar, std::uint64_t instance) {
  forge_members(sidecar, [instance](auto& members) {
    for (auto& place : members.places) {
      if (place.instance.load() == instance) place.instance.store(0);
    }
    members.places.back().instance.store(instance);
    members.used.store(static_cast<std::uint32_t>(members.places.size()));
  });
}

void Line::forge_pulses(std::uint32_t word) {
  forge_members(folder_ / "store.db-wallock", [word](auto& members) {
    for (auto& place : members.places)
      place.life.store(word);
  });
}

}  // namespace

TEST_CASE("processes that wait are served in the order in which they came") {
  Line line;
  auto holder = line.hold("r");
  std::vector<ChildProcess> waiters;
  for (int i = 0; i < 5; ++i)
    waiters.push_back(line.wait_for("r"));
  Line::let_go(holder);
  for (ChildProcess& waiter : waiters) {
    REQUIRE(Line::is_granted(waiter));
    Line::let_go(waiter);
  }
  CHECK(line.waiting() == 0);
}

TEST_CASE("threads and processes wait in one line") {
  Line line;
  auto holder = line.hold("r");
  auto first = line.wait_for("r");
  auto second =
      std::async(std::launch::async, [&] { return line.store().acquire("r", {.wait = 60s}); });
  while (line.waiting() < 2)
    std::this_thread::sleep_for(1ms);
  Line::let_go(holder);
  REQUIRE(Line::is_granted(first));
  CHECK(second.wait_for(50ms) == std::future_status::timeout);
  Line::let_go(first);
  CHECK(second.get());
}

TEST_CASE("who does not wait does not overtake those who do") {
  Line line;
  // Free, and promised to the one in line; for a moment only, because that one does not move. On a
  // busy machine the moment may be over before it is asked for: not each time.
  bool refused = false;
  for (int attempt = 0; attempt < 20 && !refused; ++attempt) {
    auto holder = line.hold("r");
    auto stopped = line.wait_for("r");
    REQUIRE(stopped.pause());
    Line::let_go(holder);
    auto granted = line.store().try_acquire("r");
    refused = !granted;
    if (refused) {
      CHECK(granted.error().code() == Errc::lease_held);
      CHECK(granted.error().facts().holder.empty());
      granted = line.store().acquire("r", {.wait = 60s});
    }
    REQUIRE(granted);
    stopped.resume();
    CHECK(line.store().release(*granted));
    CHECK(Line::is_granted(stopped));
    Line::let_go(stopped);
  }
  CHECK(refused);
}

TEST_CASE("waiters that are killed leave nothing behind and cost the next one nothing (case L20)") {
  Line line;
  const auto seed = Catch::rngSeed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  auto holder = line.hold("r");
  std::vector<ChildProcess> waiters;
  for (int i = 0; i < 32; ++i)
    waiters.push_back(line.wait_for("r"));
  std::vector<std::size_t> alive;
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    if (random() % 3 != 0 && i + 1 != waiters.size()) {
      waiters[i].kill();
    } else {
      alive.push_back(i);
    }
  }
  Line::let_go(holder);
  for (const std::size_t i : alive) {
    REQUIRE(Line::is_granted(waiters[i]));
    Line::let_go(waiters[i]);
  }
  CHECK(line.store().try_acquire("r"));
  CHECK(line.waiting() == 0);
}

TEST_CASE("a waiter whose time is over leaves the line to the next one") {
  Line line;
  auto holder = line.hold("r");
  auto impatient = line.wait_for("r", "100");
  auto patient = line.wait_for("r");
  CHECK(impatient.read_line() == "lease_held");
  Line::let_go(holder);
  CHECK(Line::is_granted(patient));
}

TEST_CASE("a waiter that is stopped by its caller ends cancelled and leaves the line") {
  Line line;
  auto holder = line.hold("r");
  std::stop_source stop;
  auto waiter = std::async(std::launch::async, [&] {
    return line.store().acquire("r", {.wait = wallock::Duration::max()}, stop.get_token());
  });
  while (line.waiting() == 0)
    std::this_thread::sleep_for(1ms);
  stop.request_stop();
  CHECK(waiter.get().error().code() == Errc::cancelled);
  CHECK(line.waiting() == 0);
}

TEST_CASE("waits that are cancelled at any moment leave nothing behind (case L19)") {
  Line line;
  const auto seed = Catch::rngSeed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto size = must(line.store().root()).size;
  std::size_t granted = 0;
  for (int i = 0; i < 200; ++i) {
    auto held = line.store().try_acquire("r");
    REQUIRE(held);
    std::stop_source stop;
    auto waiter = std::async(std::launch::async, [&] {
      return line.store().acquire("r", {.ttl = 1h, .wait = 1h}, stop.get_token());
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
    if (random() % 2 == 0) REQUIRE(line.store().release(*held));
    stop.request_stop();
    const auto answer = waiter.get();
    if (answer) {
      ++granted;
      REQUIRE(line.store().release(*answer));
    } else {
      REQUIRE(answer.error().code() == Errc::cancelled);
    }
    REQUIRE(line.store().release(*held));
  }
  CHECK(line.waiting() == 0);
  CHECK(must(line.store().leases()).empty());
  // A grant and a release for each that was held, and nothing for what was cancelled.
  CHECK(must(line.store().root()).size == size + 2 * (200 + granted));
}

TEST_CASE("INV-01 a liveness that lies lets nobody commit with a stale token") {
  const TempFolder folder;
  auto holder = must(Coordinator::open(folder / "store.db"));
  auto other = must(Coordinator::open(folder / "store.db"));
  const auto lease = must(holder.acquire("r", {.ttl = 1h}));
  REQUIRE(other.try_acquire("r").error().code() == Errc::lease_held);
  bury(folder / "store.db-wallock", static_cast<std::uint64_t>(lease.instance()));
  const auto taken = must(other.try_acquire("r"));  // from a holder that is as alive as can be
  CHECK(taken.token() > lease.token());
  const auto stale = holder.commit(lease, ActionFields{.id = "stale"});
  REQUIRE_FALSE(stale);
  CHECK(stale.error().code() == Errc::stale_token);
  CHECK(holder.renew(lease, 1h).error().code() == Errc::lease_lost);
  CHECK(other.commit(taken, ActionFields{.id = "fresh"}));
  CHECK(count(all_records(other), RecordKind::action_recorded) == 1);
}

TEST_CASE("what a killed process held is free at once, its ttl notwithstanding") {
  Line line;
  for (int i = 0; i < 10; ++i) {
    auto holder = line.hold("r", "3600000");
    auto waiter = line.wait_for("r");
    holder.kill();
    REQUIRE(Line::is_granted(waiter));
    Line::let_go(waiter);
  }
  // Also for one who comes later and does not wait, and when it ended without closing.
  auto holder = line.hold("r", "3600000");
  holder.send("leave\n");
  REQUIRE(holder.read_line() == "left");
  REQUIRE(holder.wait() == 0);
  CHECK(line.store().try_acquire("r"));
}

TEST_CASE("a pulse that lies costs nobody a lease and lets nobody wait for ever") {
  constexpr std::uint32_t at_its_end = 0xc0000000;
  constexpr std::uint32_t beats_for_ever = 0x80000001;
  Line line;
  auto holder = line.hold("r", "3600000");
  line.forge_pulses(at_its_end);
  CHECK(line.store().acquire("r", {.wait = 100ms}).error().code() == Errc::lease_held);
  line.forge_pulses(beats_for_ever);
  auto waiter = line.wait_for("r");
  holder.kill();
  CHECK(Line::is_granted(waiter));
}

TEST_CASE("a holder that is stopped keeps its lease until its ttl") {
  Line line;
  auto holder = line.hold("r", "3600000");
  REQUIRE(holder.pause());
  CHECK(line.store().acquire("r", {.wait = 300ms}).error().code() == Errc::lease_held);
  holder.resume();
  Line::let_go(holder);
}

TEST_CASE("a child that a holder forked does not keep the holder's lease alive (case L32)") {
  Line line;
  auto holder = line.hold("r", "3600000", {"fork"});
  const auto child = holder.read_line();
  REQUIRE(child);
  const pid_t pid = static_cast<pid_t>(std::stol(child->substr(std::string("child ").size())));
  holder.kill();
  const auto taken = line.store().acquire("r", {.wait = 60s});
  kill(pid, SIGKILL);
  CHECK(taken);
}

TEST_CASE("callers who name the same resources in opposite order never wait for each other") {
  Line line;
  const auto swap = [&](const char* first, const char* second) {
    return std::async(std::launch::async, [&line, first, second] {
      for (int i = 0; i < 50; ++i) {
        const auto both = line.store().acquire_all({first, second}, {.wait = 60s});
        if (!both) return to_string(both.error());
        for (const auto& lease : *both)
          if (!line.store().release(lease)) return std::string("not released");
      }
      return std::string("ok");
    });
  };
  auto one = swap("a", "b");
  auto other = swap("b", "a");
  CHECK(one.get() == "ok");
  CHECK(other.get() == "ok");
}

TEST_CASE("a claim that waits is woken by a commit of another process") {
  const TempFolder folder;
  auto consumer = must(Coordinator::open(folder / "store.db"));
  auto producer = must(Coordinator::open(folder / "store.db"));
  auto claimed = std::async(std::launch::async,
                            [&] { return consumer.claim({.destination = "bank", .wait = 60s}); });
  std::this_thread::sleep_for(20ms);
  CHECK(producer.execute(
      "r", ActionFields{.id = "a", .destination = wallock::Given<wallock::Destination>("bank")}));
  const auto deliveries = claimed.get();
  REQUIRE(deliveries);
  CHECK(deliveries->size() == 1);
}
