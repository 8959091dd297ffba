// The steps that scenarios are made of: each is one call of the Coordinator.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "scenario.hpp"

namespace wallock::test {

using Names = std::vector<std::string>;

// The store. `opened` does nothing to one that is open.
[[nodiscard]] Step opened();
[[nodiscard]] Step closed();
// The machine is restarted while the store is closed.
[[nodiscard]] Step restarted(std::string boot_id);
[[nodiscard]] Step opened_restored();
// A second opening; and whose turn it is.
[[nodiscard]] Step opened_twice();
[[nodiscard]] Step swapped();
[[nodiscard]] Step passed(Duration time);

// Leases, kept by the name of their resource.
[[nodiscard]] Step acquired(std::string resource, std::string holder = "ann", std::string id = "");
[[nodiscard]] Step acquired_all(Names resources);
[[nodiscard]] Step renewed(std::string resource);
[[nodiscard]] Step released(std::string resource);
[[nodiscard]] Step revoked(std::string resource);

// Commits: each action has a row of the application's own, written by the commit's work.
struct CommitSpec {
  AfterCommit after = AfterCommit::nothing;
  bool sent = false;         // to be delivered
  std::size_t payload = 20;  // bytes
  bool repeats = false;      // answers what an earlier one was answered
};
[[nodiscard]] Step committed(std::string resource, Names ids, CommitSpec spec = {});
[[nodiscard]] Step executed(std::string resource, Names ids, CommitSpec spec = {});

// The breaker.
[[nodiscard]] Step reported(std::string resource, DownstreamOutcome outcome);
[[nodiscard]] Step probed(std::string resource);
[[nodiscard]] Step recovered(std::string resource, bool is_well);
[[nodiscard]] Step forced(std::string resource);
[[nodiscard]] Step unforced(std::string resource);

// The outbox: `claimed` takes what is there, `settled` settles the first of it.
[[nodiscard]] Step claimed(std::uint32_t limit, std::size_t expected);
[[nodiscard]] Step settled(DeliveryOutcome outcome);

// All that can be asked of a store.
[[nodiscard]] Step looked(std::string resource);

// Turns a step into one that is refused for this reason, and changes nothing.
[[nodiscard]] Step refused(Step step, Errc reason);

}  // namespace wallock::test
