// Coordinator: the façade. Leases with fencing tokens, guarded commits, outbox, breaker, ledger.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "wallock/action.hpp"
#include "wallock/audit.hpp"
#include "wallock/breaker.hpp"
#include "wallock/committed.hpp"
#include "wallock/delivery.hpp"
#include "wallock/export.hpp"
#include "wallock/health.hpp"
#include "wallock/lease.hpp"
#include "wallock/lease_repository.hpp"
#include "wallock/name.hpp"
#include "wallock/options.hpp"
#include "wallock/result.hpp"
#include "wallock/transaction.hpp"

namespace wallock {

class LeaseGuard;
struct GuardOptions;
namespace detail {
class CoordinatorCore;
}

// One worker process opens one Coordinator on the store's path and shares it between its threads.
//
//     Commit(job, token) = ALLOW
//         iff  token > max_fence(resource)  AND  breaker(resource) == CLOSED
//
// What each operation does, by the state of the resource as the store has it:
//
//             free           held by me    by another      expired        breaker not CLOSED
//   acquire   grants (1)     already_held  lease_held (2)  grants (1)     breaker_open
//   renew     lease_lost     extends       lease_lost      lease_expired  lease_lost (3)
//   commit    stale_token    allows        stale_token     allows (4)     breaker_open
//   release   already_ended  released      already_ended   expired        already_ended
//   execute   runs (1)       already_held  lease_held (2)  runs (1)       breaker_open
//   report    late           counts        late            counts         late
//
//   (1) lease_held, without a holder, while others are in line who came before
//   (2) after the wait; grants if the kernel says that the other's process is gone
//   (3) a trip ends the lease and fences its token
//   (4) as long as nobody superseded it: the fence decides, not the clock
//
// Errors: every call returns a Result; no exception crosses. Besides the codes named at each call,
// all changing calls may answer busy, io_error, disk_full, outcome_unknown, store_unavailable,
// out_of_memory (transient: repeat), forked_handle, called_inside_work, foreign_key_refused
// (deterministic), invariant_violated, ledger_damaged, store_corrupt, store_replaced (security:
// stop). An error other than outcome_unknown means that nothing was changed.
//
// Names may be given as string literals; a bad one is the invalid_name of that call.
//
// Thread safety: every member of one Coordinator may be called from all threads at once.
// Lifetime: movable, not copyable; one that was moved from may only be destroyed or assigned to.
// Guards may outlive it: the store stays open until the last of them is gone. Not usable in a
// forked child (forked_handle); its destructor does nothing there.
class WALLOCK_EXPORT Coordinator {
 public:
  // Opens the store at `path`, creating file and schema if there are none. The folder must exist; a
  // file that is there must be a regular one without a second (hard) link, and what stands beside
  // it under the names of its side files must be those: invalid_path otherwise, which says what was
  // found. ":memory:" and "file:" names are invalid_path as well: a store is a file that processes
  // share. A file that is another application's SQLite database gets wallock's tables beside its
  // own. An opening that is refused leaves no file beside it that was not there.
  //
  // In a child of fork(2) whose parent had the store open: forked_handle, because SQLite must not
  // open a file again that it inherited open. Open it after the fork, or use exec.
  //
  // invalid_option, invalid_path, invalid_duration, unsupported_filesystem, not_a_store,
  // schema_too_new, setting_refused, forked_handle, foreign_key_refused (deterministic);
  // store_unavailable, busy, io_error, disk_full (transient); store_corrupt (security).
  [[nodiscard]] static Result<Coordinator> open(std::string_view path, Options options = {});

  // Coordinates over another store than the SQLite file: for tests and other backends.
  [[nodiscard]] static Result<Coordinator> over(std::unique_ptr<LeaseRepository> repository,
                                                Options options = {});

  Coordinator(Coordinator&&) noexcept;
  Coordinator& operator=(Coordinator&&) noexcept;
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;
  ~Coordinator();

  // Grants the resource to one holder under a token greater than every token before it. Waits up to
  // options.wait while somebody else has it, or until `stop` is requested: first come, first served
  // over the threads and processes of the machine. A wait that ends leaves nothing behind.
  //
  // lease_held (with the holder's name and the end of its lease), already_held, breaker_open,
  // action_conflict, request_spent, cancelled (business); breaker_illegal (security); invalid_name,
  // invalid_duration, too_large (deterministic).
  [[nodiscard]] Result<Lease> acquire(Given<ResourceName> resource, AcquireOptions options = {},
                                      std::stop_token stop = {});
  // The same without waiting, whatever options.wait says.
  [[nodiscard]] Result<Lease> try_acquire(Given<ResourceName> resource,
                                          AcquireOptions options = {});
  // Grants all of the resources (1 to 100, each counted once) in one transaction, or none: the
  // error is that of the first in the order of the names that is refused. Nothing is held while it
  // waits, so that callers who name the same resources in other orders never wait for each other;
  // in return there is no first come, first served among calls for several resources. The leases
  // come in the order of the names. Errors as acquire, the field of a bad name being "resources[2]"
  // for the third one given; invalid_option for "resources" and "action_id", which there is none
  // for several.
  [[nodiscard]] Result<std::vector<Lease>> acquire_all(std::vector<Given<ResourceName>> resources,
                                                       AcquireOptions options = {},
                                                       std::stop_token stop = {});
  // Acquires and keeps the lease alive until the guard is released or destroyed
  // (wallock/lease_guard.hpp). Errors as acquire; no_thread (transient) if the system gives no
  // thread for its heartbeats, before a lease is taken.
  [[nodiscard]] Result<LeaseGuard> guard(Given<ResourceName> resource, AcquireOptions options,
                                         GuardOptions guard_options, std::stop_token stop = {});
  [[nodiscard]] Result<LeaseGuard> guard(Given<ResourceName> resource, AcquireOptions options = {});

