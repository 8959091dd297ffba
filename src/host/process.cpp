#include "host/process.hpp"

#include <atomic>
#include <new>

#include <pthread.h>
#include <unistd.h>

namespace wallock::host {
namespace {

std::atomic<std::uint64_t> forks{0};

void count_fork() noexcept { forks.fetch_add(1, std::memory_order_relaxed); }

// Registered with the first mark, before there is anything that a fork could damage.
std::uint64_t fork_generation() noexcept {
  static const int registered = pthread_atfork(nullptr, nullptr, count_fork);
  static_cast<void>(registered);
  return forks.load(std::memory_order_relaxed);
}

struct Abandoned {
  const void* object;
  const Abandoned* next;
};

std::atomic<const Abandoned*> abandoned{nullptr};

}  // namespace

ProcessMark::ProcessMark() noexcept : process_(getpid()), generation_(fork_generation()) {}

bool ProcessMark::forked() const noexcept {
  return forks.load(std::memory_order_relaxed) != generation_ || getpid() != process_;
}

BlockedSignals::BlockedSignals() noexcept {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
    sigdelset(&all, fault);
  }
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

BlockedSignals::~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void abandon(const void* object) noexcept {
  auto* const entry = new (std::nothrow) Abandoned{object, abandoned.load()};
  if (entry == nullptr) return;  // then it is lost to leak checkers, and still not destroyed
  while (!abandoned.compare_exchange_weak(entry->next, entry)) {
  }
}

}  // namespace wallock::host
