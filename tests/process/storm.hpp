// Storm: processes that do everything a store offers and are killed in the middle of it, wherever
// the one who kills wants them; and what must be true of the store when they are gone.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fork.hpp"
#include "temp_folder.hpp"
#include "wallock/options.hpp"

namespace wallock::test {

// What a process is at, as it says itself; the one that died of it says it still.
enum class Phase : std::uint8_t {
  starting,    // not yet in the library
  migrate,     // opens a file that has no schema
  open,        // opens a store
  acquire,     // asks for a resource, or waits for it
  commit,      // runs its work and commits
  turnstile,   // the same, asleep until it is its turn
  checkpoint,  // copies the log into the database
  release,
  claim,
  settle,
  rest,  // between two of these
};
inline constexpr std::size_t phases = 11;
[[nodiscard]] std::string_view to_string(Phase phase) noexcept;

using PhaseCounts = std::array<std::uint64_t, phases>;

// How a storm's workers write. The second is wrong on purpose.
enum class Writing : std::uint8_t {
  one_transaction,   // the application's row in the commit of its record
  two_transactions,  // the record first, the row after it
};

struct StormSettings {
  std::size_t processes = 4;
  std::uint64_t kills = 100;
  Durability durability = Durability::commits;
  Writing writing = Writing::one_transaction;
};

// One store, from an empty folder to the last kill.
class Storm {
 public:
  Storm(const StormSettings& settings, unsigned seed);
  Storm(const Storm&) = delete;
  Storm& operator=(const Storm&) = delete;
  ~Storm();  // kills all that still live

  // Kills and replaces until enough are dead, seeing after each kill that others go on; then ends
  // all, or kills all. What went wrong in words; empty if nothing did.
  [[nodiscard]] std::vector<std::string> rage();
  // What is wrong with the store that is left; empty if nothing is.
  [[nodiscard]] std::vector<std::string> check();

  // How many were killed in which phase.
  [[nodiscard]] const PhaseCounts& killed() const noexcept { return killed_; }
  [[nodiscard]] std::uint64_t commits() const;

  struct Ground;  // the memory that the workers share with the storm

 private:
  [[nodiscard]] unsigned random(unsigned below) { return static_cast<unsigned>(random_() % below); }
  [[nodiscard]] std::string database() const { return folder_ / "store.db"; }
  [[nodiscard]] Fork start(std::size_t slot);
  [[nodiscard]] std::size_t find_victim();
  [[nodiscard]] bool is_in(std::size_t slot, Phase wanted);
  void kill(std::size_t slot);
  [[nodiscard]] bool others_go_on(std::size_t dead);
  void end_all();

  const StormSettings settings_;
  const TempFolder folder_;
  std::mt19937 random_;
  Shared<Ground> ground_;
  std::vector<Fork> workers_;
  std::uint32_t lives_ = 0;
  PhaseCounts killed_{};
};

}  // namespace wallock::test
