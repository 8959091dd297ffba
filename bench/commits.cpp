// What recording actions costs, against a bare transaction of as many inserts.
#include "support/questions.hpp"

int main(int argc, char** argv) {
  return wallock::bench::run(argc, argv, wallock::bench::commit_questions());
}
