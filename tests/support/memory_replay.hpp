// How MemoryRepository answers a commit that was recorded before.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "memory_store.hpp"

namespace wallock::test {

// The results of an earlier commit of the same batch; empty if none of it is recorded.
// action_conflict, batch_partly_recorded.
[[nodiscard]] Result<std::optional<std::vector<ActionResult>>> find_replay(
    const MemoryStore::Lock& lock, const ResourceName& resource,
    std::span<const ActionRequest> actions);

// The answer of a repeated commit under `lease`. One that kept its lease goes on under it, as long
// as it is the current one.
[[nodiscard]] Committed answer_replay(const MemoryStore::Lock& lock, const Lease& lease,
                                      std::vector<ActionResult> results, AfterCommit after,
                                      Instant requested_at, const rules::Moment& moment);

}  // namespace wallock::test
