#include "fault_vfs.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace wallock::test {
namespace {

thread_local bool in_window = false;

bool can_fail(FileCall call, Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::io_error:
      return call < FileCall::unfetch;
    case Fault::Kind::full:
      return call == FileCall::write;
    case Fault::Kind::short_read:
      return call == FileCall::read;
    case Fault::Kind::busy:
      return call == FileCall::lock || call == FileCall::index_lock;
  }
  return false;
}

int io_error_of(FileCall call) {
  switch (call) {
    case FileCall::open:
      return SQLITE_CANTOPEN;
    case FileCall::read:
      return SQLITE_IOERR_READ;
    case FileCall::write:
      return SQLITE_IOERR_WRITE;
    case FileCall::truncate:
      return SQLITE_IOERR_TRUNCATE;
    case FileCall::flush:
      return SQLITE_IOERR_FSYNC;
    case FileCall::size:
      return SQLITE_IOERR_FSTAT;
    case FileCall::remove:
      return SQLITE_IOERR_DELETE;
    case FileCall::access:
      return SQLITE_IOERR_ACCESS;
    case FileCall::lock:
      return SQLITE_IOERR_LOCK;
    case FileCall::index_map:
      return SQLITE_IOERR_SHMMAP;
    case FileCall::index_lock:
      return SQLITE_IOERR_SHMLOCK;
    default:  // windows
      return SQLITE_IOERR;
  }
}

int code_of(FileCall call, Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::io_error:
      return io_error_of(call);
    case Fault::Kind::full:
      return SQLITE_FULL;
    case Fault::Kind::short_read:
      return SQLITE_IOERR_SHORT_READ;
    case Fault::Kind::busy:
      return SQLITE_BUSY;
  }
  return SQLITE_IOERR;
}

}  // namespace

// An open file: SQLite's own lies in memory right behind it.
struct FaultFile {
  sqlite3_file base;
  const char* path;     // SQLite's, as long as the file is open; null for a temporary one
  bool new_name;        // its first flush is one of the folder too, as in SQLite's unix VFS
  std::uint64_t heard;  // of the writes that failed behind everybody's back

  static FaultFile& of(sqlite3_file* file) { return *reinterpret_cast<FaultFile*>(file); }
  [[nodiscard]] sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  [[nodiscard]] std::string_view name() const { return path == nullptr ? "" : path; }
};

