// Clocks that do what they must not: the wall clock jumps, the boot clock falls back, the machine
// starts again. Leases, claims and open breakers end when the boot clock says so, not a nanosecond
// earlier or later, against a memory of its own.
#include <random>

#include "fork.hpp"
#include "repository_support.hpp"

namespace wallock::test {
namespace {

// What would go wrong if the library took its time from the wall clock.
class WallClock final : public Clock {
 public:
  explicit WallClock(std::shared_ptr<const ManualClock> machine) : machine_(std::move(machine)) {}

  [[nodiscard]] Instant now() const noexcept override {
    return Instant(machine_->wall_now() - WallTime(std::chrono::days(19'000)));
  }
  [[nodiscard]] WallTime wall_now() const noexcept override { return machine_->wall_now(); }
  [[nodiscard]] std::optional<std::string> boot_id() const override { return machine_->boot_id(); }
  void sleep_for(Duration duration) const noexcept override { machine_->sleep_for(duration); }

 private:
  const std::shared_ptr<const ManualClock> machine_;
};

constexpr Duration first_interval = 10s;
constexpr Duration max_interval = 60s;

// A store on a machine with such clocks, and what must be true of it.
class Machine {
 public:
  Machine(unsigned seed, bool on_wall_time) : random_(seed), options_(at_.options()) {
    if (on_wall_time) options_.clock = std::make_shared<WallClock>(at_.clock);
    options_ = quick_to_trip(options_);
    options_.delivery.max_attempts = 1000;
    store_.emplace(at_.open(options_));
    const auto lease = store_->acquire("breaker", by("ann")).value();
    REQUIRE(effect(store_->report(lease, DownstreamOutcome::timeout)) == "tripped");
    due_ = now() + first_interval;
    REQUIRE(answer(store_->execute("sent", sent("a"))) == "ok");
    claim_until_ = now();  // due from here on
  }

  void step() {
    switch (random(8)) {
      case 0:
        at_.clock->jump_wall(some_jump());
        break;
      case 1:
        at_.clock->advance(Duration(1s) * random(20));
        break;
      case 2:
        at_.clock->advance(-Duration(1s) * random(10));  // it must not, but what if
        break;
      case 3:
        go_to_an_end();
        break;
      case 4:
        if (random(4) == 0) reboot();
        break;
      default:
        break;
    }
    look_at_lease();
    look_at_breaker();
    look_at_claim();
  }

  [[nodiscard]] const std::vector<std::string>& wrong() const noexcept { return wrong_; }

 private:
  std::int64_t random(std::int64_t below) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
  }
  [[nodiscard]] Instant now() const { return at_.clock->now(); }
  std::string some_name() { return "h" + std::to_string(++names_); }

  Duration some_jump() {
    constexpr std::array<Duration, 4> jumps{1s, 1h, 24h, 365 * 24h};
    const Duration jump = jumps[static_cast<std::size_t>(random(jumps.size()))];
    return random(2) == 0 ? jump : -jump;
  }

  // To the last nanosecond before something ends, or to the first one after.
  void go_to_an_end() {
    const std::array<Instant, 3> ends{lease_until_, claim_until_, due_};
    const Instant end = ends[static_cast<std::size_t>(random(ends.size()))];
    if (end > now()) at_.clock->advance(end - now() - (random(2) == 0 ? 1ns : 0ns));
  }

  // Leases and claims are over, and the breaker's interval starts again with the boot.
  void reboot() {
    store_.reset();
    at_.clock->reboot("boot-of-" + some_name(), Instant(Duration(1s) * random(15)));
    store_.emplace(at_.open(options_));
    lease_until_ = claim_until_ = now();
    due_ = Instant(interval());
  }

  [[nodiscard]] Duration interval() const {
    Duration found = first_interval;
    for (int i = 0; i < failed_probes_; ++i)
      found = std::min(found * 2, max_interval);
    return found;
  }

  void expect(const std::string& what, const std::string& got, bool is_over,
              const std::string& refused) {
    const std::string wanted = is_over ? "ok" : refused;
    if (got != wanted) wrong_.push_back(what + " answers " + got + ", not " + wanted);
  }

  void look_at_lease() {
    const bool is_over = now() >= lease_until_;
    const Duration ttl = Duration(1s) * (1 + random(30));
    const std::string name = some_name();
    const auto lease = store_->acquire("lease", by(name, ttl));
    expect("acquire", answer(lease), is_over, "lease_held");
    if (!lease) return;
    lease_until_ = now() + ttl;
    // Its holder is told the same.
    if (lease->expires_at() != lease_until_) wrong_.emplace_back("another end");
  }

  void look_at_breaker() {
    if (answer(store_->acquire("breaker", by("bob"))) != "breaker_open") {
      wrong_.emplace_back("an open breaker grants");
    }
    const auto probe = store_->begin_recovery("breaker", {.ttl = 5s});
    expect("begin_recovery", answer(probe), now() >= due_, "recovery_not_due");
    if (!probe) return;
    if (answer(store_->complete_recovery(*probe, {false, "still down"})) != "ok") {
      wrong_.emplace_back("a probe cannot fail");
    }
    ++failed_probes_;
    due_ = now() + interval();
  }

  void look_at_claim() {
    const bool is_over = now() >= claim_until_;
    const Duration ttl = Duration(1s) * (1 + random(30));
    const auto found = store_->claim({.destination = "bank", .ttl = ttl});
    const bool is_had = found && found->size() == 1;
    if (found && is_had != is_over) {
      wrong_.emplace_back(is_had ? "claimed too early" : "claimed too late");
    }
    if (is_had) claim_until_ = now() + ttl;
  }

  TempStore at_;
  std::mt19937_64 random_;
  Options options_;
  std::optional<Coordinator> store_;
  int names_ = 0;
  int failed_probes_ = 0;
  Instant lease_until_{};
  Instant claim_until_{};
  Instant due_{};
  std::vector<std::string> wrong_;
};

// What went wrong in so many steps; empty if nothing did.
std::vector<std::string> play(unsigned seed, bool on_wall_time) {
  Machine machine(seed, on_wall_time);
  for (int i = 0; i < 150 && machine.wrong().empty(); ++i)
    machine.step();
  return machine.wrong();
}

}  // namespace

TEST_CASE("clocks that jump, fall back and start again end nothing early or late (B13, B14, L11)") {
  const unsigned first = draw_seed();
  const auto seeds = static_cast<unsigned>(how_many("WALLOCK_SOAK_CLOCKS", 25));
  for (unsigned i = 0; i < seeds; ++i) {
    const unsigned seed = first + i;
    CAPTURE(seed);
    const auto wrong = play(seed, false);
    INFO((wrong.empty() ? std::string() : wrong.front()));
    REQUIRE(wrong.empty());
  }
}

TEST_CASE("clocks: a library on wall time would be found out") {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    CHECK_FALSE(play(seed, true).empty());
  }
}

}  // namespace wallock::test
