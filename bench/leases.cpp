// What a lease costs, against a lease row in SQLite by hand.
#include "support/questions.hpp"

int main(int argc, char** argv) {
  return wallock::bench::run(argc, argv, wallock::bench::lease_questions());
}
