// The circuit breaker of a resource: its states, its row, its policy, and what it shows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "wallock/lease.hpp"
#include "wallock/name.hpp"
#include "wallock/print.hpp"
#include "wallock/time.hpp"
#include "wallock/token.hpp"

namespace wallock {

// The numbers are stored: they never change their meaning.
enum class BreakerState : std::uint8_t {
  closed = 0,   // work goes on
  open = 1,     // no lease is granted, no commit accepted
  probing = 2,  // as open, while one holder tests whether the downstream is back
};

enum class BreakerEvent : std::uint8_t { trip, begin_probe, probe_failed, recover };

struct BreakerTransition {
  BreakerState from;
  BreakerEvent event;
  BreakerState to;
};

// Every legal transition. There is none from open to closed: only a verified probe closes (INV-05).
inline constexpr std::array breaker_transitions{
    BreakerTransition{BreakerState::closed, BreakerEvent::trip, BreakerState::open},
    BreakerTransition{BreakerState::open, BreakerEvent::trip, BreakerState::open},
    BreakerTransition{BreakerState::probing, BreakerEvent::trip, BreakerState::open},
    BreakerTransition{BreakerState::open, BreakerEvent::begin_probe, BreakerState::probing},
    BreakerTransition{BreakerState::probing, BreakerEvent::probe_failed, BreakerState::open},
    BreakerTransition{BreakerState::probing, BreakerEvent::recover, BreakerState::closed},
};

// The state after `event`, or empty if there is no such transition.
[[nodiscard]] constexpr std::optional<BreakerState> next_state(BreakerState state,
                                                               BreakerEvent event) noexcept {
  for (const BreakerTransition& transition : breaker_transitions) {
    if (transition.from == state && transition.event == event) return transition.to;
  }
  return std::nullopt;
}

[[nodiscard]] constexpr std::string_view to_string(BreakerState state) noexcept {
  switch (state) {
    case BreakerState::closed:
      return "CLOSED";
    case BreakerState::open:
      return "OPEN";
    case BreakerState::probing:
      return "PROBING";
  }
  return "OPEN";
}

// When a breaker trips and when it may be probed again.
struct BreakerPolicy {
  // Consecutive timeout reports that trip it: 1 to 1'000'000.
  std::uint32_t trip_after = 3;
  // How long it stays open before the first probe: 1 ms to 24 h.
  Duration first_interval = std::chrono::seconds(30);
  // Each failed probe doubles the interval, up to this: first_interval to 24 h.
  Duration max_interval = std::chrono::minutes(10);

  friend bool operator==(const BreakerPolicy&, const BreakerPolicy&) = default;
};

// What the downstream answered while a lease was held.
enum class DownstreamOutcome : std::uint8_t {
  success,    // ends a row of timeouts
  timeout,    // counts towards the trip
  failure,    // it answered, with an error: neutral; report timeout if it should count
  cancelled,  // the caller gave up for reasons of its own: neutral
};

// What a report led to.
enum class ReportEffect : std::uint8_t {
  none,     // neutral, or a success with nothing to clear: nothing was written
  counted,  // one more timeout in the row
  cleared,  // the row of timeouts ended
  tripped,  // this report tripped the breaker
  late,     // the token is at or below the fence: recorded, nothing else changed
};

[[nodiscard]] constexpr std::string_view to_string(ReportEffect effect) noexcept {
  switch (effect) {
    case ReportEffect::none:
      return "none";
    case ReportEffect::counted:
      return "counted";
    case ReportEffect::cleared:
      return "cleared";
    case ReportEffect::tripped:
      return "tripped";
    case ReportEffect::late:
      return "late";
  }
  return "none";
}

// The one exclusive right to test the downstream while the breaker is open.
struct ProbeGrant {
  FencingToken token;  // never lets a commit through
  HolderId holder;
  InstanceId instance{};
  Instant expires_at;

  friend bool operator==(const ProbeGrant&, const ProbeGrant&) = default;
};

// What begin_recovery hands out and complete_recovery takes back. Immutable value.
class Probe {
 public:
  Probe(ResourceName resource, ProbeGrant grant) noexcept
      : resource_(std::move(resource)), grant_(std::move(grant)) {}

