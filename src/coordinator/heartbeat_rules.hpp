// The heartbeat's rules: when a guarded lease is renewed, and when it has to be taken for lost.
#pragma once

#include <optional>

#include "wallock/lease.hpp"
#include "wallock/lease_guard.hpp"
#include "wallock/result.hpp"
#include "wallock/time.hpp"

namespace wallock::detail {

// Why the store did not let a lease go on, and when it said so. Holds what the rules need of the
// Error, so that keeping it never allocates.
struct Refusal {
  Errc code = Errc::busy;
  std::optional<FencingToken> fence = {};
  Instant at;
};
[[nodiscard]] Refusal to_refusal(const Error& error, Instant at) noexcept;

// All that is known about a guarded lease at a moment.
struct Pulse {
  Lease lease;                          // as of the last renewal or commit
  Duration ttl{};                       // asked for with each renewal
  Duration margin{};                    // how long before its end the lease is reported lost
  Instant hold_until = Instant::max();  // max_hold
  bool heartbeat = true;                // false: never renewed
  bool asking = false;                  // a renewal is under way
  std::optional<Refusal> refusal = {};  // the store's last answer, if it was one
};

// What is to be done about a lease now.
struct Beat {
  enum class Kind { sleep, renew, lost };
  Kind kind = Kind::sleep;
  Instant until = Instant::max();        // sleep: ask again then; renew: give up then
  LossReason reason = LossReason::none;  // lost

  friend bool operator==(const Beat&, const Beat&) = default;
};

// When something is to be done about a lease, as long as nothing changes.
struct Agenda {
  Instant loss;                      // then it has to be taken for lost; the least instant: now
  Instant renewal = Instant::max();  // then a renewal is due; never while one is under way
  Duration head_start{};             // so much earlier it is renewed if others are anyway
  Duration patience{};               // of one attempt
};
[[nodiscard]] Agenda agenda_of(const Pulse& pulse) noexcept;

// The margin for a ttl: the one given, at most half the ttl; a tenth of it by default.
[[nodiscard]] Duration margin_of(std::optional<Duration> given, Duration ttl) noexcept;

// When the lease has to be taken for lost without news: margin before request time + ttl. That is
// never after the end that the store has, which counts from the grant.
[[nodiscard]] Instant lost_at(const Pulse& pulse) noexcept;

// How much earlier than due a lease is renewed along with others: three tenths of the time between
// two renewals. So neighbours come to share a transaction within some intervals, whenever each
// came.
[[nodiscard]] Duration head_start(Duration ttl) noexcept;

// The pause after a renewal that failed: a fiftieth of the ttl, 1 ms to 250 ms.
[[nodiscard]] Duration retry_pause(Duration ttl) noexcept;

// How long one renewal may wait for the store's write lock: a tenth of the ttl, 10 ms to 250 ms.
// Many short attempts instead of one long: each bounds how long ending a coordinator takes.
[[nodiscard]] Duration attempt_patience(Duration ttl) noexcept;

// When to look at the clock again for something that is to happen in `left` on it, because real
// time may be shorter: after an eighth of it, 100 ms to 1 s. So a lease whose end a suspended
// machine slept through is told lost a second after it woke up, and one whose end is near in 100
// ms. Never, if nothing is to happen (the longest duration).
[[nodiscard]] Duration look_after(Duration left) noexcept;

// True for an answer that no repetition changes: every class but transient.
[[nodiscard]] bool is_final(Errc code) noexcept;

// What a final answer about the lease means for its holder, as best known: a newer grant shows by a
// fence above the token.
[[nodiscard]] LossReason loss_reason(const Refusal& refusal, const Lease& lease) noexcept;

// Decides, in this order:
//   the store refused for good        lost, with the refusal's reason
//   max_hold is over, and was first   lost (max_hold)
//   the time less the margin is over  lost: store_unavailable if a renewal failed or is under way,
//                                     else expired
//   a third of the ttl is over        renew, unless one is under way; after a failure, renew again
//                                     once the pause is over
//   otherwise                         sleep until the first of these
// In company, while others are renewed, a head start on the third counts as the third.
enum class Company : bool { none, others };
[[nodiscard]] Beat decide_beat(const Pulse& pulse, Instant now,
                               Company company = Company::none) noexcept;

}  // namespace wallock::detail
