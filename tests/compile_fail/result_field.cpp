// INV-02: a receipt never changes.
#include "wallock/action.hpp"

wallock::ActionState state(wallock::ActionResult& result) {
#ifdef WALLOCK_MISUSE
  result.state() = wallock::ActionState::sealed;
#endif
  return result.state();
}
