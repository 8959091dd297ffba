// A clock must not throw: time is read where nothing can be undone.
#include "wallock/clock.hpp"

struct OwnClock final : wallock::Clock {
#ifdef WALLOCK_MISUSE
  [[nodiscard]] wallock::Instant now() const override { return {}; }
#else
  [[nodiscard]] wallock::Instant now() const noexcept override { return {}; }
#endif
  [[nodiscard]] wallock::WallTime wall_now() const noexcept override { return {}; }
  [[nodiscard]] std::optional<std::string> boot_id() const override { return {}; }
  void sleep_for(wallock::Duration /*duration*/) const noexcept override {}
};

const OwnClock clock_of_its_own;
