#include "host/futex.hpp"

#include <algorithm>
#include <array>

#if defined(__linux__)
#include <cerrno>
#include <ctime>

#include <linux/futex.h>
#include <linux/time_types.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
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

#if defined(__linux__) && defined(SYS_futex_waitv) && defined(FUTEX_32)

namespace {

futex_waitv waiter(const SharedWord& word, std::uint32_t seen) noexcept {
  futex_waitv made{};
  made.val = seen;
  made.uaddr = reinterpret_cast<std::uintptr_t>(address(word));
  made.flags = FUTEX_32;
  return made;
}

// A point of CLOCK_MONOTONIC, which is the steady clock.
__kernel_timespec after(Duration patience) noexcept {
  const Duration now(std::chrono::steady_clock::now().time_since_epoch());
  const Duration then = now + std::min(patience, Duration::max() - now);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(then);
  __kernel_timespec point{};
  point.tv_sec = seconds.count();
  point.tv_nsec = (then - seconds).count();
  return point;
}

}  // namespace

bool wait_while_both(const SharedWord& one, std::uint32_t one_seen, const SharedWord& other,
                     std::uint32_t other_seen, Duration patience) noexcept {
  if (patience <= Duration::zero()) return true;
  std::array<futex_waitv, 2> both{waiter(one, one_seen), waiter(other, other_seen)};
  const __kernel_timespec end = after(patience);
  if (syscall(SYS_futex_waitv, both.data(), both.size(), 0, &end, CLOCK_MONOTONIC) >= 0)
    return true;
  return errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT;
}

#else

bool wait_while_both(const SharedWord&, std::uint32_t, const SharedWord&, std::uint32_t,
                     Duration) noexcept {
  return false;
}

#endif

}  // namespace wallock::host
