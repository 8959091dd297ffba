// Levels: durability by its name, for the programs' arguments.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wallock/options.hpp"

namespace wallock::bench {

// Ends the program if there is no level of that name.
[[nodiscard]] inline Durability level_of(std::string_view name) {
  for (const Durability level :
       {Durability::every_answer, Durability::commits, Durability::relaxed})
    if (to_string(level) == name) return level;
  std::fprintf(stderr, "no level %s: every_answer, commits or relaxed\n",
               std::string(name).c_str());
  std::exit(EXIT_FAILURE);
}

}  // namespace wallock::bench
