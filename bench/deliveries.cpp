// What a delivery out of the outbox costs, against a queue in SQLite by hand.
#include "support/questions.hpp"

int main(int argc, char** argv) {
  return wallock::bench::run(argc, argv, wallock::bench::delivery_questions());
}
