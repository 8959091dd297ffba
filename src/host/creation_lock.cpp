#include "host/creation_lock.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/filesystem.hpp"
#include "host/membership.hpp"
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

// The file that was opened is still one that others open. Its maker takes it away only under the
// lock: once locked it stays.
bool has_name(int file) {
  struct stat found{};
  return fstat(file, &found) == 0 && found.st_nlink > 0;
}

bool is_taken(int error) { return error == EAGAIN || error == EACCES || error == EWOULDBLOCK; }

Status wait_for(int file, const Clock& clock, Instant deadline) {
  while (!try_lock(file)) {
    const int error = errno;
    if (error != EINTR && !is_taken(error)) return unavailable(error);
    const Instant now = clock.now();
    if (now >= deadline) return fail(Errc::busy);
    clock.sleep_for(std::min(poll_interval, saturating_sub(deadline, now)));
  }
  return {};
}

}  // namespace

Result<CreationLock> CreationLock::acquire(std::string_view database, const Clock& clock,
                                           Instant deadline) {
  auto resolved = resolve(database);
  if (!resolved) return fail(resolved.error());
  for (;;) {
    auto file = std::make_unique<UnforkedFile>([&] { return open_sidecar(*resolved); });
    if (file->get() < 0) return unavailable(file->error());
    if (auto ok = wait_for(file->get(), clock, deadline); !ok) return fail(ok.error());
    if (has_name(file->get())) return CreationLock(std::move(file), *std::move(resolved));
    if (clock.now() >= deadline) return fail(Errc::busy);
  }
}

void CreationLock::remove_unused_file() noexcept {
  if (file_ == nullptr || file_->forked() || !file_->is_intact()) return;
  if (Membership::is_anybody_there(*file_)) return;
  static_cast<void>(unlink(sidecar_.c_str()));
}

CreationLock& CreationLock::operator=(CreationLock&& other) noexcept {
  if (this != &other) {
    let_go();
    file_ = std::move(other.file_);
    sidecar_ = std::move(other.sidecar_);
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
