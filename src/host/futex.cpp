#include "host/futex.hpp"

#if defined(__linux__)
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <algorithm>
#include <thread>
#endif

namespace wallock::host {

#if defined(__linux__)

namespace {

#if defined(SYS_futex)
constexpr long futex_call = SYS_futex;
#else
constexpr long futex_call = SYS_futex_time64;  // machines without a 32-bit time
#endif

// The kernel takes the address of the value; std::atomic of a lock-free type is that value.
const void* address(const SharedWord& word) noexcept { return &word; }

}  // namespace

void wait_while(const SharedWord& word, std::uint32_t seen, Duration patience) noexcept {
  if (patience <= Duration::zero()) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
  timespec span{};
  span.tv_sec = static_cast<decltype(span.tv_sec)>(seconds.count());
  span.tv_nsec = static_cast<decltype(span.tv_nsec)>((patience - seconds).count());
  static_cast<void>(syscall(futex_call, address(word), FUTEX_WAIT, seen, &span, nullptr, 0));
}

void wake(SharedWord& word, int count) noexcept {
  static_cast<void>(syscall(futex_call, address(word), FUTEX_WAKE, count, nullptr, nullptr, 0));
}

#else

void wait_while(const SharedWord& word, std::uint32_t seen, Duration patience) noexcept {
  constexpr Duration nap = std::chrono::milliseconds(1);
  const auto start = std::chrono::steady_clock::now();
  while (word.load() == seen) {
    const Duration left = patience - (std::chrono::steady_clock::now() - start);
    if (left <= Duration::zero()) return;
    std::this_thread::sleep_for(std::min(nap, left));
  }
}

void wake(SharedWord&, int) noexcept {}

#endif

}  // namespace wallock::host