  // Moves the end of the lease to now + ttl, under the same token. Gives up early enough that the
  // caller still learns of a failure before the lease ends.
  //
  // lease_expired (never revives), lease_lost, breaker_open (business); unknown_token (security).
  [[nodiscard]] Result<Lease> renew(const Lease& lease, Duration ttl);

  // Records 1 to 1000 actions and runs `work` in one transaction, if the token may still write;
  // spends the token. Repeating a commit whose actions are all recorded with the same content
  // answers the original results, replayed, and does not run the work: after outcome_unknown or
  // any transient error simply repeat.
  //
  // stale_token, breaker_open, action_conflict, batch_partly_recorded, work_failed (business);
  // batch_size, duplicate_action, too_large, work_forbidden, invalid_name, invalid_duration
  // (deterministic); unknown_token, breaker_illegal (security).
  [[nodiscard]] Result<Committed> commit(const Lease& lease, const Batch& actions,
                                         const Work& work = {}, CommitOptions options = {});

  // Ends the lease and fences its token. What one no longer has is an ordinary answer, not an
  // error; a failed release may be repeated. unknown_token (security).
  [[nodiscard]] Result<ReleaseEffect> release(const Lease& lease);

  // acquire, commit and release in one transaction with one flush: for work that only touches this
  // database. Replays as commit does, without needing the resource. Errors as acquire and commit.
  [[nodiscard]] Result<Committed> execute(Given<ResourceName> resource, const Batch& actions,
                                          const Work& work = {}, ExecuteOptions options = {},
                                          std::stop_token stop = {});

  // Tells the breaker how the downstream answered; report before the commit that spends the token.
  // A report under a token at or below the fence is late: recorded, nothing else. unknown_token,
  // breaker_illegal (security).
  Result<ReportEffect> report(const Lease& lease, DownstreamOutcome outcome);

  // What the breaker shows now. A resource never heard of shows CLOSED, as a first acquire would
  // find it; a missing or illegal row is breaker_illegal (security).
  [[nodiscard]] Result<BreakerStatus> breaker(Given<ResourceName> resource);

  // Grants the one probe of an OPEN breaker whose interval is over. breaker_not_open, breaker_open
  // (forced), recovery_not_due, lease_held (business); breaker_illegal (security).
  [[nodiscard]] Result<Probe> begin_recovery(Given<ResourceName> resource,
                                             RecoveryOptions options = {});
  // Closes the breaker with evidence, or opens it again for a longer interval. probe_lost
  // (business), invalid_evidence (deterministic).
  Status complete_recovery(const Probe& probe, const RecoveryVerdict& verdict);

  // Opens the breaker until clear_forced, fencing and ending the current lease; the reason (1 to
  // 1024 bytes of UTF-8 without a NUL) goes into the ledger. too_large, invalid_option for
  // "reason" (deterministic). Also the way out of breaker_illegal.
  Status force_open(Given<ResourceName> resource, std::string reason);
  // Ends the force; the breaker stays OPEN until explicit recovery.
  Status clear_forced(Given<ResourceName> resource);

  // Takes due deliveries for one destination, in commit order per resource; none is an empty list.
  // Resources whose breaker is not CLOSED are passed over without using up an attempt; damaged
  // deliveries become dead letters, and others are taken in their place (docs/outbox.md). While
  // nothing is due it waits for options.wait: a commit or settlement of any process wakes it at
  // once, a delivery that becomes due by its time within a quarter of a second. cancelled
  // (business) if `stop` is requested.
  [[nodiscard]] Result<std::vector<Delivery>> claim(ClaimOptions options,
                                                    std::stop_token stop = {});
  // Says what became of a delivery. claim_lost (business) once another claim has it.
  [[nodiscard]] Result<Settled> settle(const Delivery& delivery, DeliveryOutcome outcome);
  // The same of several (1 to 1000) in one transaction, with one flush for all. Each has an answer
  // of its own, in their order: one whose claim is lost does not keep the others back. If the call
  // as a whole is refused, nothing is settled. invalid_option for "settlements" (deterministic).
  [[nodiscard]] Result<std::vector<Result<Settled>>> settle_all(
      std::span<const Settlement> settlements);

  // Ends somebody's lease and fences its token, if it is still the one expected. lease_lost
  // (business) if not. The reason as for force_open.
  Status revoke(Given<ResourceName> resource, FencingToken expected, std::string reason);

  // The leases alive now, by resource name, at most `limit` (1 to 10'000).
  [[nodiscard]] Result<std::vector<LeaseInfo>> leases(std::size_t limit = 1000);
  // Records in ledger order. invalid_option for a limit outside 1 to 10'000.
  [[nodiscard]] Result<std::vector<AuditRecord>> audit(AuditRange range = {});
  // The ledger's size and Merkle root: keep it somewhere else.
  [[nodiscard]] Result<TreeHead> root();
  // Recomputes every hash from the rows, in constant memory, and names the first bad position.
  // Without a trusted head the best verdict is UNANCHORED.
  [[nodiscard]] Result<VerifyReport> verify(std::optional<TreeHead> trusted = std::nullopt);
  [[nodiscard]] Result<Health> health();

 private:
  explicit Coordinator(std::shared_ptr<detail::CoordinatorCore> core) noexcept;

  std::shared_ptr<detail::CoordinatorCore> core_;
};

}  // namespace wallock
