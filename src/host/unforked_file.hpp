// UnforkedFile: an open file that children of fork(2) do not keep.
#pragma once

#include <atomic>
#include <functional>

#include <sys/types.h>

namespace wallock::host {

// A descriptor whose kernel locks tell others that this process is alive. A child made by fork(2)
// has a copy of every descriptor and would keep such a lock after its parent's death; so a handler
// of pthread_atfork closes the child's copies. vfork(2) and raw clone(2) go past it: what they
// start keeps the lock until it ends or executes another program (O_CLOEXEC).
//
// Neither copyable nor movable. Members may be called from all threads.
class UnforkedFile {
 public:
  // Calls `open`, which gives a descriptor or -1 with errno, while no fork can happen in between.
  // May throw std::bad_alloc; then nothing was opened.
  explicit UnforkedFile(const std::function<int()>& open);
  UnforkedFile(const UnforkedFile&) = delete;
  UnforkedFile& operator=(const UnforkedFile&) = delete;
  // Closes; in a forked child there is nothing to close.
  ~UnforkedFile();

  // -1 if it could not be opened, with the errno of that in error().
  [[nodiscard]] int get() const noexcept { return file_; }
  [[nodiscard]] int error() const noexcept { return error_; }
  // False once the descriptor is another file's or none: an application that closes all descriptors
  // takes this one along, and its locks, and may get the number again for a file of its own.
  [[nodiscard]] bool is_intact() const noexcept;
  // True in a child of the process that opened it. One load.
  [[nodiscard]] bool forked() const noexcept { return forked_.load(std::memory_order_relaxed); }

 private:
  friend struct UnforkedFiles;

  int file_ = -1;
  int error_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::atomic<bool> forked_{false};
};

}  // namespace wallock::host
