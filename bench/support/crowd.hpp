// Crowd: processes of this program that start together and tell each other through shared memory.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <vector>

namespace wallock::bench {

// Nanoseconds on the clock that all processes of the machine share: CLOCK_MONOTONIC.
[[nodiscard]] inline std::int64_t now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// An array of plain values or atomics, zero at first, that forked children see, too.
template <class T>
class Shared {
 public:
  explicit Shared(std::size_t count = 1) : count_(count) {
    void* memory =
        mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      std::perror("mmap");
      std::exit(EXIT_FAILURE);
    }
    values_ = static_cast<T*>(memory);
    for (std::size_t i = 0; i < count; ++i)
      new (values_ + i) T{};
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { munmap(values_, count_ * sizeof(T)); }

  T& operator[](std::size_t i) noexcept { return values_[i]; }
  const T& operator[](std::size_t i) const noexcept { return values_[i]; }
  T* operator->() noexcept { return values_; }
  T& operator*() noexcept { return *values_; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  T* values_ = nullptr;
  std::size_t count_;
};

// Polls until the value is at least `least`; ends the program after a minute, when whoever was to
// raise it must be dead.
void await(const std::atomic<std::uint32_t>& value, std::uint32_t least);

// Where all processes of a crowd wait for the last one to be ready.
class StartLine {
 public:
  explicit StartLine(std::size_t processes) : processes_(static_cast<std::uint32_t>(processes)) {}
  // Returns in all processes as soon as all have called it.
  void wait();

 private:
  std::uint32_t processes_;
  Shared<std::atomic<std::uint32_t>> ready_;
};

// Forks a child that runs `work` and exits. The caller must have no store open.
[[nodiscard]] pid_t spawn(const std::function<void()>& work);
// Waits for these children; ends the program if one did not end well.
void join(const std::vector<pid_t>& children);
// Kills with SIGKILL and waits.
void kill_and_join(pid_t child);
// Runs work(0) to work(processes - 1), each in a process of its own, and waits for them.
void run_crowd(std::size_t processes, const std::function<void(std::size_t)>& work);

}  // namespace wallock::bench
