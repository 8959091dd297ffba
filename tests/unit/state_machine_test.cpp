// The life of an action, transition by transition.
#include "wallock/state_machine.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "catch.hpp"

using namespace wallock;

namespace {

using S = ActionState;
using E = ActionEvent;

// The machine as the contract words it: INIT -> VALIDATED -> EXECUTING -> SEALED; any state that is
// not terminal -> QUARANTINED on an invariant violation.
const std::map<std::pair<S, E>, S> legal{
    {{S::init, E::validate_ok}, S::validated},
    {{S::validated, E::execute_ok}, S::executing},
    {{S::executing, E::seal_merkle}, S::sealed},
    {{S::init, E::invariant_violation}, S::quarantined},
    {{S::validated, E::invariant_violation}, S::quarantined},
    {{S::executing, E::invariant_violation}, S::quarantined},
};

}  // namespace

TEST_CASE("INV-06 an action makes only the transitions of the table") {
  REQUIRE(all_action_states.size() == 5);
  REQUIRE(all_action_events.size() == 4);
  for (const S state : all_action_states) {
    for (const E event : all_action_events) {
      INFO(to_string(state) << " on " << to_string(event));
      const auto found = legal.find({state, event});
      const std::optional<S> expected =
          found == legal.end() ? std::nullopt : std::optional(found->second);
      CHECK(next_state(state, event) == expected);
    }
  }
}

TEST_CASE("INV-06 numbers that are no state and no event lead nowhere") {
  for (int number = 0; number < 256; ++number) {
    const auto state = static_cast<S>(number);
    const auto event = static_cast<E>(number);
    CAPTURE(number);
    if (number >= 5) CHECK_FALSE(next_state(state, E::invariant_violation));
    if (number >= 5) CHECK_FALSE(next_state(state, E::validate_ok));
    if (number >= 4) CHECK_FALSE(next_state(S::init, event));
  }
}

TEST_CASE("INV-06 a terminal state is one that no event leaves") {
  for (const S state : all_action_states) {
    INFO(to_string(state));
    bool leaves = false;
    for (const E event : all_action_events)
      leaves = leaves || next_state(state, event);
    CHECK(is_terminal(state) != leaves);
  }
  CHECK(is_terminal(S::sealed));
  CHECK(is_terminal(S::quarantined));
}

TEST_CASE("the numbers of the states never change, for they are stored") {
  const std::array names{"INIT", "VALIDATED", "EXECUTING", "SEALED", "QUARANTINED"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(static_cast<std::size_t>(all_action_states[i]) == i);
    CHECK(to_string(all_action_states[i]) == names[i]);
  }
  CHECK(to_string(static_cast<S>(9)) == "QUARANTINED");
  std::set<std::string_view> events;
  for (const E event : all_action_events)
    events.insert(to_string(event));
  CHECK(events == std::set<std::string_view>{"validate_ok", "execute_ok", "seal_merkle",
                                             "invariant_violation"});
}
