// OtherBootClock: the machine's clock as it would be after a restart.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "wallock/clock.hpp"

namespace wallock::test {

// Time passes and sleeps last as on the machine's own clock; only the boot id is another.
class OtherBootClock final : public Clock {
 public:
  explicit OtherBootClock(std::string boot_id) : boot_id_(std::move(boot_id)) {}

  [[nodiscard]] Instant now() const noexcept override { return machine_->now(); }
  [[nodiscard]] WallTime wall_now() const noexcept override { return machine_->wall_now(); }
  [[nodiscard]] std::optional<std::string> boot_id() const override { return boot_id_; }
  void sleep_for(Duration duration) const noexcept override { machine_->sleep_for(duration); }

 private:
  const std::shared_ptr<const Clock> machine_ = system_clock();
  const std::string boot_id_;
};

}  // namespace wallock::test
