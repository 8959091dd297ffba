#include "stepwise.hpp"

#include <stdexcept>

#include "allocations.hpp"
#include "catch.hpp"
#include "faulty_play.hpp"
#include "sqlite/invariants.hpp"

namespace wallock::test {
namespace {

class Stepwise {
 public:
  Stepwise(const Scenario& scenario, std::size_t step, const Trouble& trouble, Tally& tally)
      : scenario_(scenario), number_(step), trouble_(trouble), tally_(tally) {}

  // False if the step does not come to that place; then it succeeded.
  bool meets(std::uint64_t at) {
    INFO(scenario_.name << ", step " << number_ << " " << step().name << ", " << trouble_.name
                        << " " << at);
    if (!place_) {
      place_ = std::make_unique<Place>(scenario_, number_);
      before_ = content_of(place_->stage.path());
    }
    trouble_.begin(at);
    const Status done = step().run(place_->stage);
    const bool came = trouble_.end();
    if (came) ++tally_.injected;
    if (done) {
      // Nothing depended on it, or the call could do without; or it is repeated after all that
      // failed.
      check_success();
      place_.reset();
      return came;
    }
    ++tally_.surfaced;
    check_failure(done.error());
    // What fails without it fails again and again.
    REQUIRE(came);
    return true;
  }

 private:
  [[nodiscard]] const Step& step() const { return scenario_.steps[number_]; }

  void check_success() {
    const auto found = sqlite::check_invariants(place_->stage.path());
    REQUIRE(found);
    CHECK(found->empty());
  }

  void check_failure(const Error& error) {
    const std::string& path = place_->stage.path();
    INFO(to_string(error));
    CHECK(trouble_.may_answer(error.code()));
    CHECK(is_free(path));
    CHECK(place_->turn_is_free());
    if (!step().opens) CHECK(content_of(path) == before_);
  }

  const Scenario& scenario_;
  const std::size_t number_;
  const Trouble& trouble_;
  Tally& tally_;
  std::unique_ptr<Place> place_;
  std::string before_;
};

}  // namespace

Trouble starvation(bool for_ever) {
  return {
      .name = for_ever ? "for ever from allocation" : "allocation",
      .begin = [for_ever](std::uint64_t at) { arm_allocations({.at = at, .for_ever = for_ever}); },
      .end =
          [] {
            disarm_allocations();
            return failed_allocations() > 0;
          },
      .may_answer = [](Errc code) { return code == Errc::out_of_memory; }};
}

Place::Place(const Scenario& scenario, std::size_t steps)
    : stage(folder_.path(), Durability::commits) {
  set_up(scenario, stage);
  for (std::size_t i = 0; i < steps; ++i) {
    const Step& step = scenario.steps[i];
    if (const Status done = step.run(stage); !done)
      throw std::runtime_error(step.name + ": " + to_string(done.error()));
  }
  if (!stage.store) return;
  auto sidecar = host::Sidecar::open(stage.path(), 1, *stage.clock, Instant::max());
  if (sidecar) neighbour_ = *std::move(sidecar);
}

bool Place::turn_is_free() const {
  if (!neighbour_) return true;
  if (!neighbour_->turnstile().enter(Duration::zero())) return false;
  neighbour_->turnstile().leave();
  return true;
}

void trouble_step(const Scenario& scenario, std::size_t step, const Trouble& trouble,
                  const Places& places, Tally& tally) {
  Stepwise stepwise(scenario, step, trouble, tally);
  for (std::uint64_t at = places.first; stepwise.meets(at); at += places.every)
    continue;
}

}  // namespace wallock::test
