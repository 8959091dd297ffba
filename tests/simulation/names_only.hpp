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
    for (const char* name : {"store.db", "store.db-wal", "alone.db", "alone.db-wal"})
      std::ofstream(folder_ / name);
  }
  [[nodiscard]] const std::string& path() const { return folder_.path(); }

 private:
  TempFolder folder_;
};

}  // namespace wallock::test
