// The file "<database>-wallock": opening it safely, and the kernel locks on its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wallock/result.hpp"

namespace wallock::host {

// The file beside a database that carries the library's kernel locks and what its processes share:
// "<database>-wallock". It holds nothing durable. Who waits for a lock on it and who comes later
// must mean one file: so it stays for as long as the store does. Only an opening that made it and
// is then refused takes it away again (CreationLock::remove_unused_file).
[[nodiscard]] std::string sidecar_path(std::string_view database);

// True if something has that name. `database` is a resolved path.
[[nodiscard]] bool is_sidecar_there(const std::string& database);

// Opens the sidecar of `database` (a resolved path), creating it with the database's mode and, for
// root, its owner; 0600 if there is no database yet. Close-on-exec; follows no link.
// -1 with errno: it cannot be created or opened, is a link (ELOOP) or no regular file (EINVAL).
[[nodiscard]] int open_sidecar(const std::string& database);

// Gives the sidecar the database's mode and, for root, its owner: the umask must not shut out a
// user who may write the database, nor a store that root touched first its owner. Only the file's
// owner can; a failure leaves the file as usable as it is. A file with another name, or of somebody
// who may not write the database, stays as it is.
void share_sidecar(int file, const std::string& database) noexcept;

// Whether what this sidecar says may be listened to, and written into it: 0, or an errno. EMLINK:
// it has another name, or none any more; EPERM: it may be written by users who may not write the
// database, or belongs to such a one.
[[nodiscard]] int check_sidecar(int file, const std::string& database) noexcept;

// Exclusive locks of the open file description (fcntl(2), F_OFD_SETLK) on single bytes: the kernel
// drops them with the last copy of the descriptor. False with errno; never waits.
[[nodiscard]] bool lock_byte(int file, std::int64_t byte) noexcept;
void unlock_byte(int file, std::int64_t byte) noexcept;
// Whether somebody else has a lock on one of the bytes. If the kernel will not say: yes.
[[nodiscard]] bool is_locked_by_others(int file, std::int64_t byte, std::int64_t count) noexcept;
// False where there are no such locks: nothing can be told about other processes there.
[[nodiscard]] bool has_byte_locks() noexcept;

// For a file or a lock that cannot be had: store_unavailable with the errno.
[[nodiscard]] tl::unexpected<Error> unavailable(int native);

}  // namespace wallock::host
