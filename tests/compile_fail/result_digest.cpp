// INV-02: nor do the members that a receipt gives out by reference.
#include "wallock/action.hpp"

wallock::Digest digest(wallock::ActionResult& result) {
#ifdef WALLOCK_MISUSE
  result.digest() = wallock::Digest();
#endif
  return result.digest();
}
