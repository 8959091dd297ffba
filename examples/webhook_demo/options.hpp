// The command line of the demonstration, and the settings that parent and workers share.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace demo {

// A lease lasts this long; no worker renews. Short, so that a paused worker is soon overdue.
inline constexpr std::chrono::milliseconds lease_ttl{300};
// How long a worker waits for a repository that another one has.
inline constexpr std::chrono::seconds acquire_wait{10};

// Exit codes.
inline constexpr int exit_kept = 0;    // every promise was kept
inline constexpr int exit_broken = 1;  // something was lost, doubled or accepted stale
inline constexpr int exit_failed = 2;  // the run itself failed, or a promised fault did not occur

struct Options {
  int workers = 4;
  std::uint64_t seed = 0;
  bool fenced = true;
  bool keep = false;
  bool help = false;
  std::filesystem::path data;
  // Worker mode: who this worker is and where the database is. Empty in the parent.
  std::string worker_name;
  std::string database;
};

// Throws std::runtime_error that says what is wrong with the arguments.
[[nodiscard]] Options parse_options(std::span<char* const> arguments);

[[nodiscard]] std::string usage();

}  // namespace demo
