// INV-03, INV-07: nor by an explicit conversion.
#include "wallock/score.hpp"

int main() {
#ifdef WALLOCK_MISUSE
  const auto score = wallock::Score(0.75);
#else
  const auto score = wallock::Score::from_millionths(750'000).value();
#endif
  return score.millionths() == 750'000 ? 0 : 1;
}
