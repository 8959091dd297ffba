// The faults of a run: which kinds there are, when each is due, and what is noted about one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "application.hpp"
#include "wallock/wallock.hpp"

namespace demo {

enum class FaultKind : std::uint8_t {
  kill_at_work,    // SIGKILL between the grant and the commit
  kill_at_commit,  // SIGKILL while the commit is under way: it may or may not land
  pause_at_work,   // SIGSTOP between the grant and the commit, until another worker has written
};

// How many of each kind a run promises.
inline constexpr std::size_t promised_kills_at_work = 6;
inline constexpr std::size_t promised_kills_at_commit = 3;
inline constexpr std::size_t promised_pauses = 6;

// A fault that really hit a worker in the step it was meant for.
struct Fault {
  FaultKind kind = FaultKind::kill_at_work;
  std::string worker;
  std::string repository;
  std::uint64_t token = 0;  // that the worker held
  wallock::WallTime at;
};

// The promised faults, in a random order.
[[nodiscard]] std::vector<FaultKind> plan_faults(Random& random);

[[nodiscard]] std::string describe(const Fault& fault);

}  // namespace demo
