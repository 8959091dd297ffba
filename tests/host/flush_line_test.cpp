// One process flushes the log for all: whom a flush covers, and what a failed one means.
#include "host/flush_line.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "host/sidecar_layout.hpp"

using namespace std::chrono_literals;
using wallock::host::FlushLayout;
using wallock::host::FlushLine;
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
    return line.wait(ticket, [this]() noexcept {
      ++flushes;
      return works;
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
  CHECK(log.line.wait(first, [&]() noexcept {
    second = log.write();
    return true;
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
  CHECK(log.line.wait(ticket, [&]() noexcept {
    log.layout->broken.store(1);  // another process's failed meanwhile
    return true;
  }) == Outcome::failed);
  CHECK_FALSE(log.line.is_flushed(ticket));
}

TEST_CASE("whoever flushes for too long is not waited for") {
  Log log;
  const auto ticket = log.write();
  // Dead or stopped in the middle of it, long ago; or in a boot before, later than now.
  for (const std::int64_t since : {std::int64_t{1}, std::int64_t{1} << 62}) {
    const auto next = log.write();
    log.layout->flushing_since.store(since);
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
          const auto outcome = log.line.wait(ticket, [&]() noexcept {
            ++flushes;
            const auto covered = log.layout->written.load();
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
            FlushLine::Ticket now = durable.load();
            while (now < covered && !durable.compare_exchange_weak(now, covered)) {
            }
            return true;
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
