// Power cuts: a scenario is played once and recorded; then the power is cut at any of its writes,
// and what the disk holds is opened again as after a restart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario.hpp"

namespace wallock::test {

// A scenario as it went, with all that it wrote.
struct Recording {
  std::string scenario;
  Durability durability = Durability::commits;
  std::shared_ptr<DiskLog> log;
  std::vector<Answer> answers;  // in the order given
};

// Plays the scenario to its end; throws std::runtime_error if a step fails. What its answers are
// held to is what `promised` promises; the store's own level if none is given.
[[nodiscard]] Recording record(const Scenario& scenario, Durability durability,
                               std::optional<Durability> promised = std::nullopt);

// What is wanted of a store that is opened after a power cut.
struct Wanted {
  bool lies = false;       // the disk did not do what it was told
  bool same_boot = false;  // the machine is said not to have been restarted
  std::uint64_t first_seed = 0;
};

// What the power cuts of one scenario came to.
struct Cuts {
  std::uint64_t images = 0;  // opened: different ones, or after different answers
  std::uint64_t places = 0;  // at which the power was cut
  // "scenario, cut 17, seed 3: what is wrong", at most a few; and how many there were.
  std::vector<std::string> failures;
  std::uint64_t failed = 0;
};

// Cuts the power before each event of the recording and after the last, `seeds` times at each, with
// wanted.first_seed and those after it; with `every`, only at each so-manieth.
[[nodiscard]] Cuts cut_everywhere(const Recording& recording, const Wanted& wanted,
                                  std::uint64_t seeds, std::uint64_t every = 1);

// One cut, for replaying a failure. Empty if all is well, else what is wrong.
[[nodiscard]] std::string cut_once(const Recording& recording, const Wanted& wanted,
                                   std::uint64_t place, std::uint64_t seed);

}  // namespace wallock::test
