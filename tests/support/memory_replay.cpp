#include "memory_replay.hpp"

#include <algorithm>
#include <utility>

namespace wallock::test {

Result<std::optional<std::vector<ActionResult>>> find_replay(
    const MemoryStore::Lock& lock, const ResourceName& resource,
    std::span<const ActionRequest> actions) {
  std::vector<ActionResult> results;
  for (const ActionRequest& action : actions) {
    const auto found = lock->actions.find(action.id().str());
    if (found == lock->actions.end()) continue;
    if (found->second.request != action || found->second.resource != resource) {
      return fail(Error(Errc::action_conflict, ErrorFacts{.field = "action_id",
                                                          .action = action.id().str(),
                                                          .resource = resource.str(),
                                                          .token = found->second.result.token()}));
    }
    results.push_back(found->second.result);
  }
  if (results.empty()) return std::optional<std::vector<ActionResult>>();
  if (results.size() != actions.size()) {
    return fail(Error(Errc::batch_partly_recorded, ErrorFacts{.field = "action_id",
                                                              .action = results.front().id().str(),
                                                              .resource = resource.str()}));
  }
  return std::optional(std::move(results));
}

Committed answer_replay(const MemoryStore::Lock& lock, const Lease& lease,
                        std::vector<ActionResult> results, AfterCommit after, Instant requested_at,
                        const rules::Moment& moment) {
  const rules::ResourceState state = lock.state(lease.resource());
  const auto last = std::ranges::max(results, {}, &ActionResult::position).position();
  const auto* const tenure =
      after == AfterCommit::keep
          ? rules::kept_tenure(state, last, lease.holder(), lease.instance(), moment)
          : nullptr;
  if (tenure == nullptr) return Committed(std::move(results), true);
  return Committed(std::move(results), true,
                   Lease::create({.resource = lease.resource(),
                                  .token = state.issued,
                                  .holder = lease.holder(),
                                  .instance = lease.instance(),
                                  .requested_at = std::min(requested_at, tenure->granted_at),
                                  .granted_at = tenure->granted_at,
                                  .expires_at = tenure->expires_at})
                       .value());
}

}  // namespace wallock::test
