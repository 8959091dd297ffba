// NewsOf: how a waiting claim learns that there may be something to claim.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string_view>

#include "coordinator/lookout.hpp"
#include "host/sidecar.hpp"
#include "wallock/clock.hpp"
#include "wallock/name.hpp"

namespace wallock::detail {

// Listens to the doorbell of all processes; where there is none it looks again after a nap. Belongs
// to one call and its thread.
class NewsOf {
 public:
  NewsOf(host::Sidecar* sidecar, const Clock& clock, Jitter& jitter, const Destination& destination,
         const std::stop_token& stop);

  // Before each look at the store.
  void mark() noexcept;
  // After a look that found nothing: blocks until another one is worth it, `until` or a stop.
  void await(Instant until) noexcept;

 private:
  host::Sidecar* const sidecar_;
  const Clock& clock_;
  Jitter& jitter_;
  const std::string_view destination_;
  std::uint32_t rings_ = 0;
  const std::stop_callback<std::function<void()>> wake_on_stop_;
};

}  // namespace wallock::detail
