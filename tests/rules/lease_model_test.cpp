#include <random>

#include "lease_model.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

// Draws operations; the order of the draws is fixed, so that a seed replays its run.
class Driver {
 public:
  explicit Driver(std::uint64_t seed) : random_(seed) {}

  LeaseModel model = {};

  void step() {
    const int which = static_cast<int>(below(3));
    switch (below(24)) {
      case 0:
        if (below(4) == 0) model.force_open(which);
        break;
      case 1:
      case 2:
        model.clear_forced(which);
        break;
      case 3:
        model.revoke(which, any_token(which));
        break;
      case 4:
      case 5:
      case 6:
        model.begin_recovery(which);
        break;
      case 7:
      case 8:
      case 9:
        complete(which);
        break;
      case 10:
        pass_time();
        break;
      default:
        work(which);
    }
  }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  // Mostly the latest token, at times an earlier one, now and then one that was never granted.
  FencingToken any_token(int which) {
    if (below(20) == 0) return model.granted(which, 1'000'000);
    return model.granted(which, below(3) == 0 ? below(6) : 0);
  }
  InstanceId any_instance() { return below(8) == 0 ? second_instance : first_instance; }
  HolderId any_holder() { return holder(below(2) == 0 ? "ann" : "ben"); }

  void complete(int which) {
    const FencingToken token = any_token(which);
    model.complete_recovery(which, token, below(3) != 0);
  }

  void pass_time() {
    if (below(200) == 0) {
      model.reboot();
    } else {
      model.now.now = saturating_add(model.now.now, std::chrono::seconds(below(40)));
    }
  }

  void report(int which) {
    const FencingToken token = any_token(which);
    model.report(
        which, token,
        below(2) == 0 ? static_cast<DownstreamOutcome>(below(4)) : DownstreamOutcome::timeout);
  }

  void work(int which) {
    switch (below(6)) {
      case 0:
      case 1: {
        const HolderId who = any_holder();
        model.acquire(which, who, any_instance(), std::chrono::seconds(1 + below(60)));
        break;
      }
      case 2:
      case 3: {
        const FencingToken token = any_token(which);
        const auto after = static_cast<AfterCommit>(below(3));
        model.commit(which, token, after, 1 + below(4));
        break;
      }
      case 4:
        report(which);
        break;
      default: {
        const FencingToken token = any_token(which);
        const InstanceId instance = any_instance();
        if (below(2) == 0) {
          model.renew(which, token, instance);
        } else {
          model.release(which, token, instance);
        }
      }
    }
  }

  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("INV-01 the rules agree with a perfect memory over 600'000 random operations") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Driver driver(seed);
    for (int step = 0; step < 200'000; ++step) {
      driver.step();
      if (!driver.model.violation.empty()) {
        CAPTURE(seed, step);
        FAIL(driver.model.violation);
      }
    }
    // A run in which nothing happens shows nothing: every answer was given often.
    CAPTURE(seed);
    for (const char* answer :
         {"acquire", "acquire refused", "commit", "commit refused", "renew", "renew refused",
          "release", "release refused", "revoke", "revoke refused", "begin_recovery",
          "complete_recovery", "complete_recovery refused", "report counted", "report tripped",
          "report cleared", "report late", "report refused"}) {
      CAPTURE(answer);
      CHECK(driver.model.counts[answer] >= 100);
    }
    CHECK(driver.model.now.epoch > 10);
  }
}
