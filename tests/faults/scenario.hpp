// Scenario: a short program over the Coordinator, told step by step, so that faults can be put
// between and into its steps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "disk.hpp"
#include "wallock/coordinator.hpp"
#include "wallock/manual_clock.hpp"

namespace wallock::test {

// What a program was told by one step, and what of it must outlive a power cut.
struct Answer {
  std::string step;
  FencingToken granted = {};                  // the highest token that it was given
  std::optional<TreeHead> durable_head = {};  // the ledger as of a flushed answer
};

// What a scenario's steps play on: a store, a clock that stands still, and what they were given.
class Stage {
 public:
  // On a clean folder in memory; the store is not opened yet.
  Stage(std::string folder, Durability durability);

  std::string folder;
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  Options options;
  std::optional<Coordinator> store;
  std::optional<Coordinator> other;  // a second opening of the same store, as another process's
  std::map<std::string, Lease> leases;
  std::map<std::string, Probe> probes;
  std::map<std::string, Committed> receipts;
  std::vector<Delivery> deliveries;
  FencingToken granted;  // the highest token given so far

  [[nodiscard]] std::string path() const { return folder + "/store.db"; }
  void note(FencingToken token) { granted = std::max(granted, token); }
};

// One call of the program. A step that failed without effect can be run again.
struct Step {
  std::string name;
  // Its answer outlives a power cut at Durability::commits.
  bool durable = false;
  std::function<Status(Stage&)> run;
  // More than one transaction: what was done of it before it failed stays, and is not done again.
  bool opens = false;
};

struct Scenario {
  std::string name;
  std::vector<Step> steps;
  bool is_new = false;  // begins with no file at all
  int page_size = 4096;
};

// All of them, the same at every call.
[[nodiscard]] const std::vector<Scenario>& scenarios();

// The content of an empty store with the application's table, closed; made once for each size.
[[nodiscard]] const std::string& empty_store(int page_size);

// Puts the scenario's beginning into the stage's folder, and answers what stands there.
Image set_up(const Scenario& scenario, const Stage& stage);

// Where stores can be made and thrown away fast: in memory if the machine has such a place.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // Removes all files in it but a sidecar, which costs time to make.
  void clear() const;
  // What a sidecar may be after a restart: gone, or as any moment of an earlier boot left it.
  void age_sidecar(std::uint64_t seed) const;
  void write(const Image& image) const;

 private:
  [[nodiscard]] std::string sidecar() const { return path_ + "/store.db-wallock"; }

  std::string path_;
};

}  // namespace wallock::test
