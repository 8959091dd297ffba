// What /proc tells of this process: its memory, and what it wrote.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

namespace wallock::bench {

// Resident memory in KiB; 0 where /proc does not tell.
[[nodiscard]] inline std::size_t resident_kib() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

// Bytes handed to write calls so far, whether they have reached the disk or not; 0 where /proc does
// not tell.
[[nodiscard]] inline std::uint64_t written_bytes() {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::uint64_t value = 0;
  while (file >> name >> value) {
    if (name == "wchar:") return value;
  }
  return 0;
}

}  // namespace wallock::bench
