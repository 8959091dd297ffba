#include "machine_vfs.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "machine.hpp"

namespace wallock::test {
namespace {

struct VfsFile {
  sqlite3_file base;
  OpenFile* opened;
};

OpenFile& of(sqlite3_file* file) { return *reinterpret_cast<VfsFile*>(file)->opened; }
Machine& on(sqlite3_file* file) { return *of(file).machine; }

int close(sqlite3_file* file) { return on(file).close(&of(file)); }
int read(sqlite3_file* file, void* data, int count, sqlite3_int64 offset) {
  return on(file).read(of(file), data, count, offset);
}
int write(sqlite3_file* file, const void* data, int count, sqlite3_int64 offset) {
  return on(file).write(of(file), data, count, offset);
}
int truncate(sqlite3_file* file, sqlite3_int64 size) { return on(file).truncate(of(file), size); }
int flush(sqlite3_file* file, int /*flags*/) { return on(file).flush(of(file)); }
int size(sqlite3_file* file, sqlite3_int64* size) {
  std::int64_t found = 0;
  const int result = on(file).size(of(file), found);
  *size = found;
  return result;
}
int lock(sqlite3_file* file, int level) { return on(file).lock(of(file), level); }
int unlock(sqlite3_file* file, int level) { return on(file).unlock(of(file), level); }
int reserved(sqlite3_file* file, int* answer) { return on(file).is_reserved(of(file), *answer); }
int control(sqlite3_file* /*file*/, int operation, void* argument) {
  if (operation != SQLITE_FCNTL_HAS_MOVED) return SQLITE_NOTFOUND;
  *static_cast<int*>(argument) = 0;
  return SQLITE_OK;
}
int sector_size(sqlite3_file*) { return 4096; }
// As SQLite's unix VFS says: bytes beside those that are written stay what they are.
int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int map_index(sqlite3_file* file, int region, int /*size*/, int extend, volatile void** memory) {
  return on(file).map_index(of(file), region, extend != 0, *memory);
}
int lock_index(sqlite3_file* file, int first, int count, int flags) {
  if ((flags & SQLITE_SHM_UNLOCK) != 0) return on(file).unlock_index(of(file), first, count);
  return on(file).lock_index(of(file), first, count, (flags & SQLITE_SHM_EXCLUSIVE) != 0);
}
void barrier(sqlite3_file* file) { on(file).barrier(of(file)); }
int unmap_index(sqlite3_file* file, int remove) {
  return on(file).unmap_index(of(file), remove != 0);
}

// Databases have an index, logs and journals have none: SQLite tells them apart by that.
constexpr sqlite3_io_methods methods_of(bool with_index) {
  return {.iVersion = with_index ? 2 : 1,
          .xClose = &close,
          .xRead = &read,
          .xWrite = &write,
          .xTruncate = &truncate,
          .xSync = &flush,
          .xFileSize = &size,
          .xLock = &lock,
          .xUnlock = &unlock,
          .xCheckReservedLock = &reserved,
          .xFileControl = &control,
          .xSectorSize = &sector_size,
          .xDeviceCharacteristics = &characteristics,
          .xShmMap = with_index ? &map_index : nullptr,
          .xShmLock = with_index ? &lock_index : nullptr,
          .xShmBarrier = with_index ? &barrier : nullptr,
          .xShmUnmap = with_index ? &unmap_index : nullptr,
          .xFetch = nullptr,
          .xUnfetch = nullptr};
}
constexpr sqlite3_io_methods database_methods = methods_of(true);
constexpr sqlite3_io_methods other_methods = methods_of(false);

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* answer) {
  auto& self = *new (file) VfsFile{};
  Machine* const machine = Machine::running();
  if (machine == nullptr) return SQLITE_CANTOPEN;
  const int result = machine->open(name, flags, self.opened);
  if (result != SQLITE_OK) return result;
  self.base.pMethods = (flags & SQLITE_OPEN_MAIN_DB) != 0 ? &database_methods : &other_methods;
  if (answer != nullptr) *answer = flags;
  return SQLITE_OK;
}
int remove(sqlite3_vfs*, const char* name, int flush_names) {
  return Machine::running()->remove(name, flush_names != 0);
}
int access(sqlite3_vfs*, const char* name, int /*flags*/, int* answer) {
  return Machine::running()->access(name, *answer);
}
int full_name(sqlite3_vfs*, const char* name, int size, char* answer) {
  const std::size_t length = std::strlen(name);
  if (length >= static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
  std::copy_n(name, length + 1, answer);
  return SQLITE_OK;
}
int randomness(sqlite3_vfs*, int size, char* bytes) {
  Machine* const machine = Machine::running();
  std::generate_n(bytes, size, [&] {
    return machine == nullptr ? '\0' : static_cast<char>(machine->random().next());
  });
  return size;
}
int sleep(sqlite3_vfs*, int microseconds) {
  if (Machine::running() != nullptr) Machine::running()->sleep(microseconds);
  return microseconds;
}
int no_time(sqlite3_vfs*, sqlite3_int64* time) {
  *time = 0;
  return SQLITE_OK;
}

}  // namespace

void use_machine_vfs() {
  static sqlite3_vfs* const registered = [] {
    sqlite3_initialize();
    auto* const vfs = new sqlite3_vfs(*sqlite3_vfs_find(nullptr));  // SQLite keeps it for good
    vfs->iVersion = 2;
    vfs->szOsFile = sizeof(VfsFile);
    vfs->zName = "wallock-simulation";
    vfs->xOpen = &open;
    vfs->xDelete = &remove;
    vfs->xAccess = &access;
    vfs->xFullPathname = &full_name;
    vfs->xRandomness = &randomness;
    vfs->xSleep = &sleep;
    vfs->xCurrentTimeInt64 = &no_time;
    sqlite3_vfs_register(vfs, 1);
    return vfs;
  }();
  static_cast<void>(registered);
}

}  // namespace wallock::test
