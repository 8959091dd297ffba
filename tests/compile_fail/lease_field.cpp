// INV-02: a lease never changes; renewing returns another one.
#include "wallock/lease.hpp"

wallock::ResourceName name(wallock::Lease& lease, const wallock::ResourceName& other) {
#ifdef WALLOCK_MISUSE
  lease.resource() = other;
  return lease.resource();
#else
  return lease.resource() == other ? other : lease.resource();
#endif
}
