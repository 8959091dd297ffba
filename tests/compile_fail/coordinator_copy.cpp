// A Coordinator is one opening of a store: it can be moved, not copied.
#include <utility>

#include "wallock/coordinator.hpp"

wallock::Coordinator other(wallock::Coordinator& coordinator) {
#ifdef WALLOCK_MISUSE
  return coordinator;
#else
  return std::move(coordinator);
#endif
}
