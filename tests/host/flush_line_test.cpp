// One process flushes the log for all: whom a flush covers, and what a failed one means.
#include "host/flush_line.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "host/sidecar_layout.hpp"

using namespace std::chrono_literals;
using wallock::host::FlushLayout;
using wallock::host::FlushLine;
using Flushed = wallock::host::FlushLine::Flushed;
using Outcome = wallock::host::FlushLine::Outcome;

namespace {

struct Log {
  std::unique_ptr<FlushLayout> layout = std::make_unique<FlushLayout>();
  FlushLine line{*layout};
  int flushes = 0;
  bool works = true;

  FlushLine::Ticket write() {
    const auto ticket = line.announce();
    line.written(ticket);
    return ticket;
  }
  Outcome wait(FlushLine::Ticket ticket) {
    return line.wait(ticket, [this](std::size_t) noexcept {
      ++flushes;
      if (works) return Flushed::flushed;
      line.broke();
      return Flushed::failed;
    });
  }
};

}  // namespace

TEST_CASE("a flush covers everything that was written before it") {
  Log log;
  CHECK(log.wait(log.line.announced()) == Outcome::flushed);
  CHECK(log.flushes == 0);
  const auto first = log.write();
  const auto second = log.write();
  CHECK_FALSE(log.line.is_flushed(first));
  CHECK(log.wait(second) == Outcome::flushed);
  CHECK(log.flushes == 1);
  CHECK(log.line.is_flushed(first));
  CHECK(log.wait(first) == Outcome::flushed);
  CHECK(log.flushes == 1);
}

TEST_CASE("a flush does not cover what is written while it is under way") {
  Log log;
  const auto first = log.write();
  FlushLine::Ticket second = 0;
  CHECK(log.line.wait(first, [&](std::size_t) noexcept {
    second = log.write();
    return Flushed::flushed;
  }) == Outcome::flushed);
  CHECK_FALSE(log.line.is_flushed(second));
  CHECK(log.wait(second) == Outcome::flushed);
  CHECK(log.flushes == 1);
}

TEST_CASE("what was announced is waited for until it is written or given up") {
  Log log;
  const auto lost = log.line.announce();
  CHECK(log.wait(lost) == Outcome::not_written);
  CHECK(log.flushes == 0);
  log.line.settle();
  CHECK(log.wait(lost) == Outcome::flushed);
  CHECK(log.flushes == 1);
}

TEST_CASE("a flush that failed fails everybody until the log was repaired") {
  Log log;
  log.works = false;
  const auto first = log.write();
  CHECK(log.wait(first) == Outcome::failed);
  log.works = true;
  const auto second = log.write();
  CHECK(log.wait(second) == Outcome::failed);  // a later flush says nothing of the failed pages
  CHECK(log.line.is_broken());
  CHECK_FALSE(log.line.is_flushed(first));
  log.line.repaired();
  CHECK_FALSE(log.line.is_broken());
  CHECK(log.line.is_flushed(second));
  CHECK(log.wait(log.write()) == Outcome::flushed);
}

TEST_CASE("a flush that succeeds beside one that failed covers nothing") {
  Log log;
  const auto ticket = log.write();
  CHECK(log.line.wait(ticket, [&](std::size_t) noexcept {
    log.layout->broken.store(1);  // another process's failed meanwhile
    return Flushed::flushed;
  }) == Outcome::failed);
  CHECK_FALSE(log.line.is_flushed(ticket));
}

TEST_CASE("beside a flush that takes its time others are begun, each in a lane of its own") {
  Log log;
  std::vector<std::size_t> used;
  // Each call writes more and waits for it while the flushes before it are under way. When all
  // lanes are taken, the first of them is taken from one that is too long at it.
  const auto flush_beside = [&](auto&& self, std::size_t lane) -> Flushed {
    used.push_back(lane);
    if (used.size() <= FlushLine::lanes) {
      const auto ticket = log.write();
      const auto next = [&](std::size_t beside) noexcept { return self(self, beside); };
      CHECK(log.line.wait(ticket, next) == Outcome::flushed);
    }
    return Flushed::flushed;
  };
  const auto ticket = log.write();
  const auto first = [&](std::size_t lane) noexcept { return flush_beside(flush_beside, lane); };
  CHECK(log.line.wait(ticket, first) == Outcome::flushed);
  REQUIRE(used.size() == FlushLine::lanes + 1);
  for (std::size_t lane = 0; lane < FlushLine::lanes; ++lane)
    CHECK(used[lane] == lane);
  CHECK(used.back() == 0);
}

