// The sidecar's file is opened or made, whatever others do to it meanwhile.
#include "host/sidecar_file.hpp"

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>

#include <unistd.h>

#include "catch.hpp"
#include "temp_folder.hpp"

namespace wallock::host {

TEST_CASE("a sidecar that others make and take away all the time can be opened or made") {
  const test::TempFolder folder;
  const std::string database = folder / "store.db";
  const auto look = [&database] {
    const int file = open_sidecar(database);
    const int error = errno;
    if (file >= 0) close(file);
    return file >= 0 ? 0 : error;
  };
  std::atomic<bool> over{false};
  std::atomic<int> failed{0};
  {
    const std::jthread other([&] {
      while (!over) {
        if (look() != 0) ++failed;
        unlink(sidecar_path(database).c_str());
      }
    });
    for (int i = 0; i < 20'000; ++i) {
      if (look() != 0) ++failed;
      unlink(sidecar_path(database).c_str());
    }
    over = true;
  }
  CHECK(failed == 0);
}

}  // namespace wallock::host
