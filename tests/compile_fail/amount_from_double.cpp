// INV-07: an amount is made of its digits, never of a floating-point number.
#include "wallock/decimal.hpp"

int main() {
#ifdef WALLOCK_MISUSE
  const wallock::Decimal amount = 12.5;
#else
  const wallock::Decimal amount = wallock::Decimal::parse("12.5").value();
#endif
  return amount.places() == 1 ? 0 : 1;
}
