// INV-02: the list of receipts is read, not written.
#include "wallock/committed.hpp"

std::size_t count(wallock::Committed& committed) {
#ifdef WALLOCK_MISUSE
  committed.results().clear();
#endif
  return committed.results().size();
}
