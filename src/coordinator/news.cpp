#include "coordinator/news.hpp"

#include <algorithm>

namespace wallock::detail {
namespace {

// Becoming due rings no bell, and a ring can be lost.
constexpr Duration look_again = std::chrono::milliseconds(250);

std::function<void()> ringing(host::Sidecar* sidecar, std::string_view destination) {
  if (sidecar == nullptr) return [] {};
  return [sidecar, destination] { sidecar->doorbell().ring(destination); };
}

}  // namespace

NewsOf::NewsOf(host::Sidecar* sidecar, const Clock& clock, Jitter& jitter,
               const Destination& destination, const std::stop_token& stop)
    : sidecar_(sidecar),
      clock_(clock),
      jitter_(jitter),
      destination_(destination.str()),
      wake_on_stop_(stop, ringing(sidecar, destination_)) {}

void NewsOf::mark() noexcept {
  if (sidecar_ != nullptr) rings_ = sidecar_->doorbell().rings(destination_);
}

void NewsOf::await(Instant until) noexcept {
  const Duration left = saturating_sub(until, clock_.now());
  if (sidecar_ != nullptr) {
    sidecar_->doorbell().sleep(destination_, rings_, std::min(look_again, left));
  } else {
    clock_.sleep_for(std::min(jitter_.next(), left));
  }
}

}  // namespace wallock::detail
