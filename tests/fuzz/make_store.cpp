// Makes the store of the corpus: wallock_fuzz_make_store FOLDER. Run once; the result is kept.
#include <exception>
#include <iostream>

#include "fuzz/golden_store.hpp"

int main(int count, char** values) {
  try {
    if (count != 2) throw std::runtime_error("give the folder");
    wallock::fuzz::make_golden_store(values[1]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
