// LeaseGuard: holds a lease for as long as it lives, and says early when it is lost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include "wallock/coordinator.hpp"
#include "wallock/print.hpp"

namespace wallock {

// Why a guarded lease must be taken for lost.
enum class LossReason : std::uint8_t {
  none,               // it is not lost
  expired,            // its time, less the margin, is over without a renewal
  superseded,         // somebody else was granted the resource
  revoked,            // an operator or a breaker trip ended it
  store_unavailable,  // renewing failed until the time was over
  forked,             // this is a child of the process that acquired it
  max_hold,           // GuardOptions::max_hold is reached; no longer renewed
};

[[nodiscard]] constexpr std::string_view to_string(LossReason reason) noexcept {
  switch (reason) {
    case LossReason::none:
      return "none";
    case LossReason::expired:
      return "expired";
    case LossReason::superseded:
      return "superseded";
    case LossReason::revoked:
      return "revoked";
    case LossReason::store_unavailable:
      return "store_unavailable";
    case LossReason::forked:
      return "forked";
    case LossReason::max_hold:
      return "max_hold";
  }
  return "none";
}

struct GuardOptions {
  // Renew in the background, each time a third of the ttl is over, or a little earlier together
  // with others of the process.
  bool heartbeat = true;
  // How long before the end of the lease it is reported lost: zero to half the ttl.
  // Default: a tenth of the ttl.
  std::optional<Duration> margin = {};
  // Renewing stops after this time, and the lease is reported lost, so that a worker that hangs
  // does not keep the resource for ever: at least the ttl. Default: no limit.
  Duration max_hold = Duration::max();
  // Called, at most once, on the heartbeat's thread, a moment after the stop token fired: also when
  // that was fired by a refused commit of the guard's own, which does not wait for this call. Must
  // not throw or block: other guards' news and the guard's end wait for it. Not called any more
  // once release() or the destructor has returned, not even for a lease that was lost before.
  std::function<void(LossReason)> on_lost = {};
};

// Move-only owner of one lease. A heartbeat renews it in the background; lost() fires at request
// time + ttl - margin at the latest, without needing the store, unless a renewal moved that time.
//
// valid() and lost() are advisory: the work may go on for a moment after the lease ended. Only a
// commit tells whether the token may still write.
//
// Thread safety: lost(), reason(), token() and valid() may be called from any thread while another
// one uses the guard; the other members by one thread at a time.
// The destructor releases the lease if it still has it, also if it was reported lost: nobody is let
// in while the guard's owner may still be at work. It waits for the store no longer than one second
// and one renewal under way, and never throws; what went wrong then is lost with it, so call
// release() where the outcome matters.
// Lifetime: movable, not copyable; may outlive its Coordinator. A guard that was moved from may
// only be destroyed or assigned to. In a forked child: calls answer forked_handle, reason() is
// forked, lost() is stopped (tokens taken before the fork are not), lease() is the lease as first
// granted, the destructor does nothing.
class WALLOCK_EXPORT LeaseGuard {
 public:
  LeaseGuard(LeaseGuard&&) noexcept;
  LeaseGuard& operator=(LeaseGuard&&) noexcept;
  LeaseGuard(const LeaseGuard&) = delete;
  LeaseGuard& operator=(const LeaseGuard&) = delete;
  ~LeaseGuard();

  // The lease as of the last renewal or commit.
  [[nodiscard]] Lease lease() const;
  [[nodiscard]] FencingToken token() const;
  // Stop is requested as soon as the lease has to be taken for lost.
  [[nodiscard]] std::stop_token lost() const;
  [[nodiscard]] LossReason reason() const;
  // Not lost, and before request time + ttl - margin. Advisory.
  [[nodiscard]] bool valid() const;

  // As Coordinator::commit, with AfterCommit::keep as the default, so that the guard can commit
  // again; the guard takes the new lease over. With AfterCommit::nothing it goes on holding the
  // resource, but can commit no more. A refused commit (stale_token) also fires lost().
  [[nodiscard]] Result<Committed> commit(const Batch& actions, const Work& work = {},
                                         CommitOptions options = {.after = AfterCommit::keep});

  // As Coordinator::report, for this lease.
  Result<ReportEffect> report(DownstreamOutcome outcome);

  // Stops the heartbeat first, then releases. May be repeated after a transient error: the guard
  // keeps its token until the store has answered. already_ended once that has happened.
  // called_inside_work from inside this guard's own commit (deterministic).
  [[nodiscard]] Result<ReleaseEffect> release();

 private:
  friend class Coordinator;
  class State;
  explicit LeaseGuard(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace wallock
