#include "host/sidecar_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/side_files.hpp"

namespace wallock::host {
namespace {

constexpr mode_t private_mode = 0600;
constexpr mode_t permission_bits = 0777;

// Creates the sidecar. -1 with errno set, EEXIST if it is there.
int create(const std::string& sidecar, const std::string& database) {
  const int file =
      open(sidecar.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, private_mode);
  if (file >= 0) share_sidecar(file, database);
  return file;
}

// O_NONBLOCK: opening a FIFO or a device must not wait.
int open_existing(const std::string& sidecar) {
  return open(sidecar.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

}  // namespace

std::string sidecar_path(std::string_view database) { return std::string(database) + "-wallock"; }

bool is_sidecar_there(const std::string& database) {
  struct stat found{};
  return lstat(sidecar_path(database).c_str(), &found) == 0;
}

tl::unexpected<Error> unavailable(int native) {
  return fail(Error(Errc::store_unavailable, ErrorFacts{.native = native}));
}

void share_sidecar(int file, const std::string& database) noexcept {
  struct stat like{};
  struct stat own{};
  if (stat(database.c_str(), &like) != 0 || fstat(file, &own) != 0) return;
  // Under another name it is somebody else's file; and who prepared it to listen or to lie has it
  // open by now, whoever owns it later.
  if (own.st_nlink != 1 || !is_owner_trusted(own, like)) return;
  if (geteuid() == 0 && (own.st_uid != like.st_uid || own.st_gid != like.st_gid) &&
      fchown(file, like.st_uid, like.st_gid) != 0) {
    return;
  }
  const mode_t mode = like.st_mode & permission_bits;
  if ((own.st_mode & permission_bits) != mode) static_cast<void>(fchmod(file, mode));
}

// Between two steps others may make the file, and its maker may take it away again.
int open_sidecar(const std::string& database) {
  const std::string sidecar = sidecar_path(database);
  int file = -1;
  do {
    file = open_existing(sidecar);
    if (file >= 0 || errno != ENOENT) break;
    file = create(sidecar, database);
  } while (file < 0 && errno == EEXIST);
  struct stat found{};
  if (file < 0 || (fstat(file, &found) == 0 && S_ISREG(found.st_mode))) return file;
  close(file);
  errno = EINVAL;
  return -1;
}

int check_sidecar(int file, const std::string& database) noexcept {
  struct stat like{};
  struct stat own{};
  if (fstat(file, &own) != 0) return errno;
  if (own.st_nlink != 1) return EMLINK;
  if (stat(database.c_str(), &like) != 0) {
    // No database yet: as if it were this user's own.
    like.st_uid = geteuid();
    like.st_mode = private_mode;
  }
  constexpr mode_t writable = S_IWGRP | S_IWOTH;
  const bool is_wider = (own.st_mode & ~like.st_mode & writable) != 0;
  return is_wider || !is_owner_trusted(own, like) ? EPERM : 0;
}

#if defined(F_OFD_SETLK)

namespace {

struct flock lock_of(short type, std::int64_t byte, std::int64_t count) noexcept {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(byte);
  lock.l_len = static_cast<off_t>(count);
  return lock;
}

}  // namespace

bool lock_byte(int file, std::int64_t byte) noexcept {
  struct flock lock = lock_of(F_WRLCK, byte, 1);
  return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

void unlock_byte(int file, std::int64_t byte) noexcept {
  struct flock lock = lock_of(F_UNLCK, byte, 1);
  static_cast<void>(fcntl(file, F_OFD_SETLK, &lock));
}

bool is_locked_by_others(int file, std::int64_t byte, std::int64_t count) noexcept {
  struct flock lock = lock_of(F_WRLCK, byte, count);
  return fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

bool has_byte_locks() noexcept { return true; }

#else

bool lock_byte(int, std::int64_t) noexcept {
  errno = ENOTSUP;
  return false;
}
void unlock_byte(int, std::int64_t) noexcept {}
bool is_locked_by_others(int, std::int64_t, std::int64_t) noexcept { return true; }
bool has_byte_locks() noexcept { return false; }

#endif

}  // namespace wallock::host
