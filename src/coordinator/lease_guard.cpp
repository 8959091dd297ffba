#include "wallock/lease_guard.hpp"

#include <algorithm>
#include <utility>

#include "coordinator/checks.hpp"
#include "coordinator/core.hpp"
#include "coordinator/held_lease.hpp"

namespace wallock {

using detail::CoordinatorCore;
using detail::HeldLease;

// A guard's share in the core and in its lease. Ends the lease with itself.
class LeaseGuard::State {
 public:
  State(std::shared_ptr<CoordinatorCore> core, std::shared_ptr<HeldLease> held, Lease granted)
      : core_(std::move(core)), held_(std::move(held)), granted_(std::move(granted)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  [[nodiscard]] bool forked() const noexcept { return core_->forked(); }
  [[nodiscard]] HeldLease& held() const noexcept { return *held_; }
  [[nodiscard]] CoordinatorCore& core() const noexcept { return *core_; }
  // In a forked child a lock may be held by a thread that is not there: it gets what never changes.
  [[nodiscard]] Lease lease() const { return forked() ? granted_ : held_->lease(); }

  // Begins heartbeats. Throws std::bad_alloc.
  void serve() { core_->heartbeats().add(held_); }
  // Finds out whether the time is over, so that an answer about the loss never lags behind the
  // clock because a thread did not come to run.
  void look() const;
  // Runs `operation` as the only one about this lease that asks the store.
  template <class Operation>
  [[nodiscard]] auto in_turn(Duration patience, Operation&& operation)
      -> std::invoke_result_t<Operation&, LeaseRepository&>;
  // Stops the heartbeat, then releases; waits at most `patience` for a renewal under way, and as
  // long for the store.
  [[nodiscard]] Result<ReleaseEffect> release(Duration patience);

 private:
  const std::shared_ptr<CoordinatorCore> core_;
  const std::shared_ptr<HeldLease> held_;
  const Lease granted_;
};

void LeaseGuard::State::look() const {
  if (held_->watch(core_->now())) core_->heartbeats().look_at(*held_);
}

template <class Operation>
auto LeaseGuard::State::in_turn(Duration patience, Operation&& operation)
    -> std::invoke_result_t<Operation&, LeaseRepository&> {
  return core_->call(
      [&](LeaseRepository& store) -> std::invoke_result_t<Operation&, LeaseRepository&> {
        if (auto ok = held_->take_turn(patience); !ok) return fail(ok.error());
        struct Turn {
          State& state;
          ~Turn() {
            if (state.forked()) return;  // in a commit's work: a child has no turn
            static_cast<void>(state.held_->give_turn_back());
            state.core_->heartbeats().look_at(*state.held_);
          }
        } const turn{*this};
        return operation(store);
      });
}

Result<ReleaseEffect> LeaseGuard::State::release(Duration patience) {
  if (forked()) return fail(Errc::forked_handle);
  core_->heartbeats().remove(*held_);
  held_->stop();
  return in_turn(patience, [&](LeaseRepository& store) -> Result<ReleaseEffect> {
    if (held_->ended()) return ReleaseEffect::already_ended;
    auto answer = store.release(held_->lease(), saturating_add(core_->now(), patience));
    if (answer) held_->end();
    return answer;
  });
}

LeaseGuard::State::~State() {
  constexpr Duration longest = std::chrono::seconds(1);
  static_cast<void>(release(std::min(core_->options().operation_timeout, longest)));
}

LeaseGuard::LeaseGuard(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
LeaseGuard::LeaseGuard(LeaseGuard&&) noexcept = default;

LeaseGuard& LeaseGuard::operator=(LeaseGuard&& other) noexcept {
  if (this != &other) {
    const LeaseGuard old(std::move(*this));
    state_ = std::move(other.state_);
  }
  return *this;
}

LeaseGuard::~LeaseGuard() {
  // What the child of a fork inherited is never destroyed: see CoordinatorCore.
  if (state_ && state_->forked()) host::abandon(state_.release());
}

Lease LeaseGuard::lease() const { return state_->lease(); }

FencingToken LeaseGuard::token() const { return state_->lease().token(); }

std::stop_token LeaseGuard::lost() const {
  if (!state_->forked()) {
    state_->look();
    return state_->held().lost();
  }
  std::stop_source over;
  over.request_stop();
  return over.get_token();
}

LossReason LeaseGuard::reason() const {
  if (state_->forked()) return LossReason::forked;
  state_->look();
  return state_->held().reason();
}

bool LeaseGuard::valid() const {
  if (state_->forked()) return false;
  state_->look();
  return state_->held().alive();
}

Result<Committed> LeaseGuard::commit(const Batch& actions, const Work& work,
                                     CommitOptions options) {
  CoordinatorCore& core = state_->core();
  HeldLease& held = state_->held();
  auto answer = state_->in_turn(
      core.options().operation_timeout, [&](LeaseRepository& store) -> Result<Committed> {
        const auto checked = core.actions(actions);
        if (!checked) return fail(checked.error());
        if (auto ok = detail::check(options); !ok) return fail(ok.error());
        auto result = store.commit(held.lease(), *checked, work, options, core.deadline());
        if (!state_->forked()) held.committed(result, options.after, core.now());
        return result;
      });
  if (!state_->forked()) state_->look();
  return answer;
}

Result<ReportEffect> LeaseGuard::report(DownstreamOutcome outcome) {
  CoordinatorCore& core = state_->core();
  return core.call([&](LeaseRepository& store) -> Result<ReportEffect> {
    if (auto ok = detail::check(outcome); !ok) return fail(ok.error());
    return store.report(state_->lease(), outcome, core.deadline());
  });
}

Result<ReleaseEffect> LeaseGuard::release() {
  return state_->release(state_->core().options().operation_timeout);
}

Result<LeaseGuard> Coordinator::guard(Given<ResourceName> resource, AcquireOptions options,
                                      GuardOptions guard_options, std::stop_token stop) {
  return core_->call([&](LeaseRepository& store) -> Result<LeaseGuard> {
    const auto request = core_->request(resource, options);
    if (!request) return fail(request.error());
    if (auto ok = detail::check(guard_options, options.ttl); !ok) return fail(ok.error());
    // Before the lease: a machine without a thread to spare must not leave one behind.
    if (auto ok = core_->heartbeats().start(guard_options.heartbeat); !ok) return fail(ok.error());
    const auto lease = core_->acquire(*request, stop);
    if (!lease) return fail(lease.error());
    try {
      auto held = std::make_shared<HeldLease>(*lease, options.ttl, std::move(guard_options));
      LeaseGuard guard(std::make_unique<LeaseGuard::State>(core_, std::move(held), *lease));
      guard.state_->serve();
      return guard;
    } catch (...) {
      static_cast<void>(store.release(*lease, core_->deadline()));
      throw;
    }
  });
}

Result<LeaseGuard> Coordinator::guard(Given<ResourceName> resource, AcquireOptions options) {
  return guard(std::move(resource), std::move(options), GuardOptions{});
}

}  // namespace wallock
