// Crowd: many workers on one store, and the one who kills and pauses them at random moments.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "history.hpp"
#include "temp_folder.hpp"
#include "wallock/coordinator.hpp"

namespace wallock::test {

class Crowd {
 public:
  // Prepares a store with its counters; `fenced` false lets the workers write past the fence.
  Crowd(unsigned seed, bool fenced);

  void start(std::size_t workers);
  // Rests a little, then kills a worker (another one takes its place) or pauses it for longer than
  // its lease lasts. `kills` false only pauses.
  void strike(bool kills);
  // Tells all workers to end and waits for them. Those that did not end, or not well, by name and
  // exit code.
  [[nodiscard]] std::vector<std::string> end();

  // All that happened, from the logs, the ledger and the application's tables.
  [[nodiscard]] History history();

  [[nodiscard]] Coordinator& coordinator() noexcept { return coordinator_; }
  [[nodiscard]] const std::string& database() const noexcept { return database_; }
  [[nodiscard]] std::size_t killed() const noexcept { return killed_; }
  [[nodiscard]] std::size_t paused() const noexcept { return paused_; }

 private:
  struct Worker {
    std::string name;
    ChildProcess process;
  };

  [[nodiscard]] Worker start_worker(const std::vector<std::string>& unanswered = {});
  [[nodiscard]] std::string log_of(const std::string& name) const {
    return folder_ / (name + ".log");
  }
  [[nodiscard]] std::vector<std::string> unanswered_commit(const std::string& name) const;
  [[nodiscard]] unsigned random(unsigned below) { return static_cast<unsigned>(random_() % below); }
  void kill(Worker& worker);
  void pause(Worker& worker);

  const TempFolder folder_;
  const std::string database_;
  const bool fenced_;
  std::mt19937 random_;
  Coordinator coordinator_;
  std::vector<Worker> workers_;
  std::vector<std::string> names_;  // of all that ever were
  std::size_t killed_ = 0;
  std::size_t paused_ = 0;
};

}  // namespace wallock::test
