// A flush that fails on a system that then takes for written what it did not write: no later flush
// of anybody's may be trusted before the log was written once more.
#include <chrono>
#include <fstream>
#include <memory>
#include <string>

#include "catch.hpp"
#include "machine.hpp"
#include "machine_vfs.hpp"
#include "names_only.hpp"
#include "sqlite/open_repository.hpp"
#include "wallock/manual_clock.hpp"

namespace wallock::test {
namespace {

using std::chrono::seconds;

// A store of several processes that flush for themselves, on such a machine.
class Ground {
 public:
  Ground(std::uint64_t seed, bool has_sidecar)
      : path_(folder().path() + (has_sidecar ? "/store.db" : "/alone.db")),
        machine({}, trace_, seed, false) {
    use_machine_vfs();
    // A later version's, which this one leaves alone.
    if (!has_sidecar) std::ofstream(path_ + "-wallock") << "of a later version";
    machine.forget_failed_flushes();
  }
  Result<sqlite::OpenedRepository> open(int process) {
    machine.set_process(process);
    Options options;
    options.clock = clock;
    options.share_flushes = false;
    return sqlite::open_repository(path_, options, instance_of(process), clock);
  }
  // Its next flush fails.
  void fail_flush() { machine.arm({.kind = Trouble::Kind::lost_flush, .only = Ask::flush}); }

  // A grant, which is not flushed by itself.
  Result<Lease> grant(sqlite::OpenedRepository& opened, int process, const std::string& resource) {
    machine.set_process(process);
    return opened.repository->acquire({.resource = ResourceName::parse(resource).value(),
                                       .holder = HolderId::parse("h").value(),
                                       .instance = instance_of(process),
                                       .ttl = seconds(9)},
                                      "", clock->now() + seconds(1));
  }
  // A commit, which is.
  Result<Committed> execute(sqlite::OpenedRepository& opened, int process, const std::string& id) {
    machine.set_process(process);
    const auto action = ActionRequest::create({.id = id}).value();
    return opened.repository->execute({.resource = ResourceName::parse(id).value(),
                                       .holder = HolderId::parse("h").value(),
                                       .instance = instance_of(process)},
                                      std::span(&action, 1), {}, clock->now() + seconds(1));
  }
  void restart() {
    machine.restart();
    clock->reboot("another boot");
  }

 private:
  static InstanceId instance_of(int process) {
    return InstanceId{static_cast<std::uint64_t>(process)};
  }
  static const NamesOnly& folder() {
    static const NamesOnly made;
    return made;
  }

  const std::string path_;
  Trace trace_;

 public:
  Machine machine;
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
};

// What another process commits after a flush that failed is there after a power cut.
template <class Fail>
void check_after(std::uint64_t seed, bool has_sidecar, Fail&& fail_a_flush) {
  CAPTURE(seed, has_sidecar);
  Ground ground(seed, has_sidecar);
  {
    auto one = ground.open(1).value();
    auto other = ground.open(2).value();
    REQUIRE(ground.execute(other, 2, "before"));
    REQUIRE(ground.grant(one, 1, "r"));
    fail_a_flush(ground, one);
    REQUIRE(ground.machine.disarm());
    REQUIRE(ground.execute(other, 2, "after"));
    ground.machine.cut_power();
  }
  ground.restart();
  auto next = ground.open(3).value();
  const auto again = ground.execute(next, 3, "after");
  REQUIRE(again);
  CHECK(again->replayed());
}

}  // namespace

TEST_CASE("after a commit's flush failed, no process's flush leaves out what had ridden on it") {
  const bool has_sidecar = GENERATE(true, false);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    check_after(seed, has_sidecar, [](Ground& ground, sqlite::OpenedRepository& one) {
      ground.machine.set_process(1);
      ground.fail_flush();
      const auto done = ground.execute(one, 1, "failed");
      REQUIRE_FALSE(done);
      CHECK(done.error().code() == Errc::outcome_unknown);
    });
  }
}

TEST_CASE("after an opening's flush failed, no process's flush leaves out what had ridden on it") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    check_after(seed, true, [](Ground& ground, sqlite::OpenedRepository&) {
      ground.machine.set_process(4);
      ground.fail_flush();
      const auto opened = ground.open(4);
      REQUIRE_FALSE(opened);
      CHECK(opened.error().code() == Errc::io_error);
    });
  }
}

}  // namespace wallock::test
