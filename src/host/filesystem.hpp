// Where a store may lie: on a disk of this machine, not on a network or cross-machine file system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wallock/result.hpp"

namespace wallock::host {

// The absolute path of the file that opening `path` reaches: links followed, the last one too, and
// the last part need not exist. Two names of one store give one text, so that what lies beside the
// store is found under either.
// store_unavailable with errno in facts().native if the folder is missing or cannot be searched, or
// links lead in a circle (transient). Opens nothing.
[[nodiscard]] Result<std::string> resolve(std::string_view path);

// Refuses a file that is there and that this user may not read and write: before anything is made
// beside it. store_unavailable with errno in facts().native (transient). Opens nothing.
[[nodiscard]] Status check_access(const std::string& path);

// Refuses a path on a file system that other machines can write to: SQLite's locks do not reach
// over them and its shared memory file is not shared there, which damages a store without an error.
// Containers on one kernel that share a volume are fine.
// unsupported_filesystem with the type as the field (deterministic); store_unavailable as resolve.
// Where the platform cannot tell, everything that exists is accepted. Opens nothing but
// /proc/self/mountinfo.
[[nodiscard]] Status check_local(std::string_view path);

// The decisions of check_local, on values, for tests with made-up tables.

// The type of the file system that `path` (absolute, without links) lies on: that of the mount with
// the longest matching mount point, the last one if several are mounted on top of each other.
// `mountinfo` is the text of /proc/self/mountinfo (proc(5)); lines that are none are passed over.
// Empty if no mount point matches.
[[nodiscard]] std::optional<std::string> mount_type(std::string_view mountinfo,
                                                    std::string_view path);

// True if other machines can write to a file system of this type, as named in mountinfo.
[[nodiscard]] bool is_shared_type(std::string_view type) noexcept;

// The type's name if statfs(2)'s f_type says that other machines can write to it.
[[nodiscard]] std::optional<std::string_view> shared_type_of_magic(std::uint32_t magic) noexcept;

}  // namespace wallock::host
