// What a simulated run begins with: the store's name, its sidecar, and a store as good as new.
#pragma once

#include <string>

#include "machine.hpp"
#include "sidecar_memory.hpp"

namespace wallock::test {

// In its folder, with a slash before it.
[[nodiscard]] std::string store_name(bool has_sidecar);
// The sidecar of the store that has one: the same for all runs of the process.
[[nodiscard]] SidecarMemory& sidecar_in(const std::string& folder);
// A store in which nothing has happened yet, made once. Where there is to be no sidecar, another
// version's is in its place.
[[nodiscard]] const Image& fresh_in(const std::string& folder, bool has_sidecar);

}  // namespace wallock::test
