// What an application's work may do with the connection of its commit.
#pragma once

namespace wallock::sqlite {

// The decision of the authorizer for one action (sqlite3_set_authorizer, "Authorizer Action
// Codes"), with its two arguments and the database it concerns; any pointer may be null. Refused:
// transaction control, savepoints, attaching, settings (but not two questions that virtual tables
// ask), loading code, renaming a table, and every use of a table, index, trigger or view whose name
// begins with "wallock_".
[[nodiscard]] bool work_may(int action, const char* first, const char* second,
                            const char* database) noexcept;

}  // namespace wallock::sqlite