// What SQLite calls. Databases have shared memory, logs and journals have none: two tables, or
// SQLite would take a log for a database.
struct Methods {
  static FaultVfs& vfs() { return FaultVfs::instance(); }

  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
    auto& self = *new (file) FaultFile{};
    self.path = name;
    if (const int failed = vfs().meet(FileCall::open, name); failed != SQLITE_OK) return failed;
    sqlite3_vfs* const usual = vfs().usual_;
    const int result = usual->xOpen(usual, name, self.real(), flags, out);
    const sqlite3_io_methods* const real = self.real()->pMethods;
    if (real != nullptr) self.base.pMethods = real->xShmMap != nullptr ? &database : &plain;
    constexpr int journals = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
    self.new_name = (flags & journals) != 0 && (flags & SQLITE_OPEN_CREATE) != 0;
    static_cast<void>(vfs().hears(self));  // of what is over
    if (result == SQLITE_OK && name != nullptr && (flags & SQLITE_OPEN_CREATE) != 0) {
      vfs().log(DiskEvent::Kind::create, name);
    }
    return result;
  }
  static int remove(sqlite3_vfs*, const char* name, int flush_names) {
    if (const int failed = vfs().meet(FileCall::remove, name); failed != SQLITE_OK) return failed;
    sqlite3_vfs* const usual = vfs().usual_;
    const int result = usual->xDelete(usual, name, flush_names);
    if (result == SQLITE_OK) vfs().log(DiskEvent::Kind::remove, name);
    if (result == SQLITE_OK && flush_names != 0) vfs().log(DiskEvent::Kind::flush_names, name);
    return result;
  }
  static int access(sqlite3_vfs*, const char* name, int flags, int* answer) {
    if (const int failed = vfs().meet(FileCall::access, name); failed != SQLITE_OK) return failed;
    sqlite3_vfs* const usual = vfs().usual_;
    return usual->xAccess(usual, name, flags, answer);
  }
  // SQLite waits by itself where a lock of the log's index is busy: not for one that never is free.
  static int sleep(sqlite3_vfs*, int microseconds) {
    sqlite3_vfs* const usual = vfs().usual_;
    return vfs().is_armed() ? microseconds : usual->xSleep(usual, microseconds);
  }

  static int close(sqlite3_file* file) {
    sqlite3_file* const real = FaultFile::of(file).real();
    return real->pMethods->xClose(real);
  }
  // Of a database SQLite takes a short read for pages that are not written yet, and goes on with
  // zeros: there, half of the page comes with an error.
  static int read(sqlite3_file* file, void* data, int size, sqlite3_int64 offset) {
    auto& self = FaultFile::of(file);
    const int failed = vfs().meet(FileCall::read, self.path);
    if (failed != SQLITE_OK && failed != SQLITE_IOERR_SHORT_READ) return failed;
    const int result = self.real()->pMethods->xRead(self.real(), data, size, offset);
    if (failed == SQLITE_OK || result != SQLITE_OK) return result;
    auto* const bytes = static_cast<char*>(data);
    std::fill(bytes + size / 2, bytes + size, '\0');
    return self.base.pMethods == &database ? SQLITE_IOERR_READ : failed;
  }
  static int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
    auto& self = FaultFile::of(file);
    const int failed = vfs().meet(FileCall::write, self.path);
    const int length = failed == SQLITE_OK ? size : size / 2;
    int result = SQLITE_OK;
    if (length > 0) {
      result = self.real()->pMethods->xWrite(self.real(), data, length, offset);
    }
    if (result == SQLITE_OK && length > 0) {
      vfs().log(DiskEvent::Kind::write, self.name(), static_cast<std::uint64_t>(offset),
                std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(length)));
    }
    static_cast<void>(vfs().meet(FileCall::written, self.path));
    return failed != SQLITE_OK ? failed : result;
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    auto& self = FaultFile::of(file);
    if (const int failed = vfs().meet(FileCall::truncate, self.path); failed != SQLITE_OK) {
      return failed;
    }
    const int result = self.real()->pMethods->xTruncate(self.real(), size);
    if (result == SQLITE_OK) {
      vfs().log(DiskEvent::Kind::truncate, self.name(), static_cast<std::uint64_t>(size));
    }
    return result;
  }
  // The files lie where flushing is free, and what a flush is worth is the log's to say.
  static int flush(sqlite3_file* file, int /*flags*/) {
    auto& self = FaultFile::of(file);
    if (const int failed = vfs().meet(FileCall::flush, self.path); failed != SQLITE_OK) {
      return failed;
    }
    if (vfs().hears(self)) return SQLITE_IOERR_FSYNC;
    vfs().log(DiskEvent::Kind::flush, self.name());
    if (std::exchange(self.new_name, false)) vfs().log(DiskEvent::Kind::flush_names, self.name());
    static_cast<void>(vfs().meet(FileCall::flushed, self.path));
    return SQLITE_OK;
  }
  static int size(sqlite3_file* file, sqlite3_int64* size) {
    auto& self = FaultFile::of(file);
    if (const int failed = vfs().meet(FileCall::size, self.path); failed != SQLITE_OK) {
      return failed;
    }
    return self.real()->pMethods->xFileSize(self.real(), size);
  }
  static int lock(sqlite3_file* file, int level) {
    auto& self = FaultFile::of(file);
    if (const int failed = vfs().meet(FileCall::lock, self.path, level); failed != SQLITE_OK) {
      return failed;
    }
    return self.real()->pMethods->xLock(self.real(), level);
  }
  static int unlock(sqlite3_file* file, int level) {
    sqlite3_file* const real = FaultFile::of(file).real();
    return real->pMethods->xUnlock(real, level);
  }
  static int reserved(sqlite3_file* file, int* answer) {
    sqlite3_file* const real = FaultFile::of(file).real();
    return real->pMethods->xCheckReservedLock(real, answer);
  }
  static int control(sqlite3_file* file, int operation, void* argument) {
    sqlite3_file* const real = FaultFile::of(file).real();
    return real->pMethods->xFileControl(real, operation, argument);
  }
  static int sector_size(sqlite3_file* file) {
    sqlite3_file* const real = FaultFile::of(file).real();
    return real->pMethods->xSectorSize(real);
  }
  static int characteristics(sqlite3_file* file) {
    sqlite3_file* const real = FaultFile::of(file).real();
    return real->pMethods->xDeviceCharacteristics(real);
  }
  static int shm_map(sqlite3_file* file, int region, int size, int extend, volatile void** memory) {
    auto& self = FaultFile::of(file);
    if (const int failed = vfs().meet(FileCall::index_map, self.path); failed != SQLITE_OK) {
      return failed;
    }
    return self.real()->pMethods->xShmMap(self.real(), region, size, extend, memory);
  }
  static int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
    auto& self = FaultFile::of(file);
    if ((flags & SQLITE_SHM_LOCK) != 0) {
      const int failed = vfs().meet(FileCall::index_lock, self.path, offset);
      if (failed != SQLITE_OK) return failed;
    }
    return self.real()->pMethods->xShmLock(self.real(), offset, count, flags);
  }
  static void shm_barrier(sqlite3_file* file) {
    sqlite3_file* const real = FaultFile::of(file).real();
    real->pMethods->xShmBarrier(real);
  }
  static int shm_unmap(sqlite3_file* file, int remove_it) {
    sqlite3_file* const real = FaultFile::of(file).real();
    return real->pMethods->xShmUnmap(real, remove_it);
  }
  static int fetch(sqlite3_file* file, sqlite3_int64 offset, int size, void** memory) {
    sqlite3_file* const real = FaultFile::of(file).real();
    return real->pMethods->xFetch(real, offset, size, memory);
  }
  static int unfetch(sqlite3_file* file, sqlite3_int64 offset, void* memory) {
    auto& self = FaultFile::of(file);
    static_cast<void>(vfs().meet(FileCall::unfetch, self.path));
    return self.real()->pMethods->xUnfetch(self.real(), offset, memory);
  }

  static constexpr sqlite3_io_methods plain{
      1,       &close,  &read,     &write,   &truncate,    &flush,           &size,
      &lock,   &unlock, &reserved, &control, &sector_size, &characteristics, nullptr,
      nullptr, nullptr, nullptr,   nullptr,  nullptr};
  static constexpr sqlite3_io_methods database{
      3,         &close,       &read,      &write,   &truncate,    &flush,           &size,
      &lock,     &unlock,      &reserved,  &control, &sector_size, &characteristics, &shm_map,
      &shm_lock, &shm_barrier, &shm_unmap, &fetch,   &unfetch};
};

