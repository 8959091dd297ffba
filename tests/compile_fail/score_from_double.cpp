// INV-03, INV-07: a score is made of its digits, never of a floating-point number.
#include "wallock/score.hpp"

int main() {
#ifdef WALLOCK_MISUSE
  const wallock::Score score = 0.75;
#else
  const wallock::Score score = wallock::Score::parse("0.75").value();
#endif
  return score.millionths() == 750'000 ? 0 : 1;
}
