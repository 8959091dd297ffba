#include "sqlite/derived_state.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace wallock::sqlite {
namespace {

constexpr std::uint64_t first_epoch = 1;
// No policy allows more claims of one delivery (DeliveryPolicy::max_attempts).
constexpr std::uint32_t most_attempts = 1000;

bool needs_action(RecordKind kind) { return kind >= RecordKind::delivery_claimed; }

bool needs_resource(RecordKind kind) { return kind >= RecordKind::lease_granted; }

bool needs_until(RecordKind kind) {
  return kind == RecordKind::lease_granted || kind == RecordKind::lease_renewed ||
         kind == RecordKind::probe_granted || kind == RecordKind::delivery_claimed;
}

bool is_shared_renewal(const LedgerEntry& entry) {
  return entry.kind == RecordKind::lease_renewed && !entry.resource;
}

// The number in "count=<number> sha256=<64 hex characters>"; 0 if it is anything else.
std::uint64_t count_of(std::string_view detail) {
  constexpr std::string_view before = "count=";
  constexpr std::string_view between = " sha256=";
  if (!detail.starts_with(before)) return 0;
  const char* const end = detail.data() + detail.size();
  std::uint64_t count = 0;
  const auto read = std::from_chars(detail.data() + before.size(), end, count);
  const std::string_view rest(read.ptr, static_cast<std::size_t>(end - read.ptr));
  if (!rest.starts_with(between)) return 0;
  return Digest::parse(rest.substr(between.size())) ? count : 0;
}

}  // namespace

void DerivedState::broken(Invariant invariant) {
  violations_.push_back(
      {.invariant = invariant,
       .position = now_.position,
       .resource = now_.entry.resource ? now_.entry.resource->str() : std::string()});
}

void DerivedState::feed(std::uint64_t position, WallTime recorded_at, const LedgerEntry& entry) {
  now_ = {.position = position, .recorded_at = recorded_at, .entry = entry};
  check_shape();
  const RecordKind kind = entry.kind;
  if (kind < RecordKind::lease_granted) {
    tell_of_store();
  } else if (kind >= RecordKind::delivery_claimed) {
    tell_of_delivery();
  } else if (entry.resource) {
    DerivedResource& resource = resources_[entry.resource->str()];
    if (kind < RecordKind::outcome_late) {
      tell_of_lease(resource);
    } else {
      tell_of_breaker(resource);
    }
  } else if (is_shared_renewal(entry)) {
    tell_of_shared_renewal();
  }
  before_ = std::move(now_);
}

void DerivedState::check_shape() {
  const LedgerEntry& entry = now_.entry;
  const bool is_action = entry.kind == RecordKind::action_recorded;
  const bool is_shared = is_shared_renewal(entry);
  must((needs_resource(entry.kind) && !is_shared) == entry.resource.has_value() &&
           (!is_shared || (!entry.token && entry.actor.empty() && count_of(entry.detail) > 1)) &&
           needs_until(entry.kind) == entry.until.has_value() &&
           needs_action(entry.kind) == entry.subject.has_value() &&
           (needs_action(entry.kind) || is_action) == entry.state.has_value() &&
           is_action == (entry.digest && entry.score) && (!is_action || entry.action_id),
       Invariant::record_shape);
  if (entry.score) {
    const auto again = Score::parse(to_string(*entry.score));
    must(again && *again == *entry.score, Invariant::score);
  }
  must((now_.position == 0) == (entry.kind == RecordKind::genesis), Invariant::genesis);
}

void DerivedState::tell_of_store() {
  if (now_.entry.kind == RecordKind::genesis) {
    epoch_ = first_epoch;
    store_id_ = now_.entry.detail;
    return;
  }
  must(now_.entry.token.epoch() == epoch_ + 1 && now_.entry.token.position() == 0,
       Invariant::epoch);
  epoch_ = now_.entry.token.epoch();
}

FencingToken DerivedState::fence(const DerivedResource& resource) const {
  const auto first = FencingToken::of(epoch_, 0);
  return std::max(resource.max_fence, first ? first->predecessor() : FencingToken());
}

void DerivedState::end_lease(DerivedResource& resource) {
  resource.max_fence = std::max(resource.max_fence, resource.issued);
  resource.lease.reset();
}

// The token of a grant is where the grant stands.
void DerivedState::check_granted_token() {
  const FencingToken token = now_.entry.token;
  must(token.epoch() == epoch_ && token.position() == now_.position, Invariant::token_place);
  must(token > granted_, Invariant::token_order);
  granted_ = std::max(granted_, token);
}

void DerivedState::tell_of_lease(DerivedResource& resource) {
  const LedgerEntry& entry = now_.entry;
  const bool held = resource.lease && entry.token == resource.issued;
  switch (entry.kind) {
    case RecordKind::lease_granted:
      return granted(resource);
    case RecordKind::action_recorded:
      return recorded(resource);
    case RecordKind::lease_renewed:
      must(held && entry.token.epoch() == epoch_ && entry.actor == resource.lease->holder,
           Invariant::lease_held);
      must(resource.breaker.state == BreakerState::closed, Invariant::breaker_closed);
      if (resource.lease) {
        resource.lease->until = entry.until.value_or(Instant());
        resource.lease->told_at = now_.position;
      }
      return;
    default:  // released or revoked
      must(held && entry.actor == resource.lease->holder, Invariant::lease_held);
      return end_lease(resource);
  }
}

