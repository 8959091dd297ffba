#include <chrono>
#include <fstream>
#include <thread>

#include "wallock/clock.hpp"

#if defined(__linux__)
#include <cerrno>
#include <ctime>
#endif

namespace wallock {
namespace {

#if defined(__linux__)

constexpr long nanoseconds_per_second = 1'000'000'000;

Instant boot_now() noexcept {
  timespec now{};
  // Cannot fail: the clock exists since Linux 2.6.39 and the pointer is good.
  clock_gettime(CLOCK_BOOTTIME, &now);
  return Instant(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

// Sleeps to an absolute time: a signal shortens nothing, and a suspended machine that wakes up past
// the time goes on at once.
void sleep_until(Instant instant) noexcept {
  const auto since_boot = instant.time_since_epoch().count();
  const timespec until{.tv_sec = since_boot / nanoseconds_per_second,
                       .tv_nsec = since_boot % nanoseconds_per_second};
  while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

// 8-4-4-4-12 hexadecimal digits (random(4), boot_id).
bool is_boot_id(const std::string& text) {
  constexpr std::size_t length = 36;
  if (text.size() != length) return false;
  for (std::size_t i = 0; i < length; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
    if (dash ? text[i] != '-' : !hex) return false;
  }
  return true;
}

std::optional<std::string> read_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  if (!std::getline(file, text) || !is_boot_id(text)) return std::nullopt;
  return text;
}

#else

Instant boot_now() noexcept {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return Instant(std::chrono::duration_cast<Duration>(since_start));
}

void sleep_until(Instant instant) {
  std::this_thread::sleep_for(saturating_sub(instant, boot_now()));
}

std::optional<std::string> read_boot_id() { return std::nullopt; }

#endif

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override { return boot_now(); }
  [[nodiscard]] WallTime wall_now() const noexcept override {
    return std::chrono::time_point_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now());
  }
  [[nodiscard]] std::optional<std::string> boot_id() const override {
    static const std::optional<std::string> id = read_boot_id();
    return id;
  }
  void sleep_for(Duration duration) const noexcept override {
    if (duration > Duration::zero()) sleep_until(saturating_add(now(), duration));
  }
};

}  // namespace

std::shared_ptr<const Clock> system_clock() {
  // Never destroyed: other static objects may still ask for the time while the program ends.
  static const auto* const clock =
      new std::shared_ptr<const Clock>(std::make_shared<const SystemClock>());
  return *clock;
}

}  // namespace wallock
