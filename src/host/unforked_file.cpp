#include "host/unforked_file.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <vector>

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wallock::host {

// All of this process. Its mutex is held over every fork, so a child finds the list whole.
struct UnforkedFiles {
  std::mutex mutex;
  std::vector<UnforkedFile*> files;

  static UnforkedFiles& all();
  static void before_fork() noexcept { all().mutex.lock(); }
  static void in_parent() noexcept { all().mutex.unlock(); }
  static void in_child() noexcept;
};

// Never destroyed: static Coordinators may close after it would be.
UnforkedFiles& UnforkedFiles::all() {
  static auto* const made = new UnforkedFiles;
  static const int registered = pthread_atfork(before_fork, in_parent, in_child);
  static_cast<void>(registered);
  return *made;
}

// fstat(2) and close(2) are all that is called here: the child of a process with threads may do no
// more.
void UnforkedFiles::in_child() noexcept {
  for (UnforkedFile* const file : all().files) {
    file->forked_.store(true, std::memory_order_relaxed);
    if (file->is_intact()) close(file->file_);
  }
  all().files.clear();
  all().mutex.unlock();
}

UnforkedFile::UnforkedFile(const std::function<int()>& open) {
  UnforkedFiles& all = UnforkedFiles::all();
  const std::lock_guard no_fork(all.mutex);
  all.files.reserve(all.files.size() + 1);
  file_ = open();
  if (file_ < 0) {
    error_ = errno;
    return;
  }
  struct stat found{};
  if (fstat(file_, &found) == 0) {
    device_ = found.st_dev;
    inode_ = found.st_ino;
  }
  all.files.push_back(this);
}

UnforkedFile::~UnforkedFile() {
  UnforkedFiles& all = UnforkedFiles::all();
  const std::lock_guard no_fork(all.mutex);
  if (std::erase(all.files, this) != 0 && is_intact()) close(file_);
}

bool UnforkedFile::is_intact() const noexcept {
  struct stat found{};
  return fstat(file_, &found) == 0 && found.st_dev == device_ && found.st_ino == inode_;
}

}  // namespace wallock::host
