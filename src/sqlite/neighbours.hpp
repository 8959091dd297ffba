// Neighbours: what the repository knows of the store's other openings, and tells them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "host/sidecar.hpp"
#include "sqlite/session.hpp"
#include "wallock/action.hpp"
#include "wallock/lease_repository.hpp"

namespace wallock::sqlite {

// Over the sidecar, or over nothing where there is none: then nobody is known to be dead, and
// nobody is told anything.
//
// All members may be called from all threads at once.
class Neighbours {
 public:
  explicit Neighbours(std::shared_ptr<host::Sidecar> sidecar) noexcept
      : sidecar_(std::move(sidecar)) {}

  [[nodiscard]] host::Sidecar* sidecar() const noexcept { return sidecar_.get(); }
  [[nodiscard]] host::FlushLine* flush_line() const noexcept {
    return sidecar_ ? &sidecar_->flush_line() : nullptr;
  }
  [[nodiscard]] host::Turnstile* turnstile() const noexcept {
    return sidecar_ ? &sidecar_->turnstile() : nullptr;
  }
  [[nodiscard]] host::WaitingLine* waiting_line() const noexcept {
    return sidecar_ ? &sidecar_->line() : nullptr;
  }

  // The resource as it stands once what a dead opening had there is over; nothing if there is no
  // such thing. Asks the kernel only if somebody has the resource.
  [[nodiscard]] std::optional<rules::ResourceState> without_dead(
      const rules::ResourceState& state, const WriteTransaction& transaction) const {
    if (!sidecar_) return std::nullopt;
    const auto moment = transaction.moment();
    const auto occupant = rules::occupant(state, moment);
    if (!occupant || !sidecar_->membership().is_dead(static_cast<std::uint64_t>(*occupant))) {
      return std::nullopt;
    }
    return rules::without_dead_holder(state, moment);
  }

  // After the COMMIT: there is news for those who claim for the destination.
  void news_of(std::span<const ActionRequest> actions) const noexcept {
    const Destination* last = nullptr;
    for (const ActionRequest& action : actions) {
      const auto& destination = action.destination();
      if (destination) ring_unless(last, *destination);
    }
  }
  // Of those that were settled: what stood behind them in their resources' lines may be ready.
  void news_of(std::span<const SettleRequest> requests,
               std::span<const Result<Settled>> answers) const noexcept {
    const Destination* last = nullptr;
    for (std::size_t i = 0; i < requests.size(); ++i)
      if (answers[i]) ring_unless(last, requests[i].destination);
  }

 private:
  // Rings for a destination, unless it is the one that was rung for last.
  void ring_unless(const Destination*& last, const Destination& destination) const noexcept {
    if (!sidecar_ || (last != nullptr && *last == destination)) return;
    last = &destination;
    sidecar_->doorbell().ring(destination.str());
  }

  const std::shared_ptr<host::Sidecar> sidecar_;
};

}  // namespace wallock::sqlite
