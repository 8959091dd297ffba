// The file at a store's path and those that stand beside it: whether a store can use them.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

#include "wallock/result.hpp"

namespace wallock::host {

// Whether the owner of a file may write the database `like` as well: root, this process's user, the
// database's owner, or one whom the database's mode lets in. Who owns a file may do all to it.
[[nodiscard]] bool is_owner_trusted(const struct stat& own, const struct stat& like) noexcept;

// Refuses names that mean no file to SQLite and would be files here: ":memory:" and URIs ("file:").
// invalid_path for "path", found "memory" or "URI". May throw std::bad_alloc, as all below.
[[nodiscard]] Status check_spelling(std::string_view path);

// Refuses what is at the path and is no regular file of one name: under two names SQLite would keep
// two logs for one file, and two workers would be granted one resource. `database` is a resolved
// path; it need not exist. invalid_path for "path", found "directory", "FIFO", "socket", "device"
// or "hard link". Opens nothing.
[[nodiscard]] Status check_database_file(const std::string& database);

// Refuses a "-wal", "-shm" or "-journal" beside the database that is not this database's: a link,
// no regular file, a file with another name, or one of a user who may not write the database.
// SQLite follows such links, and believes what such files hold; whoever may create files in the
// folder could speak for the database. Refuses a "-wallock" that is a link or no regular file. What
// somebody puts there later is not seen: the folder is to be trusted as the database is
// (docs/SECURITY.md).
// invalid_path for "-wal" and so on, found as above, "link" or "file of another user". `database`
// is a resolved path; it need not exist. Opens nothing.
[[nodiscard]] Status check_side_files(const std::string& database);

}  // namespace wallock::host
