// A library for LD_PRELOAD that makes every fdatasync and fsync take at least WALLOCK_FLUSH_US
// microseconds, like a slower disk: the real flush is done, then the rest of the time is slept.
// Sleeping takes no processor, so that what others do meanwhile shows. With WALLOCK_FLUSH_INSTEAD=1
// it sleeps instead of flushing, so that the real disk, and who else uses it, does not matter.
//
//     LD_PRELOAD=build/release/bench/libwallock_slow_flush.so WALLOCK_FLUSH_US=1000 PROGRAM
#include <dlfcn.h>
#include <sys/prctl.h>
#include <time.h>

#include <cstdlib>

#pragma GCC visibility push(default)
extern "C" int fdatasync(int file);
extern "C" int fsync(int file);
#pragma GCC visibility pop

namespace {

using Flush = int (*)(int);
constexpr long second_ns = 1'000'000'000;

long least_ns() {
  static const long value = [] {
    const char* text = std::getenv("WALLOCK_FLUSH_US");
    const long us = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
    return us < 0 || us > 1'000'000 ? 0 : us * 1000;
  }();
  return value;
}

bool sleeps_instead() {
  static const bool value = [] {
    const char* text = std::getenv("WALLOCK_FLUSH_INSTEAD");
    return text != nullptr && text[0] == '1';
  }();
  return value;
}

// A thread that cannot ask for short timers sleeps some 50 us longer than it wants to.
void want_exact_timers() {
  static thread_local const int asked = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  static_cast<void>(asked);
}

int flush(const char* name, int file) {
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  int result = 0;
  if (!sleeps_instead()) result = reinterpret_cast<Flush>(dlsym(RTLD_NEXT, name))(file);
  const long ns = until.tv_nsec + least_ns();
  until.tv_sec += ns / second_ns;
  until.tv_nsec = ns % second_ns;
  want_exact_timers();
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
  return result;
}

}  // namespace

int fdatasync(int file) { return flush("fdatasync", file); }
int fsync(int file) { return flush("fsync", file); }
