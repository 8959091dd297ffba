// Clock: where the library takes time from, so that tests can put their own in its place.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "wallock/export.hpp"
#include "wallock/time.hpp"

namespace wallock {

// The source of every instant the library uses, and the only way it sleeps.
//
// Must not throw: time is read where nothing can be undone any more, and under noexcept. A clock
// that can fail answers its last reading.
//
// Thread safety: all members may be called from several threads at once.
// Lifetime: shared by the Coordinators that were opened with it.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  // Time since boot; never goes back while the machine runs.
  [[nodiscard]] virtual Instant now() const noexcept = 0;

  // The wall clock; may jump either way at any time.
  [[nodiscard]] virtual WallTime wall_now() const noexcept = 0;

  // Names the running boot of this machine; another value means that every earlier Instant is
  // meaningless. Empty where the platform has none (then nothing relies on it: see Durability).
  // May throw std::bad_alloc, and nothing else.
  [[nodiscard]] virtual std::optional<std::string> boot_id() const = 0;

  // Blocks the caller for about `duration`. A manual clock moves itself forward instead.
  virtual void sleep_for(Duration duration) const noexcept = 0;
};

// The machine's own clocks: CLOCK_BOOTTIME and /proc/sys/kernel/random/boot_id on Linux, elsewhere
// the steady clock and no boot id. One shared object for the process.
[[nodiscard]] WALLOCK_EXPORT std::shared_ptr<const Clock> system_clock();

}  // namespace wallock
