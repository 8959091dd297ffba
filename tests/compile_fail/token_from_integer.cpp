// A bare number is no fencing token: which number it was must be said by name.
#include <cstdint>

#include "wallock/token.hpp"

int main() {
  const std::uint64_t number = 7;
#ifdef WALLOCK_MISUSE
  const wallock::FencingToken token = number;
#else
  const wallock::FencingToken token = wallock::FencingToken::from_value(number).value();
#endif
  return token.value() == number ? 0 : 1;
}
