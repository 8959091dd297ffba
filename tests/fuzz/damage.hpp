// Damage: what an input does to the files of a store: to its rows, its pages, its log, its sidecar.
#pragma once

#include <optional>
#include <string>

#include "fuzz/target.hpp"

namespace wallock::fuzz {

// The files of a store that nobody has open.
struct StoreFiles {
  std::string database;
  std::string log;
  std::optional<std::string> sidecar = {};

  void write(const std::string& path) const;
};

// Does to the files what the rest of the input says: any number of changes, each of a few bytes.
// Rows are changed by SQL without triggers and checks, which stay in the file. If `reseal`, the log
// gets checksums that fit its frames, so that SQLite believes it. `scratch` is a path for files of
// its own. With WALLOCK_FUZZ_EXPLAIN in the environment the statements are printed.
void damage(StoreFiles& files, Input& input, bool reseal, const std::string& scratch);

}  // namespace wallock::fuzz