TEST_CASE("flushes that take their time begin at even distances") {
  using Steady = std::chrono::steady_clock;
  const auto until_passed = [](Steady::time_point since, wallock::Duration time) {
    while (Steady::now() - since < time)
      std::this_thread::sleep_for(100us);
  };
  Log log;
  CHECK_FALSE(log.line.distance());  // nothing was flushed yet
  const auto before = log.write();
  CHECK(log.line.wait(before, [&](std::size_t) noexcept {
    until_passed(Steady::now(), 8ms);
    return Flushed::flushed;
  }) == Outcome::flushed);
  REQUIRE(log.line.distance() >= wallock::Duration(8ms) / FlushLine::lanes);
  const auto distance = *log.line.distance();
  const auto first = log.write();
  std::optional<Steady::time_point> second_began;
  const auto start = Steady::now();
  CHECK(log.line.wait(first, [&](std::size_t) noexcept {
    const auto second = log.write();
    CHECK(log.line.wait(second, [&](std::size_t) noexcept {
      second_began = Steady::now();
      return Flushed::flushed;
    }) == Outcome::flushed);
    return Flushed::flushed;
  }) == Outcome::flushed);
  REQUIRE(second_began);
  CHECK(*second_began - start >= distance);
}

TEST_CASE("nobody flushes what a flush that is under way covers") {
  using Steady = std::chrono::steady_clock;
  // One who flushes for too long is not waited for: where the machine held this up, it says
  // nothing.
  constexpr auto too_long = 10ms;
  int begun_beside = -1;
  for (int attempt = 0; attempt < 1000 && begun_beside < 0; ++attempt) {
    Log log;
    const auto first = log.write();
    const auto second = log.write();
    std::atomic<int> beside{0};
    const auto start = Steady::now();
    const auto covering = [&](std::size_t) noexcept {
      const std::jthread other([&] {
        static_cast<void>(log.line.wait(second, [&](std::size_t) noexcept {
          ++beside;
          return Flushed::flushed;
        }));
      });
      // Long enough for the other one to look again and again.
      while (Steady::now() - start < too_long / 2 && beside == 0)
        std::this_thread::sleep_for(200us);
      log.layout->flushed.store(second);
      return Flushed::flushed;
    };
    CHECK(log.line.wait(first, covering) == Outcome::flushed);
    if (Steady::now() - start < too_long) begun_beside = beside;
  }
  CHECK(begun_beside == 0);
}

TEST_CASE("a flush that could not be begun is left to others") {
  Log log;
  const auto ticket = log.write();
  std::vector<std::size_t> asked;
  CHECK(log.line.wait(ticket, [&](std::size_t lane) noexcept {
    asked.push_back(lane);
    return asked.size() < 3 ? Flushed::not_begun : Flushed::flushed;
  }) == Outcome::flushed);
  CHECK(asked == std::vector<std::size_t>{0, 0, 0});
  CHECK_FALSE(log.line.is_broken());
}

TEST_CASE("whoever flushes for too long is not waited for") {
  Log log;
  const auto ticket = log.write();
  // Dead or stopped in the middle of it, long ago; or in a boot before, later than now.
  for (const std::int64_t since : {std::int64_t{1}, std::int64_t{1} << 62}) {
    const auto next = log.write();
    for (auto& lane : log.layout->lanes)
      lane.since.store(since);
    CHECK(log.wait(next) == Outcome::flushed);
  }
  CHECK(log.line.is_flushed(ticket));
}

TEST_CASE("of many who wait one flushes for all, and nobody is answered before his flush") {
  const auto seed = Catch::rngSeed();
  CAPTURE(seed);
  Log log;
  std::atomic<FlushLine::Ticket> durable{0};
  std::atomic<int> flushes{0};
  std::atomic<int> early{0};
  std::mutex lock;  // the write lock
  constexpr int each = 200;
  {
    std::vector<std::jthread> writers;
    for (unsigned n = 0; n < 8; ++n) {
      writers.emplace_back([&, n] {
        std::mt19937 random(seed + n);
        for (int i = 0; i < each; ++i) {
          FlushLine::Ticket ticket = 0;
          {
            const std::lock_guard held(lock);
            log.line.settle();
            ticket = log.line.announce();
            log.line.written(ticket);
          }
          const auto outcome = log.line.wait(ticket, [&](std::size_t) noexcept {
            ++flushes;
            const auto covered = log.layout->written.load();
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
            FlushLine::Ticket now = durable.load();
            while (now < covered && !durable.compare_exchange_weak(now, covered)) {
            }
            return Flushed::flushed;
          });
          if (outcome != Outcome::flushed || durable.load() < ticket) ++early;
        }
      });
    }
  }
  CHECK(early == 0);
  CHECK(flushes < 8 * each);
  CHECK(log.line.is_flushed(8 * each));
}
