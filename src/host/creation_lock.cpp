#include "host/creation_lock.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/filesystem.hpp"

#if !defined(F_OFD_SETLK)
#include <sys/file.h>
#endif

namespace wallock::host {
namespace {

constexpr Duration poll_interval = std::chrono::milliseconds(1);
constexpr mode_t private_mode = 0600;
constexpr mode_t permission_bits = 0777;

tl::unexpected<Error> unavailable(int native) {
  return fail(Error(Errc::store_unavailable, ErrorFacts{.native = native}));
}

// Lets whoever may use the database use the sidecar: the umask must not shut out a user who may
// write the database, nor a store that root touched first its owner. Only the file's owner can do
// this; a failure leaves the file as usable as it is.
void share(int file, const std::string& database) noexcept {
  struct stat like{};
  struct stat own{};
  if (stat(database.c_str(), &like) != 0 || fstat(file, &own) != 0) return;
  if (own.st_nlink != 1) return;  // under another name it is somebody else's file
  if (geteuid() == 0 && (own.st_uid != like.st_uid || own.st_gid != like.st_gid) &&
      fchown(file, like.st_uid, like.st_gid) != 0) {
    return;
  }
  const mode_t mode = like.st_mode & permission_bits;
  if ((own.st_mode & permission_bits) != mode) static_cast<void>(fchmod(file, mode));
}

// Creates the sidecar. -1 with errno set, EEXIST if it is there.
int create(const std::string& sidecar, const std::string& database) {
  const int file =
      open(sidecar.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, private_mode);
  if (file >= 0) share(file, database);
  return file;
}

// O_NONBLOCK: opening a FIFO or a device must not wait.
int open_existing(const std::string& sidecar) {
  return open(sidecar.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

// The open sidecar, or an errno in the error.
Result<int> open_sidecar(const std::string& database) {
  const std::string sidecar = sidecar_path(database);
  int file = open_existing(sidecar);
  if (file < 0 && errno == ENOENT) {
    file = create(sidecar, database);
    if (file < 0 && errno == EEXIST) file = open_existing(sidecar);
  }
  if (file < 0) return unavailable(errno);
  struct stat found{};
  if (fstat(file, &found) == 0 && S_ISREG(found.st_mode)) return file;
  close(file);
  return unavailable(EINVAL);
}

#if defined(F_OFD_SETLK)

// Sets or clears the lock on byte 0 without waiting. 0 or -1 with errno.
int set_lock(int file, short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  return fcntl(file, F_OFD_SETLK, &lock);
}
int try_lock(int file) { return set_lock(file, F_WRLCK); }
void unlock(int file) { set_lock(file, F_UNLCK); }

#else

int try_lock(int file) { return flock(file, LOCK_EX | LOCK_NB); }
void unlock(int file) { flock(file, LOCK_UN); }

#endif

bool is_taken(int error) { return error == EAGAIN || error == EACCES || error == EWOULDBLOCK; }

}  // namespace

std::string sidecar_path(std::string_view database) { return std::string(database) + "-wallock"; }

Result<CreationLock> CreationLock::acquire(std::string_view database, const Clock& clock,
                                           Instant deadline) {
  auto resolved = resolve(database);
  if (!resolved) return fail(resolved.error());
  const auto file = open_sidecar(*resolved);
  if (!file) return fail(file.error());
  CreationLock lock(*file, *std::move(resolved));
  while (try_lock(*file) != 0) {
    const int error = errno;
    if (error != EINTR && !is_taken(error)) return unavailable(error);
    const Instant now = clock.now();
    if (now >= deadline) return fail(Errc::busy);
    clock.sleep_for(std::min(poll_interval, saturating_sub(deadline, now)));
  }
  return lock;
}

CreationLock::CreationLock(CreationLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      database_(std::move(other.database_)),
      process_(other.process_) {}

CreationLock& CreationLock::operator=(CreationLock&& other) noexcept {
  if (this != &other) {
    let_go();
    file_ = std::exchange(other.file_, -1);
    database_ = std::move(other.database_);
    process_ = other.process_;
  }
  return *this;
}

CreationLock::~CreationLock() { let_go(); }

void CreationLock::let_go() noexcept {
  if (file_ < 0) return;
  if (!process_.forked()) {
    share(file_, database_);
    unlock(file_);
  }
  close(file_);
  file_ = -1;
}

}  // namespace wallock::host
