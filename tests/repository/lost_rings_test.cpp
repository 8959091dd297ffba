// A claim that waits goes on without the rings that would wake it.
#include <filesystem>
#include <future>

#include "repository_support.hpp"

namespace wallock::test {

// Case O31. Whoever commits without a sidecar rings nobody's bell: the waiting one looks by itself.
TEST_CASE("a claim that waits gets what nobody rang for") {
  TempStore at;
  Options options = at.options();
  options.clock = system_clock();  // the bell is for those on the machine's own clock
  auto waiter = at.open(options);
  std::filesystem::create_hard_link(at.path() + "-wallock", at.folder.file("second-name"));
  auto silent = at.open(options);
  REQUIRE(waiter.health().value().has_sidecar);
  REQUIRE_FALSE(silent.health().value().has_sidecar);  // its file may be somebody else's
  for (int i = 0; i < 3; ++i) {
    std::promise<void> asked;
    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&] {
      asked.set_value();
      return waiter.claim({.destination = "bank", .wait = Duration::max()}, stop.get_token());
    });
    asked.get_future().wait();
    REQUIRE(answer(silent.execute("r", sent("a" + std::to_string(i)))) == "ok");
    // A wait without an end, and nobody who rings.
    if (waiting.wait_for(30s) != std::future_status::ready) stop.request_stop();
    const auto claimed = waiting.get();
    REQUIRE(answer(claimed) == "ok");
    REQUIRE(claimed->size() == 1);
    REQUIRE(effect(waiter.settle(claimed->front(), DeliveryOutcome::delivered())) == "sealed");
  }
}

}  // namespace wallock::test
