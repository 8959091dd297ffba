// The machine a figure was measured on: what every figure depends on and must be printed with.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "wallock/options.hpp"

namespace wallock::bench {

// Pairs of a key and its value, for people and for JSON: processor, cores, load, kernel, file
// system and flush time of the folder's disk, SQLite's version, synchronous per level. What cannot
// be found out is "unknown".
[[nodiscard]] std::vector<std::pair<std::string, std::string>> describe_machine(
    const std::string& folder);
// The same for a program that has no baseline and runs at one level: with that level instead.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> describe_machine(
    const std::string& folder, Durability level);

}  // namespace wallock::bench
