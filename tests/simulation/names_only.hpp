// NamesOnly: a real folder for a store whose files are a simulated machine's.
#pragma once

#include <fstream>
#include <string>

#include "temp_folder.hpp"

namespace wallock::test {

// With the names of the files, empty, for those who ask the system about them.
class NamesOnly {
 public:
  NamesOnly() {
    std::ofstream(folder_ / "store.db");
    std::ofstream(folder_ / "store.db-wal");
  }
  [[nodiscard]] const std::string& path() const { return folder_.path(); }

 private:
  TempFolder folder_;
};

}  // namespace wallock::test