// Whose leases they were is not told: that as many live is all that can be known.
void DerivedState::tell_of_shared_renewal() {
  must(count_of(now_.entry.detail) <= resources_.size(), Invariant::lease_held);
  auto& told = shared_renewals_[epoch_];
  const Instant until = now_.entry.until.value_or(Instant());
  while (!told.empty() && told.back().until <= until)
    told.pop_back();
  told.push_back({.position = now_.position, .until = until});
}

std::optional<Instant> DerivedState::latest_shared_end(const DerivedResource& resource) const {
  const auto told = shared_renewals_.find(resource.issued.epoch());
  if (told == shared_renewals_.end() || !resource.lease) return std::nullopt;
  const auto& [epoch, renewals] = *told;
  const auto after =
      std::ranges::upper_bound(renewals, resource.lease->told_at, {}, &SharedRenewal::position);
  return after == renewals.end() ? std::nullopt : std::optional(after->until);
}

bool DerivedState::may_end_at(const DerivedResource& resource, Instant until) const {
  if (!resource.lease) return false;
  const auto latest = latest_shared_end(resource);
  return until == resource.lease->until || (latest && until <= *latest);
}

// With AfterCommit::keep the next grant of the same holder follows its actions.
bool DerivedState::goes_on_after_commit(const DerivedResource& resource) const {
  return before_ && before_->entry.kind == RecordKind::action_recorded &&
         before_->entry.resource == now_.entry.resource &&
         before_->entry.token == resource.issued && before_->entry.actor == now_.entry.actor &&
         before_->recorded_at == now_.recorded_at;
}

void DerivedState::granted(DerivedResource& resource) {
  const LedgerEntry& entry = now_.entry;
  const Instant until = entry.until.value_or(Instant());
  check_granted_token();
  must(resource.breaker.state == BreakerState::closed, Invariant::breaker_closed);
  const bool may_live = resource.lease && resource.issued.epoch() == epoch_ &&
                        resource.lease->until >= until && !latest_shared_end(resource);
  const bool died = resource.lease && entry.detail == holder_gone;
  must(died || entry.detail.empty(), Invariant::record_shape);
  must(!may_live || died || goes_on_after_commit(resource), Invariant::lease_overlap);
  resource.max_fence = std::max(resource.max_fence, entry.token.predecessor());
  resource.issued = entry.token;
  resource.lease = {.holder = entry.actor,
                    .until = until,
                    .request = entry.action_id ? entry.action_id->str() : std::string(),
                    .told_at = now_.position};
}

// The actions of one commit stand side by side under one token, which is spent after the last.
bool DerivedState::goes_on_with_batch() const {
  return before_ && before_->entry.kind == RecordKind::action_recorded &&
         before_->entry.resource == now_.entry.resource &&
         before_->entry.token == now_.entry.token && before_->recorded_at == now_.recorded_at;
}

void DerivedState::recorded(DerivedResource& resource) {
  const LedgerEntry& entry = now_.entry;
  must(resource.breaker.state == BreakerState::closed, Invariant::breaker_closed);
  if (!goes_on_with_batch()) {
    must(entry.token > fence(resource) && entry.token <= resource.issued && resource.lease &&
             resource.lease->holder == entry.actor,
         Invariant::commit_fence);
    must(entry.token > resource.committed, Invariant::commit_order);
  }
  resource.committed = std::max(resource.committed, entry.token);
  resource.max_fence = std::max(resource.max_fence, entry.token);
  must(entry.state == ActionState::validated || entry.state == ActionState::sealed,
       Invariant::action_moves);
  const auto& name = entry.resource;
  if (!name || entry.state != ActionState::validated) return;
  deliveries_[now_.position] = {.resource = name->str()};
  lines_[name->str()].insert(now_.position);
}

bool DerivedState::counts(const DerivedResource& resource) const {
  const FencingToken token = now_.entry.token;
  return token > fence(resource) && token <= resource.issued &&
         resource.breaker.state == BreakerState::closed;
}

void DerivedState::tell_of_breaker(DerivedResource& resource) {
  const LedgerEntry& entry = now_.entry;
  DerivedBreaker& breaker = resource.breaker;
  switch (entry.kind) {
    case RecordKind::outcome_late:
      return must(entry.token <= resource.issued && !counts(resource), Invariant::report_effect);
    case RecordKind::timeout_reported:
      must(counts(resource), Invariant::report_effect);
      ++breaker.timeouts;
      return;
    case RecordKind::timeouts_cleared:
      must(counts(resource) && breaker.timeouts > 0, Invariant::report_effect);
      breaker.timeouts = 0;
      return;
    case RecordKind::breaker_tripped:
      return tripped(resource);
    case RecordKind::probe_granted:
      return probing(resource);
    case RecordKind::probe_failed:
    case RecordKind::breaker_recovered:
      return probe_over(resource);
    case RecordKind::forced_open:
      return forced(resource);
    default:  // forced_cleared
      must(breaker.forced && breaker.state == BreakerState::open, Invariant::breaker_moves);
      breaker.forced = false;
      return;
  }
}

