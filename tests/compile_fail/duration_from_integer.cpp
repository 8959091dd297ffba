// A bare number is no duration: its unit must be said.
#include <chrono>

#include "wallock/options.hpp"

int main() {
#ifdef WALLOCK_MISUSE
  const wallock::AcquireOptions options{.ttl = 30};
#else
  const wallock::AcquireOptions options{.ttl = std::chrono::seconds(30)};
#endif
  return options.ttl == std::chrono::seconds(30) ? 0 : 1;
}
