// A guard owns its lease: two owners would release it twice.
#include <utility>

#include "wallock/lease_guard.hpp"

wallock::LeaseGuard other(wallock::LeaseGuard& guard) {
#ifdef WALLOCK_MISUSE
  return guard;
#else
  return std::move(guard);
#endif
}
