// ManualClock: a clock that stands still until a test moves it.
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "wallock/clock.hpp"

namespace wallock {

// Shipped for users' tests as well as for the library's own. Sleeping on it moves it forward by the
// time asked for (a negative one counts as none), so that waits end without real time passing.
//
// Thread safety: all members may be called from several threads at once.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant start = Instant(std::chrono::hours(1)),
                       WallTime wall = WallTime(std::chrono::days(20'000)),
                       std::optional<std::string> boot_id = "boot-1")
      : now_(start), wall_(wall), boot_id_(std::move(boot_id)) {}

  [[nodiscard]] Instant now() const noexcept override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  [[nodiscard]] WallTime wall_now() const noexcept override {
    const std::lock_guard lock(mutex_);
    return wall_;
  }
  [[nodiscard]] std::optional<std::string> boot_id() const override {
    const std::lock_guard lock(mutex_);
    return boot_id_;
  }
  void sleep_for(Duration duration) const noexcept override {
    const std::lock_guard lock(mutex_);
    move_by(std::max(duration, Duration::zero()));
  }

  // Moves both clocks forward (or back, for a test of a broken machine).
  void advance(Duration by) {
    const std::lock_guard lock(mutex_);
    move_by(by);
  }
  // Moves only the wall clock, as an operator or NTP would.
  void jump_wall(Duration by) {
    const std::lock_guard lock(mutex_);
    wall_ = moved(wall_, by);
  }
  // Starts the boot clock anew under another boot id, as a restart of the machine does.
  void reboot(std::string boot_id, Instant start = Instant(std::chrono::seconds(1))) {
    const std::lock_guard lock(mutex_);
    now_ = start;
    boot_id_ = std::move(boot_id);
  }

 private:
  void move_by(Duration by) const {
    now_ = saturating_add(now_, by);
    wall_ = moved(wall_, by);
  }

  // Held at the ends of the time line, as saturating_add is.
  static WallTime moved(WallTime wall, Duration by) {
    const auto step = std::chrono::duration_cast<std::chrono::microseconds>(by);
    if (step > step.zero() && wall > WallTime::max() - step) return WallTime::max();
    if (step < step.zero() && wall < WallTime::min() - step) return WallTime::min();
    return wall + step;
  }

  mutable std::mutex mutex_;
  mutable Instant now_;
  mutable WallTime wall_;
  std::optional<std::string> boot_id_;
};

}  // namespace wallock
