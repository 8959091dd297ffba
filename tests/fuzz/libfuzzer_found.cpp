// For builds with libFuzzer: a finding is a crash, whose input libFuzzer keeps.
#include <cstdio>
#include <cstdlib>

#include "fuzz/target.hpp"

void wallock::fuzz::found(std::string_view what) {
  std::fprintf(stderr, "fuzz: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}
