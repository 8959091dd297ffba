// The ThreadSanitizer of GCC 12 does not know pthread_mutex_clocklock, with which std::timed_mutex
// waits for a time: it takes the mutex for unlocked and everything under it for a race. Here that
// call is one that it knows. Empty in every other build.
#include "thread_sanitizer.hpp"

#if defined(__SANITIZE_THREAD__)

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace {

std::chrono::nanoseconds to_duration(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::chrono::nanoseconds read(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return to_duration(now);
}

}  // namespace

extern "C" int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                       const timespec* until) noexcept {
  const auto left = std::max(to_duration(*until) - read(clock), std::chrono::nanoseconds(0));
  const auto end = read(CLOCK_REALTIME) + left;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(end);
  const timespec at{.tv_sec = seconds.count(), .tv_nsec = (end - seconds).count()};
  return pthread_mutex_timedlock(mutex, &at);
}

#endif
