// The identity of one opening of a store.
#pragma once

#include "wallock/lease.hpp"
#include "wallock/result.hpp"

namespace wallock::detail {

// 64 bits of the system's randomness; 0 means "none" and is never drawn. store_unavailable
// (transient) if the system has none to give.
[[nodiscard]] Result<InstanceId> draw_instance();

}  // namespace wallock::detail
