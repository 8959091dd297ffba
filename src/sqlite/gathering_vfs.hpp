// A VFS that writes a transaction's frames to the log with one call. SQLite's own way makes two for
// every page, its frame's header and the page, each of them as dear as the one that does it all.
#pragma once

namespace wallock::sqlite {

// Registers the VFS on the first call and answers its name, to open write connections with; null if
// memory for it ran out, which is the name of the default one. Everything but the log's writes goes
// straight on to the VFS that is the default when a file is opened. Thread-safe.
//
// What is gathered is written before the call that ends a commit's last frame returns, so that its
// errors are the commit's own; before anything else is asked of the log; and never after the end of
// the transaction, when the log is another process's to write.
[[nodiscard]] const char* gathering_vfs() noexcept;

}  // namespace wallock::sqlite
