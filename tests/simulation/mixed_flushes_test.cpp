// Processes that flush for each other beside one that flushes for itself: what that one answers
// lasts too, although it may rest on what another has committed and not flushed.
#include <string>

#include "catch.hpp"
#include "ground.hpp"
#include "sidecar_memory.hpp"

namespace wallock::test {
namespace {

class Mixture : public Ground {
 public:
  explicit Mixture(std::uint64_t seed) : Ground(seed, "/store.db"), sidecar_(path) {
    sidecar_.forget();
    machine.on_death([this] { sidecar_.keep(); });
  }

  [[nodiscard]] sqlite::OpenedRepository open(int process, bool shares, Durability durability) {
    return Ground::open(process, shares, durability).value();
  }
  [[nodiscard]] Result<Committed> execute(sqlite::OpenedRepository& opened, int process,
                                          const std::string& id) {
    return Ground::execute(opened, process, "r", id);
  }
  // The process commits, and dies before the log is flushed: the rows are there for all to see.
  void commit_and_die(sqlite::OpenedRepository opened, int process, const std::string& id) {
    machine.set_process(process);
    machine.arm({.kind = Trouble::Kind::death, .only = Ask::flush});
    const auto done = execute(opened, process, id);
    INFO((done ? "done" : to_string(done.error())));
    CHECK_FALSE(done);
    REQUIRE(machine.disarm());
    opened = {};
    machine.bury(process);
    sidecar_.put_back();
  }

 private:
  SidecarMemory sidecar_;
};

}  // namespace

TEST_CASE("INV-04 who flushes for himself answers a repeated commit when it lasts") {
  const auto durability = GENERATE(Durability::commits, Durability::every_answer);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed, to_string(durability));
    Mixture ground(seed);
    {
      auto own = ground.open(2, false, durability);
      ground.commit_and_die(ground.open(1, true, durability), 1, "a");
      const auto repeated = ground.execute(own, 2, "a");
      REQUIRE(repeated);
      CHECK(repeated->replayed());
      ground.machine.cut_power();
    }
    ground.restart();
    auto next = ground.open(3, false, durability);
    const auto again = ground.execute(next, 3, "a");
    REQUIRE(again);
    CHECK(again->replayed());
  }
}

TEST_CASE("who flushes for himself reads what lasts") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Mixture ground(seed);
    TreeHead head;
    {
      auto own = ground.open(2, false, Durability::commits);
      ground.commit_and_die(ground.open(1, true, Durability::commits), 1, "a");
      ground.machine.set_process(2);
      head = own.repository->root().value();
      ground.machine.cut_power();
    }
    ground.restart();
    auto next = ground.open(3, false, Durability::commits);
    ground.machine.set_process(3);
    const auto report = next.repository->verify(head).value();
    CHECK(to_string(report.verdict) == "OK");
  }
}

}  // namespace wallock::test