  [[nodiscard]] const ResourceName& resource() const noexcept { return resource_; }
  [[nodiscard]] FencingToken token() const noexcept { return grant_.token; }
  [[nodiscard]] const HolderId& holder() const noexcept { return grant_.holder; }
  [[nodiscard]] Instant expires_at() const noexcept { return grant_.expires_at; }

  friend bool operator==(const Probe&, const Probe&) = default;

 private:
  ResourceName resource_;
  ProbeGrant grant_;
};

[[nodiscard]] inline std::string to_string(const Probe& probe) {
  return probe.resource().str() + " probe " + to_string(probe.token()) + " " + probe.holder().str();
}

// What a probe found. `evidence` says in at most 1024 bytes of UTF-8 what was verified; closing
// needs some, a failed probe may go without. It goes into the ledger as it is, so it must hold no
// secret.
struct RecoveryVerdict {
  bool recovered = false;
  std::string evidence = {};
};

// The breaker's row, as the rules read and write it: one row, so that nothing can drift apart.
struct BreakerRow {
  BreakerState state = BreakerState::closed;
  bool forced = false;              // held open by an operator until clear_forced
  std::uint32_t timeouts = 0;       // consecutive, since the last success
  std::uint64_t generation = 0;     // trips so far; never falls
  std::uint32_t failed_probes = 0;  // since the last closing
  Duration interval{};              // from `since` until a probe is allowed; 0 while closed
  Instant since{};                  // when `state` was entered
  std::uint64_t epoch = 0;          // that `since` was read in
  std::optional<ProbeGrant> probe = {};

  friend bool operator==(const BreakerRow&, const BreakerRow&) = default;
};

// True for the legal combinations, the only ones that are stored or believed:
//   CLOSED   not forced, no probe, interval 0, no failed probes
//   OPEN     no probe, interval > 0, generation > 0
//   PROBING  not forced, a probe, interval > 0, generation > 0
[[nodiscard]] constexpr bool is_legal(const BreakerRow& row) noexcept {
  const bool waiting = row.interval > Duration::zero() && row.generation > 0;
  switch (row.state) {
    case BreakerState::closed:
      return !row.forced && !row.probe && row.interval == Duration::zero() &&
             row.failed_probes == 0;
    case BreakerState::open:
      return !row.probe && waiting;
    case BreakerState::probing:
      return !row.forced && row.probe.has_value() && waiting;
  }
  return false;
}

// What a breaker shows to people and programs. Immutable value; advisory: only a commit decides.
class BreakerStatus {
 public:
  BreakerStatus(ResourceName resource, BreakerRow row, Instant probe_due) noexcept
      : resource_(std::move(resource)), row_(std::move(row)), probe_due_(probe_due) {}

  [[nodiscard]] const ResourceName& resource() const noexcept { return resource_; }
  [[nodiscard]] BreakerState state() const noexcept { return row_.state; }
  [[nodiscard]] bool forced() const noexcept { return row_.forced; }
  // Consecutive timeouts counted so far.
  [[nodiscard]] std::uint32_t timeouts() const noexcept { return row_.timeouts; }
  // How often it tripped; rises by one with every trip.
  [[nodiscard]] std::uint64_t generation() const noexcept { return row_.generation; }
  [[nodiscard]] std::uint32_t failed_probes() const noexcept { return row_.failed_probes; }
  [[nodiscard]] Duration interval() const noexcept { return row_.interval; }
  [[nodiscard]] Instant since() const noexcept { return row_.since; }
  // When begin_recovery may be called, if OPEN and not forced.
  [[nodiscard]] Instant probe_due() const noexcept { return probe_due_; }
  [[nodiscard]] const std::optional<ProbeGrant>& probe() const noexcept { return row_.probe; }

  friend bool operator==(const BreakerStatus&, const BreakerStatus&) = default;

 private:
  ResourceName resource_;
  BreakerRow row_;
  Instant probe_due_;
};

[[nodiscard]] inline std::string to_string(const BreakerStatus& status) {
  return status.resource().str() + " " + std::string(to_string(status.state())) +
         (status.forced() ? " (forced)" : "");
}

}  // namespace wallock
