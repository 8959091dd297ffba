// What a job costs, as three calls and as one, against the same three results by hand.
#include "support/questions.hpp"

int main(int argc, char** argv) {
  return wallock::bench::run(argc, argv, wallock::bench::job_questions());
}
