// A scenario's step met by one trouble at each of the places where it can come: what the call
// answers, and what it leaves behind.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "host/sidecar.hpp"
#include "scenario.hpp"

namespace wallock::test {

// Something that can befall the library inside its calls, at one of many places.
struct Trouble {
  std::string name;
  // Lets it come at the place with that number, counted from 0 in the calls that follow.
  std::function<void(std::uint64_t at)> begin;
  // Takes it away; true if it came.
  std::function<bool()> end;
  // The errors that it may be told by.
  bool (*may_answer)(Errc code);
};

// Memory that runs out at one allocation, or from it on.
[[nodiscard]] Trouble starvation(bool for_ever);

struct Tally {
  std::uint64_t injected = 0;
  std::uint64_t surfaced = 0;
};

// A stage in a folder of its own, the first steps of the scenario done.
class Place {
 public:
  Place(const Scenario& scenario, std::size_t steps);

  // True if another process could take its turn to write now.
  [[nodiscard]] bool turn_is_free() const;

 private:
  const ScratchFolder folder_;

 public:
  Stage stage;

 private:
  std::unique_ptr<host::Sidecar> neighbour_;
};

// Which places: that one, and every so-many-th after it.
struct Places {
  std::uint64_t first = 0;
  std::uint64_t every = 1;
};

// Checks, in the test that runs, that the step with that number either fails as it may, has changed
// nothing and keeps nobody out, or succeeds and leaves the store in order; and that it succeeds
// when the trouble is over. Up to the first place that the step does not come to.
void trouble_step(const Scenario& scenario, std::size_t step, const Trouble& trouble,
                  const Places& places, Tally& tally);

}  // namespace wallock::test
