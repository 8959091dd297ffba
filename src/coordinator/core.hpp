// CoordinatorCore: what a Coordinator and its guards share; lives as long as the last of them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "coordinator/boundary.hpp"
#include "coordinator/heartbeats.hpp"
#include "coordinator/waiting.hpp"
#include "host/process.hpp"
#include "wallock/action.hpp"
#include "wallock/clock.hpp"
#include "wallock/lease_repository.hpp"
#include "wallock/options.hpp"
#include "wallock/result.hpp"

namespace wallock::detail {

// An acquire whose every argument is checked.
struct AcquireRequest {
  rules::AcquireCommand command;
  std::string metadata = {};
  Duration wait{};
};

// Owns the store, the options, this opening's identity and the heartbeat threads.
//
// Thread safety: all members may be called from all threads at once.
// In a forked child every call answers forked_handle, and the destructor leaves store and threads
// alone: their locks and threads belong to the parent.
class CoordinatorCore {
 public:
  // `store` and options.clock are not null; the options are checked. Throws std::bad_alloc.
  CoordinatorCore(std::unique_ptr<LeaseRepository> store, std::shared_ptr<host::Sidecar> sidecar,
                  Options options, InstanceId instance);
  CoordinatorCore(const CoordinatorCore&) = delete;
  CoordinatorCore& operator=(const CoordinatorCore&) = delete;
  ~CoordinatorCore();

  // Runs an operation on the store: forked_handle in a child, no exception out of it.
  template <class Operation>
  [[nodiscard]] auto call(Operation&& operation) noexcept
      -> std::invoke_result_t<Operation&, LeaseRepository&> {
    if (forked()) return fail(Errc::forked_handle);
    return at_boundary([&] { return operation(*store_); });
  }

  [[nodiscard]] bool forked() const noexcept { return process_.forked(); }
  [[nodiscard]] Instant now() const { return options_.clock->now(); }
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  [[nodiscard]] InstanceId instance() const noexcept { return instance_; }
  [[nodiscard]] Heartbeats& heartbeats() noexcept { return *heartbeats_; }

  // When an operation that starts now gives up waiting for the store's write lock.
  [[nodiscard]] Instant deadline() const;
  // Who acts: the one named, else Options::holder, else this opening and the calling thread.
  [[nodiscard]] Result<HolderId> holder(const std::optional<Given<HolderId>>& given) const;
  // The actions of a batch, each within Options::max_payload.
  [[nodiscard]] Result<std::span<const ActionRequest>> actions(const Batch& batch) const;

  [[nodiscard]] Result<AcquireRequest> request(const Given<ResourceName>& resource,
                                               const AcquireOptions& options) const;
  // Acquires, waiting as asked. For use inside call().
  [[nodiscard]] Result<Lease> acquire(const AcquireRequest& request, const std::stop_token& stop);
  // The same for several resources at once: sorted, each once.
  [[nodiscard]] Result<std::vector<Lease>> acquire_all(
      std::span<const Given<ResourceName>> resources, const AcquireOptions& options,
      const std::stop_token& stop);
  // Claims, waiting for as long as nothing is due. For use inside call().
  [[nodiscard]] Result<std::vector<Delivery>> claim(const ClaimRequest& request, Duration wait,
                                                    const std::stop_token& stop);
  // Calls ask(Attempt) -> Result until it answers something else than lease_held, or a wait of
  // `wait` for whoever has the resource is over. For use inside call().
  template <class Ask>
  [[nodiscard]] auto attempt(std::span<const ResourceName> resources, Duration wait,
                             const std::stop_token& stop, Ask ask)
      -> std::invoke_result_t<Ask&, Attempt> {
    const WaitLimits limits{
        .wait = wait, .operation_timeout = options_.operation_timeout, .stop = stop};
    if (auto* const line = sidecar()) {
      line->lifeline().start();
      LineLookout lookout(*line, *options_.clock, resources, saturating_add(now(), wait));
      Waiting waiting(lookout, *options_.clock, limits);
      return attempt_until(waiting, ask);
    }
    PollingLookout lookout(*store_, *options_.clock, jitter_);
    Waiting waiting(lookout, *options_.clock, limits);
    return attempt_until(waiting, ask);
  }
  // What all processes of the store share to wait for each other; null where there is none, and on
  // a clock of the application's own: sleeping is real time.
  [[nodiscard]] host::Sidecar* sidecar() const noexcept;

 private:
  const host::ProcessMark process_;
  const Options options_;
  const InstanceId instance_;
  Jitter jitter_;
  std::shared_ptr<host::Sidecar> sidecar_;
  std::unique_ptr<LeaseRepository> store_;
  std::shared_ptr<Heartbeats> heartbeats_;
};

}  // namespace wallock::detail
