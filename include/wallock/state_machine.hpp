// The life of an action: INIT -> VALIDATED -> EXECUTING -> SEALED, any -> QUARANTINED.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "wallock/print.hpp"

namespace wallock {

// The numbers are stored in the database and hashed into the ledger: they never change.
enum class ActionState : std::uint8_t {
  init = 0,         // known to the caller, not yet checked
  validated = 1,    // checked and committed; awaits delivery
  executing = 2,    // being delivered (from its first claim on)
  sealed = 3,       // done; its record is final
  quarantined = 4,  // taken out after an invariant violation or when its attempts ran out; final
};

enum class ActionEvent : std::uint8_t {
  validate_ok,
  execute_ok,
  seal_merkle,
  invariant_violation,
};

inline constexpr std::array all_action_states{ActionState::init, ActionState::validated,
                                              ActionState::executing, ActionState::sealed,
                                              ActionState::quarantined};
inline constexpr std::array all_action_events{ActionEvent::validate_ok, ActionEvent::execute_ok,
                                              ActionEvent::seal_merkle,
                                              ActionEvent::invariant_violation};

// True once no event moves the action any more.
[[nodiscard]] constexpr bool is_terminal(ActionState state) noexcept {
  return state == ActionState::sealed || state == ActionState::quarantined;
}

struct ActionTransition {
  ActionState from;
  ActionEvent event;
  ActionState to;
};

// Every legal transition; whatever is not in here is refused (INV-06).
inline constexpr std::array action_transitions{
    ActionTransition{ActionState::init, ActionEvent::validate_ok, ActionState::validated},
    ActionTransition{ActionState::validated, ActionEvent::execute_ok, ActionState::executing},
    ActionTransition{ActionState::executing, ActionEvent::seal_merkle, ActionState::sealed},
    ActionTransition{ActionState::init, ActionEvent::invariant_violation, ActionState::quarantined},
    ActionTransition{ActionState::validated, ActionEvent::invariant_violation,
                     ActionState::quarantined},
    ActionTransition{ActionState::executing, ActionEvent::invariant_violation,
                     ActionState::quarantined},
};

// The state after `event`, or empty if the machine has no such transition.
[[nodiscard]] constexpr std::optional<ActionState> next_state(ActionState state,
                                                              ActionEvent event) noexcept {
  for (const ActionTransition& transition : action_transitions) {
    if (transition.from == state && transition.event == event) return transition.to;
  }
  return std::nullopt;
}

[[nodiscard]] constexpr std::string_view to_string(ActionState state) noexcept {
  switch (state) {
    case ActionState::init:
      return "INIT";
    case ActionState::validated:
      return "VALIDATED";
    case ActionState::executing:
      return "EXECUTING";
    case ActionState::sealed:
      return "SEALED";
    case ActionState::quarantined:
      return "QUARANTINED";
  }
  return "QUARANTINED";
}

[[nodiscard]] constexpr std::string_view to_string(ActionEvent event) noexcept {
  switch (event) {
    case ActionEvent::validate_ok:
      return "validate_ok";
    case ActionEvent::execute_ok:
      return "execute_ok";
    case ActionEvent::seal_merkle:
      return "seal_merkle";
    case ActionEvent::invariant_violation:
      return "invariant_violation";
  }
  return "invariant_violation";
}

}  // namespace wallock
