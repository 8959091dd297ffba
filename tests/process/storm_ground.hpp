// What the workers of a storm and the one who kills them share.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "storm.hpp"

namespace wallock::test {

inline constexpr std::size_t storm_processes = 16;
inline constexpr std::size_t storm_lives = 1024;
inline constexpr std::size_t storm_resources = 4;

struct Storm::Ground {
  struct Place {
    std::atomic<Phase> phase;
    std::atomic<std::uint32_t> begun;  // operations
    std::atomic<std::uint32_t> done;
    std::atomic<bool> shall_checkpoint;  // its next commit is large
  };
  // Of one process: its actions are 1, 2, 3, ... and none begins before the last was answered.
  struct Life {
    std::atomic<std::uint32_t> acknowledged;
  };

  std::array<Place, storm_processes> places;
  std::array<Life, storm_lives> lives;
  std::atomic<bool> has_schema;
  std::atomic<bool> over;
  std::atomic<std::uint32_t> broken;  // answers that a healthy store never gives
  std::array<char, 256> answer;       // one of them
};

[[nodiscard]] inline std::string storm_resource(std::size_t i) { return "r" + std::to_string(i); }
[[nodiscard]] inline std::string storm_action(std::uint32_t life, std::uint32_t n) {
  return "life-" + std::to_string(life) + "-" + std::to_string(n);
}

// The life of one worker, until it is over; its exit code.
[[nodiscard]] int live_in_storm(Storm::Ground& ground, const std::string& database,
                                const StormSettings& settings, std::size_t place,
                                std::uint32_t life, unsigned seed);

// For a forked child: `phase` becomes checkpoint when this process writes to the database itself,
// which only a checkpoint does.
void watch_for_checkpoints(const std::string& database, std::atomic<Phase>& phase);

}  // namespace wallock::test
