// Replay: whether a batch of actions is new, recorded before, or neither.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sqlite/session.hpp"
#include "wallock/action.hpp"

namespace wallock::sqlite {

// The results of the commit that recorded all of `actions` before, with the same content and for
// the same resource; empty if none of them is recorded.
// action_conflict if one is recorded with other content, for another resource or as something else;
// batch_partly_recorded if some are recorded and some are not (business, both).
[[nodiscard]] Result<std::optional<std::vector<ActionResult>>> find_replay(
    WriteTransaction& transaction, const ResourceName& resource,
    std::span<const ActionRequest> actions);

}  // namespace wallock::sqlite
