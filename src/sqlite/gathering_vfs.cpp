#include "sqlite/gathering_vfs.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>

#include "sqlite/gathered_frames.hpp"

namespace wallock::sqlite {
namespace {

// An open file. The default VFS's own lies apart, since that VFS may be another one tomorrow.
struct File {
  sqlite3_file head;  // first: what SQLite knows of it
  sqlite3_file* real;
  GatheredFrames* frames;  // a log's own; a database's are those of its log while that is open
  File* database;          // of a log
};
static_assert(std::is_standard_layout_v<File>);

File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
sqlite3_file* real(sqlite3_file* file) { return of(file).real; }

// Calls a method of the file below.
template <auto Method, class... Args>
int pass(sqlite3_file* file, Args... args) {
  return (real(file)->pMethods->*Method)(real(file), args...);
}

// The same for a log, once what was gathered is in it.
template <auto Method, class... Args>
int pass_after_frames(sqlite3_file* file, Args... args) {
  if (const int result = of(file).frames->write_out(); result != SQLITE_OK) return result;
  return pass<Method>(file, args...);
}

int write_log(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  return of(file).frames->write(static_cast<const char*>(bytes), count, offset);
}

int close(sqlite3_file* file) {
  File& self = of(file);
  const int result = self.real->pMethods->xClose(self.real);
  sqlite3_free(self.real);
  if (self.database != nullptr) {
    self.database->frames = nullptr;
    delete self.frames;
  }
  return result;
}

// The end of a write transaction: what it gathered and did not commit is forgotten, before another
// process can write at its place.
constexpr int write_lock = 0;  // of the locks on shared memory (SQLite's WAL_WRITE_LOCK)

int lock_index(sqlite3_file* file, int first, int count, int flags) {
  File& self = of(file);
  const bool unlocks = (flags & SQLITE_SHM_UNLOCK) != 0;
  if (unlocks && first == write_lock && self.frames != nullptr) self.frames->end_transaction();
  return self.real->pMethods->xShmLock(self.real, first, count, flags);
}

int map_index(sqlite3_file* file, int region, int size, int extend, volatile void** memory) {
  return pass<&sqlite3_io_methods::xShmMap>(file, region, size, extend, memory);
}
void barrier(sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); }

int fetch(sqlite3_file* file, sqlite3_int64 offset, int count, void** memory) {
  return pass<&sqlite3_io_methods::xFetch>(file, offset, count, memory);
}
int unfetch(sqlite3_file* file, sqlite3_int64 offset, void* memory) {
  return pass<&sqlite3_io_methods::xUnfetch>(file, offset, memory);
}

// SQLite must find no method that the file below does not have: one table for each version.
consteval sqlite3_io_methods methods_of(int version) {
  using M = sqlite3_io_methods;
  return {.iVersion = version,
          .xClose = &close,
          .xRead = &pass<&M::xRead, void*, int, sqlite3_int64>,
          .xWrite = &pass<&M::xWrite, const void*, int, sqlite3_int64>,
          .xTruncate = &pass<&M::xTruncate, sqlite3_int64>,
          .xSync = &pass<&M::xSync, int>,
          .xFileSize = &pass<&M::xFileSize, sqlite3_int64*>,
          .xLock = &pass<&M::xLock, int>,
          .xUnlock = &pass<&M::xUnlock, int>,
          .xCheckReservedLock = &pass<&M::xCheckReservedLock, int*>,
          .xFileControl = &pass<&M::xFileControl, int, void*>,
          .xSectorSize = &pass<&M::xSectorSize>,
          .xDeviceCharacteristics = &pass<&M::xDeviceCharacteristics>,
          .xShmMap = version < 2 ? nullptr : &map_index,
          .xShmLock = version < 2 ? nullptr : &lock_index,
          .xShmBarrier = version < 2 ? nullptr : &barrier,
          .xShmUnmap = version < 2 ? nullptr : &pass<&M::xShmUnmap, int>,
          .xFetch = version < 3 ? nullptr : &fetch,
          .xUnfetch = version < 3 ? nullptr : &unfetch};
}

consteval sqlite3_io_methods log_methods() {
  using M = sqlite3_io_methods;
  sqlite3_io_methods methods = methods_of(1);
  methods.xRead = &pass_after_frames<&M::xRead, void*, int, sqlite3_int64>;
  methods.xWrite = &write_log;
  methods.xTruncate = &pass_after_frames<&M::xTruncate, sqlite3_int64>;
  methods.xSync = &pass_after_frames<&M::xSync, int>;
  methods.xFileSize = &pass_after_frames<&M::xFileSize, sqlite3_int64*>;
  return methods;
}

constexpr sqlite3_io_methods plain[] = {methods_of(1), methods_of(2), methods_of(3)};
constexpr sqlite3_io_methods gathering = log_methods();

sqlite3_vfs& below() { return *sqlite3_vfs_find(nullptr); }

int open_below(sqlite3_vfs& vfs, const char* name, File& self, int flags, int* answer) {
  self.real =
      static_cast<sqlite3_file*>(sqlite3_malloc64(static_cast<sqlite3_uint64>(vfs.szOsFile)));
  if (self.real == nullptr) return SQLITE_NOMEM;
  self.real->pMethods = nullptr;
  int result = vfs.xOpen(&vfs, name, self.real, flags, answer);
  if (result == SQLITE_OK && (flags & SQLITE_OPEN_WAL) != 0) {
    self.frames = new (std::nothrow) GatheredFrames(*self.real);
    if (self.frames == nullptr) result = SQLITE_NOMEM;
  }
  if (result == SQLITE_OK) return result;
  if (self.real->pMethods != nullptr) self.real->pMethods->xClose(self.real);
  sqlite3_free(self.real);
  return result;
}

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* answer) {
  File& self = *new (file) File{};
  if (const int result = open_below(below(), name, self, flags, answer); result != SQLITE_OK) {
    return result;
  }
  if (self.frames != nullptr) {
    self.database = &of(sqlite3_database_file_object(name));
    self.database->frames = self.frames;
    self.head.pMethods = &gathering;
  } else {
    self.head.pMethods = &plain[std::clamp(self.real->pMethods->iVersion, 1, 3) - 1];
  }
  return SQLITE_OK;
}

