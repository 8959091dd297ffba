#include "machine.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "statistics.hpp"

namespace wallock::bench {
namespace {

using std::chrono::steady_clock;

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string load() {
  std::array<double, 3> averages{};
  if (getloadavg(averages.data(), 3) != 3) return "unknown";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.2f %.2f %.2f", averages[0], averages[1], averages[2]);
  return text.data();
}

std::string kernel() {
  utsname names{};
  if (uname(&names) != 0) return "unknown";
  return std::string(names.sysname) + " " + names.release + " " + names.machine;
}

// Type, device and options of the mount that the folder lies in: the longest mount point that leads
// to it (proc_pid_mountinfo(5)).
std::string file_system(const std::string& folder) {
  const std::string path = std::filesystem::canonical(folder).string() + "/";
  std::ifstream file("/proc/self/mountinfo");
  std::string found = "unknown";
  std::size_t longest = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string skipped, point, options, word, type, device;
    words >> skipped >> skipped >> skipped >> skipped >> point >> options;
    while (words >> word && word != "-") {
    }
    words >> type >> device;
    const std::string prefix = point == "/" ? point : point + "/";
    if (path.starts_with(prefix) && prefix.size() >= longest) {
      longest = prefix.size();
      found = type + " on " + device + " (" + options + ")";
    }
  }
  return found;
}

// Microseconds that an fdatasync takes after 4 KiB of a file were overwritten, half of the time.
std::string flush_time(const std::string& folder) {
  constexpr int tries = 300;
  const std::string path = folder + "/wallock_bench_flush";
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return "unknown";
  std::array<char, 4096> block{};
  std::vector<double> times;
  for (int i = 0; i < tries; ++i) {
    block.fill(static_cast<char>(i));
    if (pwrite(file, block.data(), block.size(), 0) != static_cast<ssize_t>(block.size())) break;
    const auto before = steady_clock::now();
    if (fdatasync(file) != 0) break;
    if (i == 0) continue;  // the first one makes the block
    times.push_back(
        std::chrono::duration<double, std::micro>(steady_clock::now() - before).count());
  }
  close(file);
  unlink(path.c_str());
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.0f us p50, %.0f us p99", percentile(times, 50),
                percentile(times, 99));
  return times.empty() ? "unknown" : text.data();
}

using Description = std::vector<std::pair<std::string, std::string>>;

Description common_description(const std::string& folder) {
  return {{"processor", processor()},
          {"cores", std::to_string(std::thread::hardware_concurrency())},
          {"load", load()},
          {"kernel", kernel()},
          {"file_system", file_system(folder)},
          {"flush", flush_time(folder)},
          {"sqlite", std::string(sqlite3_libversion()) + " " + sqlite3_sourceid()}};
}

}  // namespace

Description describe_machine(const std::string& folder) {
  Description description = common_description(folder);
  description.emplace_back(
      "baseline_synchronous",
      "every_answer: FULL; commits: NORMAL for acquire, release and claim, FULL for the rest; "
      "relaxed: NORMAL");
  return description;
}

Description describe_machine(const std::string& folder, Durability level) {
  Description description = common_description(folder);
  description.emplace_back("level", to_string(level));
  return description;
}

}  // namespace wallock::bench
