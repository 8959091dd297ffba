// FrontVfs: SQLite's usual files behind a way of its own to open them.
#pragma once

#include <sqlite3.h>

namespace wallock::test {

// While it lives, the process's default VFS is a copy of the usual one with another xOpen. One at a
// time; the databases are closed before it ends.
class FrontVfs {
 public:
  FrontVfs(const char* name, decltype(sqlite3_vfs::xOpen) open)
      : usual_(sqlite3_vfs_find(nullptr)), vfs_(*usual_) {
    vfs_.zName = name;
    vfs_.xOpen = open;
    sqlite3_vfs_register(&vfs_, 1);
  }
  FrontVfs(const FrontVfs&) = delete;
  FrontVfs& operator=(const FrontVfs&) = delete;
  ~FrontVfs() {
    sqlite3_vfs_register(usual_, 1);
    sqlite3_vfs_unregister(&vfs_);
  }
  [[nodiscard]] sqlite3_vfs* usual() const noexcept { return usual_; }

 private:
  sqlite3_vfs* usual_;
  sqlite3_vfs vfs_;
};

}  // namespace wallock::test