FaultVfs& FaultVfs::instance() {
  static auto* const made = new FaultVfs;  // SQLite keeps it to the end of the process
  return *made;
}

FaultVfs::FaultVfs() : usual_(sqlite3_vfs_find(nullptr)), vfs_(*usual_) {
  vfs_.zName = "wallock-test-faults";
  vfs_.szOsFile = static_cast<int>(sizeof(FaultFile)) + usual_->szOsFile;
  vfs_.xOpen = &Methods::open;
  vfs_.xDelete = &Methods::remove;
  vfs_.xAccess = &Methods::access;
  vfs_.xSleep = &Methods::sleep;
  sqlite3_vfs_register(&vfs_, 1);
}

bool FaultVfs::is_recorded(std::string_view path) const {
  return log_ != nullptr && path.starts_with(folder_) && !path.ends_with("-shm");
}

void FaultVfs::record(const std::string& folder, DiskLog& log) {
  const std::lock_guard lock(mutex_);
  log_ = &log;
  folder_ = folder + "/";
  numbers_.clear();
  files_ = 0;
  for (const auto& [name, content] : log.before())
    numbers_[name] = files_++;
}

void FaultVfs::stop_recording() {
  const std::lock_guard lock(mutex_);
  log_ = nullptr;
}

void FaultVfs::note_answer(std::uint64_t answers) {
  const std::lock_guard lock(mutex_);
  if (log_ != nullptr) log_->add({.kind = DiskEvent::Kind::answer, .offset = answers});
}

