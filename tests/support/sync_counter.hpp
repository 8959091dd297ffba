// SyncCounter: how often SQLite asks the system to flush a write-ahead log.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>

#include "front_vfs.hpp"

namespace wallock::test {

// While it lives, every database that is opened counts the flushes of its log here. One at a time;
// the databases are closed before it ends.
class SyncCounter {
 public:
  SyncCounter() { shared().usual = vfs_.usual(); }
  SyncCounter(const SyncCounter&) = delete;
  SyncCounter& operator=(const SyncCounter&) = delete;
  ~SyncCounter() { shared().delay = 0; }
  // From now on each flush takes that much longer.
  void slow_down(std::chrono::milliseconds by) { shared().delay = by.count(); }
  // Since the last time it was asked.
  [[nodiscard]] std::uint64_t taken() const { return shared().count.exchange(0); }

 private:
  struct Shared {
    sqlite3_vfs* usual = nullptr;
    std::mutex opening;
    const sqlite3_io_methods* usual_log = nullptr;  // all logs have the same
    sqlite3_io_methods log{};                       // with a sync that counts
    std::atomic<std::uint64_t> count{0};
    std::atomic<std::chrono::milliseconds::rep> delay{0};
  };
  static Shared& shared() {
    static Shared instance;
    return instance;
  }
  static int open(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags, int* out) {
    Shared& s = shared();
    const int result = s.usual->xOpen(s.usual, name, file, flags, out);
    if (result == SQLITE_OK && (flags & SQLITE_OPEN_WAL) != 0) {
      const std::lock_guard lock(s.opening);
      if (file->pMethods != s.usual_log) {
        s.usual_log = file->pMethods;
        s.log = *s.usual_log;
        s.log.xSync = &SyncCounter::sync;
      }
      file->pMethods = &s.log;
    }
    return result;
  }
  static int sync(sqlite3_file* file, int flags) {
    ++shared().count;
    std::this_thread::sleep_for(std::chrono::milliseconds(shared().delay.load()));
    return shared().usual_log->xSync(file, flags);
  }

  FrontVfs vfs_{"wallock-test-sync-counter", &SyncCounter::open};
};

}  // namespace wallock::test
