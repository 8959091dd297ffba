#include "host/creation_lock.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "host/filesystem.hpp"
#include "host/sidecar_file.hpp"

#if !defined(F_OFD_SETLK)
#include <sys/file.h>
#endif

namespace wallock::host {
namespace {

constexpr Duration poll_interval = std::chrono::milliseconds(1);

// Without waiting. False with errno.
#if defined(F_OFD_SETLK)
bool try_lock(int file) { return lock_byte(file, 0); }
void unlock(int file) { unlock_byte(file, 0); }
#else
bool try_lock(int file) { return flock(file, LOCK_EX | LOCK_NB) == 0; }
void unlock(int file) { flock(file, LOCK_UN); }
#endif

bool is_taken(int error) { return error == EAGAIN || error == EACCES || error == EWOULDBLOCK; }

}  // namespace

Result<CreationLock> CreationLock::acquire(std::string_view database, const Clock& clock,
                                           Instant deadline) {
  auto resolved = resolve(database);
  if (!resolved) return fail(resolved.error());
  auto opened = std::make_unique<UnforkedFile>([&] { return open_sidecar(*resolved); });
  const int file = opened->get();
  if (file < 0) return unavailable(opened->error());
  CreationLock lock(std::move(opened), *std::move(resolved));
  while (!try_lock(file)) {
    const int error = errno;
    if (error != EINTR && !is_taken(error)) return unavailable(error);
    const Instant now = clock.now();
    if (now >= deadline) return fail(Errc::busy);
    clock.sleep_for(std::min(poll_interval, saturating_sub(deadline, now)));
  }
  return lock;
}

CreationLock& CreationLock::operator=(CreationLock&& other) noexcept {
  if (this != &other) {
    let_go();
    file_ = std::move(other.file_);
    database_ = std::move(other.database_);
  }
  return *this;
}

CreationLock::~CreationLock() { let_go(); }

void CreationLock::let_go() noexcept {
  if (file_ == nullptr || file_->forked() || !file_->is_intact()) return;
  share_sidecar(file_->get(), database_);
  unlock(file_->get());
}

}  // namespace wallock::host
