// ProcessMark: tells whether this process is still the one that an object was made in.
// BlockedSignals: keeps the application's signal handlers off the library's own threads.
// abandon: for what a forked child must neither use nor destroy.
#pragma once

#include <csignal>
#include <cstdint>

#include <sys/types.h>

namespace wallock::host {

// Remembers the process that it is made in.
//
// Immutable; forked() may be called from any thread, takes no lock and allocates nothing, so that
// it is safe in a child of fork(2) whose other threads are gone.
class ProcessMark {
 public:
  ProcessMark() noexcept;

  // True in a child of the process that made the mark, and in that child's own children. Besides
  // the process id it compares a count that every fork raises, because ids come back: in another
  // pid namespace at once, elsewhere after a while.
  [[nodiscard]] bool forked() const noexcept;

 private:
  pid_t process_;
  std::uint64_t generation_;
};

// While it lives, the calling thread and the threads that it starts take no signal but those that
// report its own faults. Restores the mask at its end.
class BlockedSignals {
 public:
  BlockedSignals() noexcept;
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals();

 private:
  sigset_t before_{};
};

// Never destroys `object`, and says so to leak checkers by keeping it reachable. For a forked
// child: what it inherited may be locked by threads that it does not have.
void abandon(const void* object) noexcept;

}  // namespace wallock::host