int remove(sqlite3_vfs*, const char* name, int flush) {
  return below().xDelete(&below(), name, flush);
}
int access(sqlite3_vfs*, const char* name, int flags, int* answer) {
  return below().xAccess(&below(), name, flags, answer);
}
int full_name(sqlite3_vfs*, const char* name, int size, char* answer) {
  return below().xFullPathname(&below(), name, size, answer);
}
int randomness(sqlite3_vfs*, int size, char* bytes) {
  return below().xRandomness(&below(), size, bytes);
}
int sleep(sqlite3_vfs*, int microseconds) { return below().xSleep(&below(), microseconds); }
int current_time(sqlite3_vfs*, double* time) {  // float-ok: SQLite's own signature
  return below().xCurrentTime(&below(), time);
}
int last_error(sqlite3_vfs*, int size, char* text) {
  return below().xGetLastError == nullptr ? 0 : below().xGetLastError(&below(), size, text);
}
int current_time_64(sqlite3_vfs*, sqlite3_int64* time) {
  return below().xCurrentTimeInt64(&below(), time);
}

// Extensions are loaded by way of it too.
void* load(sqlite3_vfs*, const char* name) { return below().xDlOpen(&below(), name); }
void load_error(sqlite3_vfs*, int size, char* text) { below().xDlError(&below(), size, text); }
void unload(sqlite3_vfs*, void* library) { below().xDlClose(&below(), library); }
using Symbol = void (*)();
Symbol symbol(sqlite3_vfs*, void* library, const char* name) {
  return below().xDlSym(&below(), library, name);
}

sqlite3_vfs described() {
  sqlite3_vfs vfs{};
  vfs.iVersion = std::min(below().iVersion, 2);
  vfs.szOsFile = sizeof(File);
  vfs.mxPathname = below().mxPathname;
  vfs.zName = "wallock-gathering";
  vfs.xOpen = &open;
  vfs.xDelete = &remove;
  vfs.xAccess = &access;
  vfs.xFullPathname = &full_name;
  vfs.xDlOpen = &load;
  vfs.xDlError = &load_error;
  vfs.xDlSym = &symbol;
  vfs.xDlClose = &unload;
  vfs.xRandomness = &randomness;
  vfs.xSleep = &sleep;
  vfs.xCurrentTime = &current_time;
  vfs.xGetLastError = &last_error;
  vfs.xCurrentTimeInt64 = &current_time_64;
  return vfs;
}

// Leaves SQLite's list when this code does; connections that are open do without the list.
class Registered {
 public:
  Registered() noexcept {
    if (sqlite3_vfs_find(nullptr) == nullptr) return;  // SQLite did not start
    vfs_ = described();
    registered_ = sqlite3_vfs_register(&vfs_, 0) == SQLITE_OK;
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  ~Registered() {
    if (registered_) sqlite3_vfs_unregister(&vfs_);
  }

  [[nodiscard]] const char* name() const noexcept { return registered_ ? vfs_.zName : nullptr; }

 private:
  sqlite3_vfs vfs_{};
  bool registered_ = false;
};

}  // namespace

const char* gathering_vfs() noexcept {
  static const Registered registered;
  return registered.name();
}

}  // namespace wallock::sqlite
