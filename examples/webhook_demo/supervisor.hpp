// The parent while workers run: starts them, kills and pauses them at the right moment, and
// replaces the dead.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "faults.hpp"
#include "messages.hpp"
#include "options.hpp"
#include "process.hpp"
#include "wallock/wallock.hpp"

namespace demo {

// What the parent saw and did. The counts are what workers said; the checks do not rest on them.
struct RunRecord {
  std::vector<Fault> faults;  // that landed
  std::size_t started = 0;    // worker processes
  std::size_t missed = 0;     // faults that came too late for the step they were meant for
  std::size_t replays = 0;    // repeated commits answered with the first receipt
  std::size_t refused = 0;    // commits refused as stale
  std::size_t overruled = 0;  // paused workers that wrote after all (only without the fence)
  std::optional<wallock::TreeHead> noted_head;  // of the ledger, half-way
};

class Supervisor {
 public:
  Supervisor(const Options& options, std::string database, std::size_t payloads,
             wallock::Coordinator& coordinator);
  ~Supervisor();

  // Returns when no work is left and every worker has ended. Throws std::runtime_error if a worker
  // ends with an error or the run does not come to an end.
  [[nodiscard]] RunRecord run();

 private:
  struct Worker;
  struct Pause;

  void start_worker();
  void wait_for_output();
  void receive(Worker& worker);
  void reap(Worker& worker);
  void handle(Worker& worker, const Message& message);
  void count(const Message& message);

  [[nodiscard]] bool is_due(const Worker& worker, const Message& message) const;
  [[nodiscard]] bool somebody_waits_for(const std::string& repository) const;
  void strike(Worker& worker, const Message& message);
  [[nodiscard]] bool kill(Worker& worker);
  void pause(Worker& worker, const Fault& fault);
  void follow_pause(const Worker& worker, const Message& message);
  void end_pause_verdict(Step step);
  void end_overlong_pause();
  void landed(Fault fault, const char* what_next);

  Options options_;
  std::string database_;
  std::size_t payloads_;
  wallock::Coordinator& coordinator_;
  std::shared_ptr<const wallock::Clock> clock_ = wallock::system_clock();
  Random random_;
  std::vector<FaultKind> plan_;  // the next one at the back
  std::size_t planned_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Pause> pause_;
  std::size_t committed_ = 0;
  RunRecord record_;
};

}  // namespace demo
