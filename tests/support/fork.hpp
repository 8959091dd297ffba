// Fork, Shared, and what random tests are steered by: children that can be stopped and killed, and
// memory that they share with the test.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <new>
#include <utility>

namespace wallock::test {

// A seed of its own for every run; RNG_SEED of the environment repeats one.
[[nodiscard]] unsigned draw_seed();

// How much is done of something: the number in that variable of the environment, or the default.
[[nodiscard]] std::uint64_t how_many(const char* variable, std::uint64_t by_default);

// Ends a child that was forked by hand: nothing of its parent's is destroyed, and what it ran
// counts in a build that counts coverage.
[[noreturn]] void exit_child(int status) noexcept;

// Memory that this process and its children share; all zero at first.
template <class T>
class Shared {
 public:
  Shared()
      : at_(static_cast<T*>(
            mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (static_cast<void*>(at_) == MAP_FAILED) throw std::bad_alloc();
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { munmap(at_, sizeof(T)); }

  [[nodiscard]] T* operator->() const noexcept { return at_; }
  [[nodiscard]] T& operator*() const noexcept { return *at_; }

 private:
  T* at_;
};

// A child of fork(2) that runs `work` and ends without destroying anything of the test's. It dies
// with the test, and at its own destruction.
class Fork {
 public:
  // Throws std::system_error if there can be no child.
  explicit Fork(const std::function<int()>& work);
  Fork(Fork&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Fork& operator=(Fork&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;
  ~Fork() { kill(); }

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  // SIGKILL, and waits until it is gone.
  void kill() noexcept;
  void signal(int number) const noexcept { ::kill(pid_, number); }
  // SIGSTOP; true once it stands still, false if it ended instead.
  [[nodiscard]] bool stop() noexcept;
  // True if it sleeps: in a call that waits for something.
  [[nodiscard]] bool is_asleep() const;
  // What `work` returned, or 128 + the signal that ended it.
  [[nodiscard]] int wait() noexcept;

 private:
  pid_t pid_;
};

// The same in a PID namespace of its own, where it has the number 1. `may_have_namespaces` is false
// where that is not permitted.
[[nodiscard]] bool may_have_namespaces();
[[nodiscard]] Fork fork_as_pid_1(const std::function<int()>& work);

}  // namespace wallock::test
