// SharedMutex: a mutex in a file that processes map, the quickest place there is to wait at.
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "peer.hpp"

namespace wallock::bench {

// Not robust: one that dies with it locks everybody out, which a benchmark can live with.
class SharedMutex {
 public:
  // Makes the file if there is none; whoever does must be alone.
  explicit SharedMutex(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const bool made = file >= 0 && lseek(file, 0, SEEK_END) == 0;
    if (made && ftruncate(file, sizeof(pthread_mutex_t)) != 0) give_up("mutex", path);
    void* memory =
        mmap(nullptr, sizeof(pthread_mutex_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) give_up("mutex", path);
    mutex_ = static_cast<pthread_mutex_t*>(memory);
    if (!made) return;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;
  ~SharedMutex() { munmap(mutex_, sizeof(pthread_mutex_t)); }

  void lock() { pthread_mutex_lock(mutex_); }
  void unlock() { pthread_mutex_unlock(mutex_); }

 private:
  pthread_mutex_t* mutex_ = nullptr;
};

}  // namespace wallock::bench
