// has_wal_reset_bug: whether a SQLite can lose commits when its log starts over.
#pragma once

namespace wallock::sqlite {

// True for SQLite 3.7.0 to 3.51.2 (sqlite3_libversion_number), but for the older branches that got
// the fix, 3.44.6 and 3.50.7: https://sqlite.org/wal.html#walresetbug. The library's checkpoints
// avoid it (Checkpointer); those of other programs on the same file do not.
[[nodiscard]] constexpr bool has_wal_reset_bug(int version) noexcept {
  const bool fixed = version >= 3051003 || (version >= 3050007 && version < 3051000) ||
                     (version >= 3044006 && version < 3045000);
  return version >= 3007000 && !fixed;
}

}  // namespace wallock::sqlite
