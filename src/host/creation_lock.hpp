// CreationLock: one process at a time creates or migrates a store.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "host/sidecar_file.hpp"
#include "host/unforked_file.hpp"
#include "wallock/clock.hpp"
#include "wallock/result.hpp"

namespace wallock::host {

// Exclusive among all threads and processes of this machine, by an open file description lock on
// byte 0 of the sidecar (fcntl(2), F_OFD_SETLK; flock(2) where there is none). The kernel drops it
// when its process dies; a child of fork(2) does not keep it. Writes nothing into the file and
// never opens the database.
//
// Move-only; belongs to one thread at a time. The destructor lets go of the lock; in a forked child
// it does not, because it is the parent's.
class CreationLock {
 public:
  // Waits for the lock until `deadline` on `clock`, at least one attempt. Creates the file with the
  // database's mode and, for root, its owner; 0600 if there is no database yet. Letting go of the
  // lock gives the file the mode that the database has by then, so that whoever may write the one
  // may lock the other.
  // A file that its maker took away while this call waited for it is no lock: the call goes on with
  // the one that is there then.
  // busy with the deadline passed; store_unavailable with errno in facts().native: the file cannot
  // be created or opened, is a link (ELOOP) or no regular file (EINVAL), or cannot be locked (all
  // transient).
  [[nodiscard]] static Result<CreationLock> acquire(std::string_view database, const Clock& clock,
                                                    Instant deadline);

  CreationLock(CreationLock&& other) noexcept = default;
  CreationLock& operator=(CreationLock&& other) noexcept;
  CreationLock(const CreationLock&) = delete;
  CreationLock& operator=(const CreationLock&) = delete;
  ~CreationLock();

  // Takes the file away, if no opening of the store uses it: for one that made it and found that
  // there is no store. What others wait for meanwhile they notice (acquire). Still a lock after it,
  // on a file without a name.
  void remove_unused_file() noexcept;

 private:
  CreationLock(std::unique_ptr<UnforkedFile> file, std::string database)
      : file_(std::move(file)), sidecar_(sidecar_path(database)), database_(std::move(database)) {}
  void let_go() noexcept;

  std::unique_ptr<UnforkedFile> file_;
  std::string sidecar_;  // its path
  std::string database_;
};

}  // namespace wallock::host
