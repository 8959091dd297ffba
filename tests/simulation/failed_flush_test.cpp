// A flush that fails on a system that then takes for written what it did not write: no later flush
// of anybody's may be trusted before the log was written once more.
#include <chrono>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "ground.hpp"

namespace wallock::test {
namespace {

using std::chrono::seconds;

// A store of several processes that flush for themselves, on such a machine.
class Forgetful : public Ground {
 public:
  Forgetful(std::uint64_t seed, bool has_sidecar)
      : Ground(seed, has_sidecar ? "/store.db" : "/alone.db") {
    // A later version's, which this one leaves alone.
    if (!has_sidecar) std::ofstream(path + "-wallock") << "of a later version";
    machine.forget_failed_flushes();
  }
  [[nodiscard]] Result<sqlite::OpenedRepository> open(int process) {
    return Ground::open(process, false);
  }
  // Its next flush fails.
  void fail_flush() { machine.arm({.kind = Trouble::Kind::lost_flush, .only = Ask::flush}); }

  // A grant, which is not flushed by itself.
  [[nodiscard]] Result<Lease> grant(sqlite::OpenedRepository& opened, int process,
                                    const std::string& resource) {
    machine.set_process(process);
    return opened.repository->acquire({.resource = ResourceName::parse(resource).value(),
                                       .holder = HolderId::parse("h").value(),
                                       .instance = instance_of(process),
                                       .ttl = seconds(9)},
                                      "", clock->now() + seconds(1));
  }
  // A commit, which is.
  [[nodiscard]] Result<Committed> execute(sqlite::OpenedRepository& opened, int process,
                                          const std::string& id) {
    return Ground::execute(opened, process, id, id);
  }
};

// What another process commits after a flush that failed is there after a power cut.
template <class Fail>
void check_after(std::uint64_t seed, bool has_sidecar, Fail&& fail_a_flush) {
  CAPTURE(seed, has_sidecar);
  Forgetful ground(seed, has_sidecar);
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
    check_after(seed, has_sidecar, [](Forgetful& ground, sqlite::OpenedRepository& one) {
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
    check_after(seed, true, [](Forgetful& ground, sqlite::OpenedRepository&) {
      ground.machine.set_process(4);
      ground.fail_flush();
      const auto opened = ground.open(4);
      REQUIRE_FALSE(opened);
      CHECK(opened.error().code() == Errc::io_error);
    });
  }
}

}  // namespace wallock::test
