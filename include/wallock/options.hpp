// The options of opening a store and of each operation, with their defaults and bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "wallock/action.hpp"
#include "wallock/breaker.hpp"
#include "wallock/clock.hpp"
#include "wallock/delivery.hpp"
#include "wallock/name.hpp"
#include "wallock/result.hpp"
#include "wallock/time.hpp"

namespace wallock {

// What a power cut can take back. The death of a process takes back nothing at any level.
enum class Durability : std::uint8_t {
  // Every operation is flushed before it answers. A power cut takes back nothing.
  every_answer,
  // Commits, settlements, breaker changes, revocations and epochs are flushed before they answer;
  // grants, renewals, claims and releases ride with the next flush. A power cut may take back
  // leases that never committed anything; it ends all leases anyway. Behaves as every_answer where
  // the machine has no boot id. The default.
  commits,
  // Nothing is flushed on its own. A power cut may take back the last moments, commits included;
  // tokens stay monotonic all the same. For data that may lose its last moments.
  relaxed,
};

[[nodiscard]] constexpr std::string_view to_string(Durability durability) noexcept {
  switch (durability) {
    case Durability::every_answer:
      return "every_answer";
    case Durability::commits:
      return "commits";
    case Durability::relaxed:
      return "relaxed";
  }
  return "every_answer";
}

inline constexpr Duration min_ttl = std::chrono::milliseconds(1);
inline constexpr Duration max_ttl = std::chrono::days(30);
inline constexpr std::size_t max_metadata_bytes = 4096;

// How a store is opened. The policies are this Coordinator's own; give all processes the same.
struct Options {
  Durability durability = Durability::commits;
  // Processes flush the log for each other (docs/architecture.md): the same promises, far more of
  // them per second when several processes write. False: every transaction that must be durable
  // flushes for itself, as it also does where there is no sidecar.
  bool share_flushes = true;
  // Who acquires when AcquireOptions names nobody. With a name here all threads are one holder, and
  // none of them waits for another. Default: a name made of this opening's random
  // identity and the calling thread, so that two threads are two holders.
  std::optional<Given<HolderId>> holder = {};
  // How long one operation may wait for the store's write lock: 1 ms to 1 h.
  Duration operation_timeout = std::chrono::seconds(5);
  // Set once when opening a backup that was put back in place of the store: raises the epoch, so
  // that every lease and token of the lost time after the backup is dead.
  bool adopt_restored = false;
  // The largest payload accepted, in bytes: 1 to 16 MiB.
  std::size_t max_payload = default_max_payload_bytes;
  BreakerPolicy breaker = {};
  DeliveryPolicy delivery = {};
  // Where time comes from. Default: the machine's clocks.
  std::shared_ptr<const Clock> clock = {};
};

// How a lease is asked for.
struct AcquireOptions {
  // How long the lease lasts unless renewed: 1 ms to 30 days.
  Duration ttl = std::chrono::seconds(30);
  // How long to wait while somebody else has it; 0 answers at once, negative is refused,
  // Duration::max() waits until stopped.
  Duration wait = Duration::zero();
  // Default: Options::holder.
  std::optional<Given<HolderId>> holder = {};
  // At most 4096 bytes for people to see in leases().
  std::string metadata = {};
  // Makes the request repeatable: the same id, resource, holder and Coordinator answer with the
  // same lease as long as it lives. Name the holder too, unless the same thread repeats. An id is
  // used once in a store: not for another acquire, and not for an action of a commit.
  std::optional<Given<ActionId>> action_id = {};
};

// What happens to the lease in the transaction of its commit. Every commit spends its token.
enum class AfterCommit : std::uint8_t {
  nothing,  // the lease stays, without a right to commit again, until released or expired
  keep,     // the lease goes on under a new token (Committed::lease) for another ttl
  release,  // the lease ends
};

[[nodiscard]] constexpr std::string_view to_string(AfterCommit after) noexcept {
  switch (after) {
    case AfterCommit::nothing:
      return "nothing";
    case AfterCommit::keep:
      return "keep";
    case AfterCommit::release:
      return "release";
  }
  return "nothing";
}

struct CommitOptions {
  AfterCommit after = AfterCommit::nothing;
  // For keep: the new ttl, 1 ms to 30 days. Default: the lease's own.
  std::optional<Duration> ttl = {};
};

// How an acquire-commit-release in one transaction is asked for.
struct ExecuteOptions {
  // As in AcquireOptions.
  Duration wait = Duration::zero();
  std::optional<Given<HolderId>> holder = {};
};

// How the outbox is asked for work.
struct ClaimOptions {
  Given<Destination> destination;
  // How many deliveries at most: 1 to 1000.
  std::uint32_t limit = 1;
  // How long until another claim may take them over: 1 ms to 30 days.
  Duration ttl = std::chrono::seconds(30);
  // How long to wait while nothing is due; 0 answers at once, negative is refused, Duration::max()
  // waits until stopped.
  Duration wait = Duration::zero();
  // Default: Options::holder.
  std::optional<Given<HolderId>> holder = {};
};

struct RecoveryOptions {
  // How long the probe may take before the breaker falls back to OPEN: 1 ms to 30 days.
  Duration ttl = std::chrono::seconds(10);
  // Default: Options::holder.
  std::optional<Given<HolderId>> holder = {};
};

// Each returns the first bound overstepped as invalid_option or invalid_duration (deterministic),
// naming the field.
[[nodiscard]] Status check(const BreakerPolicy& policy);
[[nodiscard]] Status check(const DeliveryPolicy& policy);
[[nodiscard]] Status check(const Options& options);
[[nodiscard]] Status check_ttl(Duration ttl, std::string_view field = "ttl");
[[nodiscard]] Status check_wait(Duration wait);

namespace detail {

inline Status check_duration(Duration value, Duration least, Duration most,
                             std::string_view field) {
  if (value < least) {
    return fail(
        invalid(Errc::invalid_duration, field, least.count(), Bound::at_least, Unit::nanoseconds));
  }
  if (value > most) {
    return fail(
        invalid(Errc::invalid_duration, field, most.count(), Bound::at_most, Unit::nanoseconds));
  }
  return {};
}

// A number of things, 1 to `most`.
inline Status check_count(std::uint64_t value, std::int64_t most, std::string_view field,
                          Unit unit = Unit::none) {
  if (value == 0) return fail(invalid(Errc::invalid_option, field, 1, Bound::at_least, unit));
  if (value > static_cast<std::uint64_t>(most)) {
    return fail(invalid(Errc::invalid_option, field, most, Bound::at_most, unit));
  }
  return {};
}

}  // namespace detail

inline Status check_ttl(Duration ttl, std::string_view field) {
  return detail::check_duration(ttl, min_ttl, max_ttl, field);
}

inline Status check_wait(Duration wait) {
  return detail::check_duration(wait, Duration::zero(), Duration::max(), "wait");
}

inline Status check(const BreakerPolicy& policy) {
  constexpr std::int64_t most = 1'000'000;
  constexpr Duration least_interval = std::chrono::milliseconds(1);
  constexpr Duration most_interval = std::chrono::hours(24);
  if (auto ok = detail::check_count(policy.trip_after, most, "breaker.trip_after"); !ok) return ok;
  if (auto ok = detail::check_duration(policy.first_interval, least_interval, most_interval,
                                       "breaker.first_interval");
      !ok) {
    return ok;
  }
  return detail::check_duration(policy.max_interval, policy.first_interval, most_interval,
                                "breaker.max_interval");
}

inline Status check(const DeliveryPolicy& policy) {
  using std::chrono::milliseconds;
  constexpr std::int64_t most_attempts = 1000;
  if (auto ok = detail::check_count(policy.max_attempts, most_attempts, "delivery.max_attempts");
      !ok) {
    return ok;
  }
  if (auto ok = detail::check_duration(policy.max_age, std::chrono::seconds(1),
                                       std::chrono::days(30), "delivery.max_age");
      !ok) {
    return ok;
  }
  if (auto ok = detail::check_duration(policy.first_backoff, milliseconds(1),
                                       std::chrono::hours(24), "delivery.first_backoff");
      !ok) {
    return ok;
  }
  return detail::check_duration(policy.max_backoff, policy.first_backoff, std::chrono::hours(24),
                                "delivery.max_backoff");
}

inline Status check(const Options& options) {
  if (options.durability > Durability::relaxed) {
    return fail(invalid(Errc::invalid_option, "durability"));
  }
  if (auto ok = detail::check_duration(options.operation_timeout, std::chrono::milliseconds(1),
                                       std::chrono::hours(1), "operation_timeout");
      !ok) {
    return ok;
  }
  if (auto ok =
          detail::check_count(options.max_payload, max_payload_bytes, "max_payload", Unit::bytes);
      !ok) {
    return ok;
  }
  if (options.holder) {
    if (auto holder = options.holder->check(); !holder) return fail(holder.error());
  }
  if (auto ok = check(options.breaker); !ok) return ok;
  return check(options.delivery);
}

}  // namespace wallock
