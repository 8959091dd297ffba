// The files that SQLite keeps beside a database: whether they are the database's own.
#pragma once

#include <sys/stat.h>

#include <string>

namespace wallock::host {

// Whether the owner of a file may write the database `like` as well: root, this process's user, the
// database's owner, or one whom the database's mode lets in. Who owns a file may do all to it.
[[nodiscard]] bool is_owner_trusted(const struct stat& own, const struct stat& like) noexcept;

// True unless one of "-wal", "-shm" and "-journal" is there and is not this database's: a link, no
// regular file, a file with another name, or one of a user who may not write the database. SQLite
// follows such links, and believes what such files hold; whoever may create files in the folder
// could speak for the database. `database` is a resolved path; it need not exist. What somebody
// puts there later is not seen: the folder is to be trusted as the database is (docs/SECURITY.md).
[[nodiscard]] bool are_side_files_sound(const std::string& database);

}  // namespace wallock::host
