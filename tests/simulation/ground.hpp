// Ground: a simulated machine with one store on it, and processes that open it one by one.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "machine.hpp"
#include "machine_vfs.hpp"
#include "names_only.hpp"
#include "sqlite/open_repository.hpp"
#include "wallock/manual_clock.hpp"

namespace wallock::test {

// What tests of one course of events begin with; World plays drawn ones. One at a time.
class Ground {
 public:
  // The store is the folder's file of that name ("/store.db").
  Ground(std::uint64_t seed, const std::string& name)
      : path(folder().path() + name), machine({}, trace_, seed, false) {
    use_machine_vfs();
  }

  // From here on the process is the one that asks.
  [[nodiscard]] Result<sqlite::OpenedRepository> open(int process, bool shares_flushes,
                                                      Durability durability = Durability::commits) {
    machine.set_process(process);
    Options options;
    options.clock = clock;
    options.durability = durability;
    options.share_flushes = shares_flushes;
    return sqlite::open_repository(path, options, instance_of(process), clock);
  }
  // A commit of one action on that resource.
  [[nodiscard]] Result<Committed> execute(sqlite::OpenedRepository& opened, int process,
                                          const std::string& resource, const std::string& id) {
    machine.set_process(process);
    const auto action = ActionRequest::create({.id = id}).value();
    return opened.repository->execute({.resource = ResourceName::parse(resource).value(),
                                       .holder = HolderId::parse("h").value(),
                                       .instance = instance_of(process)},
                                      std::span(&action, 1), {},
                                      clock->now() + std::chrono::seconds(1));
  }
  // After a power cut, once nobody has the store open.
  void restart() {
    machine.restart();
    clock->reboot("another boot");
  }

  [[nodiscard]] static InstanceId instance_of(int process) {
    return InstanceId{static_cast<std::uint64_t>(process)};
  }

  const std::string path;

 private:
  static const NamesOnly& folder() {
    static const NamesOnly made;
    return made;
  }
  Trace trace_;

 public:
  Machine machine;
  const std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
};

}  // namespace wallock::test
