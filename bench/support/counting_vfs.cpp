#include "counting_vfs.hpp"

#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

namespace wallock::bench {
namespace {

enum class FileKind { database, log, other };

// The last thing that happened to a log or its database, by which a flush is told apart.
enum class Event { none, frame_write, head_write, log_flush, database_write };

struct State {
  std::mutex mutex;
  IoCounts counts;
  Event last = Event::none;
};

State& state() {
  static State instance;
  return instance;
}

// Ours and the real file share one allocation: SQLite asks for szOsFile bytes per file. The table
// of methods is made per file, because the platform's VFS has one for database files (with shared
// memory) and another one for logs (without), and SQLite looks for the missing entries.
struct CountingFile {
  sqlite3_file base;
  sqlite3_io_methods methods;
  FileKind kind;
};

CountingFile& ours(sqlite3_file* file) { return *reinterpret_cast<CountingFile*>(file); }

sqlite3_file* real(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<CountingFile*>(file) + 1);
}

const sqlite3_io_methods& methods(sqlite3_file* file) { return *real(file)->pMethods; }

void note_write(FileKind kind, int bytes, sqlite3_int64 offset) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (kind == FileKind::log) {
    ++s.counts.log_writes;
    s.counts.log_bytes += bytes;
    s.last = offset == 0 ? Event::head_write : Event::frame_write;
  } else if (kind == FileKind::database) {
    ++s.counts.database_writes;
    s.counts.database_bytes += bytes;
    // The flush just before the first page copied was the checkpoint's own, not a COMMIT's.
    if (s.last == Event::log_flush) {
      --s.counts.log_flushes;
      ++s.counts.checkpoint_flushes;
    }
    s.last = Event::database_write;
  }
}

void note_flush(FileKind kind) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (kind == FileKind::database || (kind == FileKind::log && s.last == Event::head_write)) {
    ++s.counts.checkpoint_flushes;
    s.last = Event::none;
  } else if (kind == FileKind::log) {
    ++s.counts.log_flushes;
    s.last = Event::log_flush;
  }
}

int close_file(sqlite3_file* file) { return methods(file).xClose(real(file)); }
int read_file(sqlite3_file* file, void* data, int bytes, sqlite3_int64 offset) {
  return methods(file).xRead(real(file), data, bytes, offset);
}
int write_file(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 offset) {
  note_write(ours(file).kind, bytes, offset);
  return methods(file).xWrite(real(file), data, bytes, offset);
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  return methods(file).xTruncate(real(file), size);
}
int sync_file(sqlite3_file* file, int flags) {
  note_flush(ours(file).kind);
  return methods(file).xSync(real(file), flags);
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return methods(file).xFileSize(real(file), size);
}
int lock_file(sqlite3_file* file, int level) { return methods(file).xLock(real(file), level); }
int unlock_file(sqlite3_file* file, int level) { return methods(file).xUnlock(real(file), level); }
int check_lock(sqlite3_file* file, int* held) {
  return methods(file).xCheckReservedLock(real(file), held);
}
int control_file(sqlite3_file* file, int operation, void* argument) {
  return methods(file).xFileControl(real(file), operation, argument);
}
int sector_size(sqlite3_file* file) { return methods(file).xSectorSize(real(file)); }
int characteristics(sqlite3_file* file) { return methods(file).xDeviceCharacteristics(real(file)); }
int shm_map(sqlite3_file* file, int page, int size, int extend, volatile void** address) {
  return methods(file).xShmMap(real(file), page, size, extend, address);
}
int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return methods(file).xShmLock(real(file), offset, count, flags);
}
void shm_barrier(sqlite3_file* file) { methods(file).xShmBarrier(real(file)); }
int shm_unmap(sqlite3_file* file, int remove) {
  return methods(file).xShmUnmap(real(file), remove);
}
int fetch(sqlite3_file* file, sqlite3_int64 offset, int bytes, void** address) {
  return methods(file).xFetch(real(file), offset, bytes, address);
}
int unfetch(sqlite3_file* file, sqlite3_int64 offset, void* address) {
  return methods(file).xUnfetch(real(file), offset, address);
}

// Our entry where the real file has one, nothing where it has none.
sqlite3_io_methods counting_methods(const sqlite3_io_methods& real_ones) {
  sqlite3_io_methods own{};
  own.iVersion = real_ones.iVersion < 3 ? real_ones.iVersion : 3;
  own.xClose = close_file;
  own.xRead = read_file;
  own.xWrite = write_file;
  own.xTruncate = truncate_file;
  own.xSync = sync_file;
  own.xFileSize = file_size;
  own.xLock = lock_file;
  own.xUnlock = unlock_file;
  own.xCheckReservedLock = check_lock;
  own.xFileControl = control_file;
  own.xSectorSize = sector_size;
  own.xDeviceCharacteristics = characteristics;
  if (own.iVersion >= 2 && real_ones.xShmMap != nullptr) {
    own.xShmMap = shm_map;
    own.xShmLock = shm_lock;
    own.xShmBarrier = shm_barrier;
    own.xShmUnmap = shm_unmap;
  }
  if (own.iVersion >= 3 && real_ones.xFetch != nullptr) {
    own.xFetch = fetch;
    own.xUnfetch = unfetch;
  }
  return own;
}

sqlite3_vfs*& platform_vfs() {
  static sqlite3_vfs* vfs = nullptr;
  return vfs;
}

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  auto* own = new (file) CountingFile{};
  real(file)->pMethods = nullptr;
  const int rc = platform_vfs()->xOpen(platform_vfs(), name, real(file), flags, out_flags);
  if (real(file)->pMethods == nullptr) return rc;
  own->kind = (flags & SQLITE_OPEN_MAIN_DB) != 0 ? FileKind::database
              : (flags & SQLITE_OPEN_WAL) != 0   ? FileKind::log
                                                 : FileKind::other;
  own->methods = counting_methods(*real(file)->pMethods);
  own->base.pMethods = &own->methods;
  return rc;
}

// Everything but opening is the platform's own: its methods use nothing of the object that they
// are called on but what was copied from it.
sqlite3_vfs& counting_vfs() {
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs copy = *platform_vfs();
    copy.zName = "wallock_counting";
    copy.szOsFile += static_cast<int>(sizeof(CountingFile));
    copy.xOpen = open_file;
    copy.pNext = nullptr;
    return copy;
  }();
  return vfs;
}

void require(int rc) {
  if (rc == SQLITE_OK) return;
  std::fprintf(stderr, "the counting VFS was refused: %s\n", sqlite3_errstr(rc));
  std::exit(EXIT_FAILURE);
}

}  // namespace

void install_counting_vfs() {
  if (platform_vfs() == nullptr) platform_vfs() = sqlite3_vfs_find(nullptr);
  {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    s.counts = {};
    s.last = Event::none;
  }
  require(sqlite3_vfs_register(&counting_vfs(), 1));
}

void remove_counting_vfs() {
  require(sqlite3_vfs_register(platform_vfs(), 1));
  require(sqlite3_vfs_unregister(&counting_vfs()));
}

IoCounts io_counts() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.counts;
}

}  // namespace wallock::bench
