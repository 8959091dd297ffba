// What the numbered examples share: to stop with a message when something is not as it must be.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>

#include "wallock/wallock.hpp"

namespace example {

// The value of a Result, or the end of the program with its error on stderr. A program of yours
// looks at error().code() or error().error_class() and goes on; an example just stops.
template <class T>
T must(wallock::Result<T> result, const char* what) {
  if (!result) {
    std::fprintf(stderr, "%s: %s\n", what, to_string(result.error()).c_str());
    std::exit(EXIT_FAILURE);
  }
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// Prints what an example shows; ends the program if it is not so.
inline void show(bool is_so, const std::string& what) {
  if (!is_so) {
    std::fprintf(stderr, "NOT SO: %s\n", what.c_str());
    std::exit(EXIT_FAILURE);
  }
  std::printf("%s\n", what.c_str());
}

// Whether a Result is this refusal.
template <class T>
bool refused_as(const wallock::Result<T>& result, wallock::Errc code) {
  return !result && result.error().code() == code;
}

}  // namespace example