void DerivedState::tripped(DerivedResource& resource) {
  must(counts(resource), Invariant::report_effect);
  DerivedBreaker& breaker = resource.breaker;
  breaker = {.state = BreakerState::open,
             .timeouts = breaker.timeouts + 1,
             .generation = breaker.generation + 1};
  end_lease(resource);
}

void DerivedState::probing(DerivedResource& resource) {
  DerivedBreaker& breaker = resource.breaker;
  check_granted_token();
  must(!breaker.probe, Invariant::probe_overlap);
  must(breaker.state == BreakerState::open && !breaker.forced, Invariant::breaker_moves);
  breaker.state = BreakerState::probing;
  breaker.probe = {.token = now_.entry.token,
                   .holder = now_.entry.actor,
                   .until = now_.entry.until.value_or(Instant())};
  resource.issued = now_.entry.token;
  end_lease(resource);
}

void DerivedState::probe_over(DerivedResource& resource) {
  DerivedBreaker& breaker = resource.breaker;
  must(breaker.state == BreakerState::probing && breaker.probe &&
           breaker.probe->token == now_.entry.token,
       Invariant::breaker_moves);
  breaker.probe.reset();
  if (now_.entry.kind == RecordKind::probe_failed) {
    breaker.state = BreakerState::open;
    ++breaker.failed_probes;
    return;
  }
  must(!now_.entry.detail.empty(), Invariant::probe_evidence);
  breaker = {.generation = breaker.generation};
}

void DerivedState::forced(DerivedResource& resource) {
  DerivedBreaker& breaker = resource.breaker;
  must(!breaker.forced, Invariant::breaker_moves);
  if (breaker.state == BreakerState::closed) ++breaker.generation;
  breaker.state = BreakerState::open;
  breaker.forced = true;
  breaker.probe.reset();
  end_lease(resource);
}

bool DerivedState::is_blocked(std::uint64_t position, const std::string& resource) const {
  const auto line = lines_.find(resource);
  return line != lines_.end() && !line->second.empty() && *line->second.begin() < position;
}

void DerivedState::tell_of_delivery() {
  const LedgerEntry& entry = now_.entry;
  const auto found = deliveries_.find(entry.subject.value_or(FencingToken::max_position + 1));
  if (found == deliveries_.end() || !entry.resource ||
      found->second.resource != entry.resource->str()) {
    return broken(Invariant::action_moves);  // of no action, or of one whose way is over
  }
  DerivedDelivery& delivery = found->second;
  if (entry.kind == RecordKind::delivery_claimed) return claimed(found->first, delivery);
  settled(delivery);
  if (entry.kind == RecordKind::delivery_retried) return;
  lines_[delivery.resource].erase(found->first);
  if (entry.kind == RecordKind::delivery_dead) dead_letters_.insert(*found);
  deliveries_.erase(found);
}

void DerivedState::claimed(std::uint64_t position, DerivedDelivery& delivery) {
  const LedgerEntry& entry = now_.entry;
  const Instant until = entry.until.value_or(Instant());
  const auto state = delivery.state == ActionState::validated
                         ? next_state(ActionState::validated, ActionEvent::execute_ok)
                         : delivery.state;
  check_granted_token();
  must(entry.state == state, Invariant::action_moves);
  must(!is_blocked(position, delivery.resource), Invariant::claim_line);
  must(resources_[delivery.resource].breaker.state == BreakerState::closed,
       Invariant::breaker_closed);
  must(!delivery.claim || delivery.claim.epoch() < epoch_ || delivery.claim_until < until,
       Invariant::claim_fence);
  must(++delivery.attempts <= most_attempts, Invariant::claim_attempts);
  delivery.state = ActionState::executing;
  delivery.claim = entry.token;
  delivery.claim_until = until;
}

// A delivery that nobody has can only die, under no token.
void DerivedState::settled(DerivedDelivery& delivery) {
  const LedgerEntry& entry = now_.entry;
  const bool dies = entry.kind == RecordKind::delivery_dead;
  must(entry.token == delivery.claim && (entry.token || dies), Invariant::claim_fence);
  const auto state = dies ? next_state(delivery.state, ActionEvent::invariant_violation)
                     : entry.kind == RecordKind::delivery_sealed
                         ? next_state(delivery.state, ActionEvent::seal_merkle)
                         : std::optional(ActionState::executing);
  must(entry.state == state && (dies || delivery.state == ActionState::executing),
       Invariant::action_moves);
  delivery.state = state.value_or(delivery.state);
  delivery.claim = {};
  delivery.claim_until = {};
}

}  // namespace wallock::sqlite
