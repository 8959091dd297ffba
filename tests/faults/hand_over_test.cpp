// Who waits for a lease is called as soon as it is free for all to see, not after the flush.
#include <memory>
#include <string_view>

#include "catch.hpp"
#include "fault_vfs.hpp"
#include "host/sidecar.hpp"
#include "steps.hpp"

namespace wallock::test {
namespace {

// A store whose answers are all flushed, somebody with a lease on "r", and one who waits for it.
class Handover {
 public:
  Handover() : stage_(folder_.path(), Durability::every_answer) {
    run(opened());
    run(acquired("r"));
    neighbour_ = host::Sidecar::open(stage_.path(), 1, *stage_.clock, Instant::max()).value();
  }

  // Whether the waiter was called before the log was flushed for the first time in this step.
  [[nodiscard]] bool is_called_before_flush(const Step& step) {
    auto place = neighbour_->line().join("r", Instant::max()).value();
    const std::uint32_t calls = place.calls();
    bool flushed = false;
    bool called = false;
    vfs_.watch([&](FileCall call, std::string_view path, int) {
      if (flushed || call != FileCall::flush || !path.ends_with("-wal")) return;
      flushed = true;
      called = place.calls() != calls;
    });
    run(step);
    vfs_.stop_watching();
    CHECK(flushed);
    return called;
  }
  void run(const Step& step) {
    const Status done = step.run(stage_);
    INFO(step.name << ": " << (done ? "ok" : to_string(done.error())));
    REQUIRE(done.has_value());
  }

 private:
  FaultVfs& vfs_ = FaultVfs::instance();
  const ScratchFolder folder_;
  Stage stage_;
  std::unique_ptr<host::Sidecar> neighbour_;
};

}  // namespace

TEST_CASE("who waits for a lease is called before the flush of what frees it") {
  const CommitSpec releases{.after = AfterCommit::release};
  CHECK(Handover().is_called_before_flush(released("r")));
  CHECK(Handover().is_called_before_flush(revoked("r")));
  CHECK(Handover().is_called_before_flush(committed("r", {"a"}, releases)));
  CHECK(Handover().is_called_before_flush(forced("r")));
}

TEST_CASE("who waits for a lease is not called by what does not free it") {
  Handover handover;
  CHECK_FALSE(handover.is_called_before_flush(renewed("r")));
  CHECK_FALSE(handover.is_called_before_flush(reported("r", DownstreamOutcome::timeout)));
  CHECK_FALSE(handover.is_called_before_flush(committed("r", {"a"})));
}

}  // namespace wallock::test
