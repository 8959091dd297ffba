// The flusher's lanes: each has a file handle of its own, does not wait for another's flush, and is
// told of a write that failed, once; and none says so again when the log is in order.
#include "sqlite/flusher.hpp"

#include <atomic>
#include <future>
#include <memory>
#include <string_view>

#include "catch.hpp"
#include "fault_vfs.hpp"
#include "host/sidecar_layout.hpp"
#include "steps.hpp"

using namespace std::chrono_literals;

namespace wallock::test {
namespace {

using host::FlushLine;
using sqlite::Flusher;
using Flushed = Flusher::Flushed;

// A store whose log fails, and flushers of it as processes have them.
class Log {
 public:
  Log() {
    for (const Step& step : {opened(), executed("r", {"a"})})
      REQUIRE(step.run(stage_));
  }
  [[nodiscard]] std::unique_ptr<Flusher> flusher() {
    return Flusher::open(stage_.path(), *stage_.clock, Instant::max()).value();
  }
  [[nodiscard]] FlushLine& line() { return line_; }
  // Has a handle in each lane; how many of them say that writes failed.
  [[nodiscard]] std::size_t failures(Flusher& flusher) {
    std::size_t failed = 0;
    for (std::size_t lane = 0; lane < FlushLine::lanes; ++lane)
      failed += flusher.flush(lane, &line_) == Flushed::failed ? 1U : 0U;
    return failed;
  }
  void lose_writes() { vfs_.lose_writes(stage_.path() + "-wal"); }
  // Called before each flush of the log.
  void watch(const std::function<void()>& window) {
    vfs_.watch([window](FileCall call, std::string_view path, int) {
      if (call == FileCall::flush && path.ends_with("-wal")) window();
    });
  }
  void stop_watching() { vfs_.stop_watching(); }

 private:
  FaultVfs& vfs_ = FaultVfs::instance();  // before the store is opened
  const ScratchFolder folder_;
  Stage stage_{folder_.path(), Durability::commits};
  std::unique_ptr<host::FlushLayout> layout_ = std::make_unique<host::FlushLayout>();
  FlushLine line_{*layout_};
};

}  // namespace

TEST_CASE("a flush in one lane does not wait for the one that is under way in another") {
  Log log;
  const auto flusher = log.flusher();
  std::future<Flushed> beside;
  std::atomic<bool> begun = false;  // the other flush is watched too
  bool came_first = false;
  log.watch([&] {
    if (begun.exchange(true)) return;
    beside = std::async(std::launch::async, [&] { return flusher->flush(1, nullptr); });
    // For ever, if it waits for this one.
    came_first = beside.wait_for(10s) == std::future_status::ready;
  });
  CHECK(flusher->flush(0, nullptr) == Flushed::flushed);
  log.stop_watching();
  REQUIRE(beside.valid());
  CHECK(came_first);
  CHECK(beside.get() == Flushed::flushed);
}

TEST_CASE("a flush that failed in one lane is not told again by the others") {
  Log log;
  const auto flusher = log.flusher();
  REQUIRE(log.failures(*flusher) == 0);
  log.lose_writes();
  CHECK(log.failures(*flusher) == 1);
  CHECK(log.line().is_broken());
}

TEST_CASE("who writes the log again is not told of what had failed before") {
  Log log;
  const auto first = log.flusher();
  const auto other = log.flusher();
  REQUIRE(log.failures(*first) == 0);
  REQUIRE(log.failures(*other) == 0);
  log.lose_writes();
  CHECK(first->flush(2, &log.line()) == Flushed::failed);
  CHECK(other->write_again());
  log.line().repaired();
  CHECK(log.failures(*first) == 0);
  CHECK(log.failures(*other) == 0);
  CHECK_FALSE(log.line().is_broken());
}

TEST_CASE("what another lane is told while the log was written again is told the line") {
  Log log;
  const auto flusher = log.flusher();
  REQUIRE(log.failures(*flusher) == 0);
  log.lose_writes();
  int flushes = 0;
  log.watch([&] {
    // By another process, after the first lane said that it is necessary.
    if (++flushes == 2) log.line().repaired();
  });
  CHECK(flusher->flush(3, &log.line()) == Flushed::failed);
  log.stop_watching();
  CHECK(flushes > 2);
  CHECK(log.line().is_broken());
}

TEST_CASE("a log that fails while it is written again is not in order") {
  Log log;
  const auto flusher = log.flusher();
  REQUIRE(log.failures(*flusher) == 0);
  int flushes = 0;
  log.watch([&] {
    // The last one: each handle was asked before.
    if (++flushes == static_cast<int>(FlushLine::lanes) + 1) log.lose_writes();
  });
  CHECK_FALSE(flusher->write_again());
  log.stop_watching();
  CHECK(flusher->write_again());
}

TEST_CASE(
    "without a line no flush is trusted after one that failed, until the log is written again") {
  Log log;
  const auto flusher = log.flusher();
  REQUIRE(flusher->flush(0, nullptr) == Flushed::flushed);
  log.lose_writes();
  CHECK(flusher->flush(0, nullptr) == Flushed::failed);
  CHECK(flusher->flush(0, nullptr) == Flushed::failed);
  CHECK(flusher->write_again());
  CHECK(flusher->flush(0, nullptr) == Flushed::flushed);
}

TEST_CASE("without a line no flush is trusted while the log is written again") {
  Log log;
  const auto flusher = log.flusher();
  REQUIRE(log.failures(*flusher) == 0);
  log.lose_writes();
  int flushes = 0;
  Flushed meanwhile = Flushed::not_begun;
  log.watch([&] {
    // The first lane has been told, and the second one is asked.
    if (++flushes == 2) meanwhile = flusher->flush(0, nullptr);
  });
  CHECK(flusher->write_again());
  log.stop_watching();
  CHECK(meanwhile == Flushed::failed);
}

}  // namespace wallock::test
