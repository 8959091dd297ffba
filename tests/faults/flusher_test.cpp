// The flusher's lanes: each has a file handle of its own, and does not wait for another's flush.
#include "sqlite/flusher.hpp"

#include <future>
#include <string_view>

#include "catch.hpp"
#include "fault_vfs.hpp"
#include "steps.hpp"

using namespace std::chrono_literals;

namespace wallock::test {

TEST_CASE("a flush in one lane does not wait for the one that is under way in another") {
  using Flushed = sqlite::Flusher::Flushed;
  FaultVfs& vfs = FaultVfs::instance();
  const ScratchFolder folder;
  Stage stage(folder.path(), Durability::commits);
  for (const Step& step : {opened(), executed("r", {"a"})})
    REQUIRE(step.run(stage));
  const auto flusher = sqlite::Flusher::open(stage.path(), *stage.clock, Instant::max()).value();
  std::future<Flushed> beside;
  bool came_first = false;
  vfs.watch([&](FileCall call, std::string_view path, int) {
    if (call != FileCall::flush || !path.ends_with("-wal") || beside.valid()) return;
    beside = std::async(std::launch::async, [&] { return flusher->flush(1, nullptr); });
    // For ever, if it waits for this one.
    came_first = beside.wait_for(10s) == std::future_status::ready;
  });
  CHECK(flusher->flush(0, nullptr) == Flushed::flushed);
  vfs.stop_watching();
  REQUIRE(beside.valid());
  CHECK(came_first);
  CHECK(beside.get() == Flushed::flushed);
}

}  // namespace wallock::test