// Nothing is allocated unless it is recorded: SQLite, in between, would not survive an exception.
void FaultVfs::log(DiskEvent::Kind kind, std::string_view path, std::uint64_t offset,
                   std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (!is_recorded(path)) return;
  const std::string name(path.substr(folder_.size()));
  DiskEvent event{.kind = kind, .offset = offset, .bytes = std::string(bytes)};
  if (kind == DiskEvent::Kind::create) {
    if (numbers_.contains(name)) return;
    numbers_[name] = files_++;
    event.bytes = name;
  } else if (kind == DiskEvent::Kind::remove) {
    numbers_.erase(name);
    event.bytes = name;
  } else if (kind != DiskEvent::Kind::flush_names) {
    const auto number = numbers_.find(name);
    if (number == numbers_.end()) return;  // it was deleted while open: nobody will see it again
    event.file = number->second;
  }
  log_->add(std::move(event));
}

void FaultVfs::arm(const Fault& fault) {
  const std::lock_guard lock(mutex_);
  armed_ = true;
  paused_ = false;
  fault_ = fault;
  calls_ = 0;
  injected_ = 0;
}

void FaultVfs::disarm() {
  const std::lock_guard lock(mutex_);
  armed_ = false;
}

void FaultVfs::pause(bool paused) {
  const std::lock_guard lock(mutex_);
  paused_ = paused;
}

bool FaultVfs::is_armed() const {
  const std::lock_guard lock(mutex_);
  return armed_ && !paused_;
}

std::uint64_t FaultVfs::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

std::uint64_t FaultVfs::injected() const {
  const std::lock_guard lock(mutex_);
  return injected_;
}

void FaultVfs::lose_writes(const std::string& path) {
  const std::lock_guard lock(mutex_);
  lost_path_ = path;
  ++losses_;
}

bool FaultVfs::hears(FaultFile& file) {
  const std::lock_guard lock(mutex_);
  return file.name() == lost_path_ && std::exchange(file.heard, losses_) != losses_;
}

void FaultVfs::watch(Window window) {
  const std::lock_guard lock(mutex_);
  window_ = std::make_shared<Window>(std::move(window));
}

void FaultVfs::stop_watching() {
  const std::lock_guard lock(mutex_);
  window_.reset();
}

int FaultVfs::meet(FileCall call, const char* path, int detail) {
  std::shared_ptr<Window> window;
  int result = SQLITE_OK;
  {
    const std::lock_guard lock(mutex_);
    window = window_;
    if (armed_ && !paused_ && can_fail(call, fault_.kind)) {
      const std::uint64_t number = calls_++;
      if (number == fault_.at || number == fault_.then || (fault_.for_ever && number > fault_.at)) {
        ++injected_;
        result = code_of(call, fault_.kind);
      }
    }
  }
  if (window && !in_window) {
    in_window = true;
    (*window)(call, path == nullptr ? std::string_view() : std::string_view(path), detail);
    in_window = false;
  }
  return result;
}

}  // namespace wallock::test
