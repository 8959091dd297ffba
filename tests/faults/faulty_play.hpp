// Playing a scenario with one fault in it: what the faulty call answers, and what it leaves behind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fault_vfs.hpp"
#include "scenario.hpp"

namespace wallock::test {

// All that a store holds, as one text: to see whether a call changed anything.
[[nodiscard]] std::string content_of(const std::string& path);

// True if somebody else could begin a transaction on the store now.
[[nodiscard]] bool is_free(const std::string& path);

// The errors that a fault may be told by.
[[nodiscard]] bool may_answer(Fault::Kind kind, Errc code);

// How often a scenario calls its files in ways that can fail so, up to the end of each step.
[[nodiscard]] std::vector<std::uint64_t> calls_of(const Scenario& scenario, Durability durability,
                                                  Fault::Kind kind);

struct Played {
  bool injected = false;
  bool surfaced = false;   // some call answered an error
  bool closing = false;    // it fell into the closing, which answers nothing
  std::string wrong = {};  // empty if all was as it must be
};

// Plays the scenario with the fault in it. A step that fails must have changed nothing, unless it
// says that it does not know; then the cause is taken away, and the step must succeed, and all
// steps after it. `ends` is what calls_of answered.
[[nodiscard]] Played play(const Scenario& scenario, Durability durability, const Fault& fault,
                          const std::vector<std::uint64_t>& ends);

}  // namespace wallock::test
