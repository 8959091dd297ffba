// Lookout: how a waiting call learns that another look at the store is worth it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "host/sidecar.hpp"
#include "wallock/clock.hpp"
#include "wallock/lease_repository.hpp"
#include "wallock/result.hpp"

namespace wallock::detail {

// Belongs to one waiting call, and to its thread. It leaves nothing behind that others wait for.
class Lookout {
 public:
  Lookout() = default;
  Lookout(const Lookout&) = delete;
  Lookout& operator=(const Lookout&) = delete;
  virtual ~Lookout() = default;

  // Before each attempt: true if others were there first, so that a free resource is theirs.
  [[nodiscard]] virtual bool yields() noexcept = 0;
  // After a refused attempt: blocks until another one is worth making; false if `limit` came first
  // on the clock, or stop is requested.
  [[nodiscard]] virtual bool await_news(const Error& refusal, Instant limit,
                                        const std::stop_token& stop) = 0;
};

// Lengths of the naps between two looks at the store: 0.5 to 1.5 ms, so that waiters do not fall
// into step. The sequence follows from the seed. All members may be called from any thread.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) noexcept : state_(seed) {}

  [[nodiscard]] Duration next() noexcept;

 private:
  std::atomic<std::uint64_t> state_;
};

// Without a sidecar: naps, and looks at the store's change counter. Nobody is ever first.
class PollingLookout final : public Lookout {
 public:
  PollingLookout(LeaseRepository& store, const Clock& clock, Jitter& jitter) noexcept
      : store_(store), clock_(clock), jitter_(jitter) {}

  [[nodiscard]] bool yields() noexcept override { return false; }
  [[nodiscard]] bool await_news(const Error& refusal, Instant limit,
                                const std::stop_token& stop) override;

 private:
  [[nodiscard]] bool saw_change();

  LeaseRepository& store_;
  const Clock& clock_;
  Jitter& jitter_;
  std::optional<std::uint64_t> seen_ = {};  // the change counter before the last attempt
};

// In the waiting line of all processes: only the first in line looks at the store, when it is
// called, when the holder's lease runs out and when the holder's process dies. The kernel tells of
// that where it can; elsewhere the first in line asks often. Everybody looks now and then all the
// same, because calls can be lost.
class LineLookout final : public Lookout {
 public:
  // For all of the resources at once it waits in the line of the one that it was refused.
  LineLookout(host::Sidecar& sidecar, const Clock& clock, std::span<const ResourceName> resources,
              Instant wait_deadline) noexcept
      : sidecar_(sidecar), clock_(clock), resources_(resources), wait_deadline_(wait_deadline) {}

  [[nodiscard]] bool yields() noexcept override;
  [[nodiscard]] bool await_news(const Error& refusal, Instant limit,
                                const std::stop_token& stop) override;

 private:
  void take_place(const std::string& resource);
  // True if the first in line should ask the store now.
  [[nodiscard]] bool has_news(const ErrorFacts& facts, Instant now, std::uint32_t calls) noexcept;
  [[nodiscard]] bool is_holder_dead(const ErrorFacts& facts) const noexcept;
  // Until there may be news, `left` at most.
  void sleep_as_first(host::WaitingLine::Place& place, const ErrorFacts& facts, Instant now,
                      std::uint32_t calls, Duration left) noexcept;

  host::Sidecar& sidecar_;
  const Clock& clock_;
  const std::span<const ResourceName> resources_;
  const Instant wait_deadline_;
  std::string resource_ = {};  // in whose line it waits
  std::optional<host::WaitingLine::Place> place_ = {};
  bool asked_as_first_ = false;
  std::uint32_t heard_ = 0;  // calls before the last attempt
  Instant asked_at_ = {};
  std::optional<Instant> end_seen_at_ = {};  // when the kernel told of the holder's end
};

}  // namespace wallock::detail
