// A status that is not looked at is refused where warnings are errors.
#pragma GCC diagnostic error "-Wunused-result"
#include "wallock/options.hpp"

int main() {
#ifdef WALLOCK_MISUSE
  wallock::check_ttl(wallock::min_ttl);
  return 0;
#else
  return wallock::check_ttl(wallock::min_ttl) ? 0 : 1;
#endif
}
