#include "coordinator/heartbeat_roster.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

namespace wallock::detail {

RenewalBatch::~RenewalBatch() {
  if (answered_) return;
  for (const auto& held : leases_)
    static_cast<void>(held->give_turn_back());
}

void RenewalBatch::reserve(std::size_t leases) {
  leases_.reserve(leases);
  requests_.reserve(leases);
}

bool RenewalBatch::suits(Duration patience) const noexcept { return patience / 2 <= patience_; }

void RenewalBatch::add(const std::shared_ptr<HeldLease>& held, HeldLease::Renewal renewal,
                       Duration patience) {
  requests_.push_back({.lease = std::move(renewal.lease), .ttl = renewal.ttl});
  leases_.push_back(held);
  deadline_ = std::min(deadline_, renewal.deadline);
  patience_ = std::min(patience_, patience);
}

void RenewalBatch::answer(const Result<std::vector<Result<Lease>>>& answers, Instant now) noexcept {
  for (std::size_t n = 0; n < leases_.size(); ++n) {
    HeldLease& held = *leases_[n];
    if (!answers) {
      held.refused(answers.error(), now);
    } else if (n < answers->size()) {
      held.renewed((*answers)[n], now);
    } else {
      held.refused(Error(Errc::outcome_unknown), now);
    }
    static_cast<void>(held.give_turn_back());
  }
  answered_ = true;
}

void HeartbeatRoster::add(std::shared_ptr<HeldLease> held) {
  Entries made;
  const Key key = key_of(*held);
  Entry& entry = made.emplace(key, Entry{.held = std::move(held)}).first->second;
  Line loss;
  Line renewal;
  loss.emplace(Instant::max(), &entry);
  renewal.emplace(Instant::max(), &entry);
  entries_.insert(made.extract(made.begin()));
  entry.loss = losses_.insert(loss.extract(loss.begin()));
  entry.renewal = renewals_.insert(renewal.extract(renewal.begin()));
  entry.line = &renewals_;
  file(entry);
}

HeartbeatRoster::Entries::node_type HeartbeatRoster::remove(const HeldLease& held) noexcept {
  const auto found = entries_.find(key_of(held));
  return found == entries_.end() ? Entries::node_type() : take_out(found);
}

void HeartbeatRoster::refile(const HeldLease& held) noexcept {
  if (const auto found = entries_.find(key_of(held)); found != entries_.end()) file(found->second);
}

HeartbeatRoster::Entries HeartbeatRoster::take_lost(Instant now) noexcept {
  Entries lost;
  while (!losses_.empty() && losses_.begin()->first <= now) {
    Entry& entry = *losses_.begin()->second;
    HeldLease& held = *entry.held;
    if (held.lose(now) || !held.alive()) {
      lost.insert(take_out(entries_.find(key_of(held))));
    } else {
      file(entry);
    }
  }
  return lost;
}

Instant HeartbeatRoster::next_loss() const noexcept {
  return losses_.empty() ? Instant::max() : losses_.begin()->first;
}

RenewalBatch HeartbeatRoster::take_due(Instant now, std::size_t most) {
  make_ready(now);
  RenewalBatch batch;
  if (ready_.empty()) return batch;
  batch.reserve(std::min(most, entries_.size()));
  try {
    collect(now, most, batch);
  } catch (const std::bad_alloc&) {
    if (batch.empty()) throw;  // else it is a smaller one
  }
  return batch;
}

Instant HeartbeatRoster::next_renewal(Instant now) const noexcept {
  if (!ready_.empty()) return Instant::min();
  const auto held_up = held_up_.upper_bound(now);
  return std::min(renewals_.empty() ? Instant::max() : renewals_.begin()->first,
                  held_up == held_up_.end() ? Instant::max() : held_up->first);
}

void HeartbeatRoster::move(Line& from, Line& to, Line::iterator& at, Instant key) noexcept {
  auto node = from.extract(at);
  node.key() = key;
  at = to.insert(std::move(node));
}

void HeartbeatRoster::move_renewal(Entry& entry, Line& to, Instant key) noexcept {
  if (entry.line == &to && entry.renewal->first == key) return;
  move(*entry.line, to, entry.renewal, key);
  entry.line = &to;
}

void HeartbeatRoster::file(Entry& entry) noexcept {
  entry.agenda = entry.held->next().agenda;
  if (entry.loss->first != entry.agenda.loss) {
    move(losses_, losses_, entry.loss, entry.agenda.loss);
  }
  move_renewal(entry, renewals_, entry.agenda.renewal);
}

// Whatever was tried must not be tried again at once. What is lost is the watching thread's.
void HeartbeatRoster::file_after_trying(Entry& entry, Instant now) noexcept {
  file(entry);
  if (entry.agenda.renewal > now) return;
  if (entry.agenda.loss <= now) {
    move_renewal(entry, renewals_, Instant::max());
  } else if (entry.held->next().held_up) {
    move_renewal(entry, held_up_, entry.agenda.loss);
  }
}

HeartbeatRoster::Entries::node_type HeartbeatRoster::take_out(Entries::iterator at) noexcept {
  Entry& entry = at->second;
  losses_.erase(entry.loss);
  entry.line->erase(entry.renewal);
  return entries_.extract(at);
}

void HeartbeatRoster::make_ready(Instant now) noexcept {
  // Nobody needs to say that a turn is free again.
  while (!held_up_.empty())
    file(*held_up_.begin()->second);
  while (!renewals_.empty() && renewals_.begin()->first <= now) {
    Entry& entry = *renewals_.begin()->second;
    move_renewal(entry, ready_, entry.agenda.loss);
  }
}

void HeartbeatRoster::collect(Instant now, std::size_t most, RenewalBatch& batch) {
  while (!ready_.empty() && batch.size() < most) {
    Entry& entry = *ready_.begin()->second;
    if (!batch.suits(entry.agenda.patience)) return;
    const std::size_t before = batch.size();
    try_renewal(entry, now, Company::none, batch);
    if (batch.size() > before) try_neighbours(*entry.held, now, most, batch);
  }
}

void HeartbeatRoster::try_renewal(Entry& entry, Instant now, Company company, RenewalBatch& batch) {
  if (auto renewal = entry.held->try_renewal(now, company)) {
    batch.add(entry.held, *std::move(renewal), entry.agenda.patience);
  }
  file_after_trying(entry, now);
}

// Goes on for as long as there is something to find: three tenths of them are due soon at any time
// if all came one by one.
void HeartbeatRoster::try_neighbours(const HeldLease& of, Instant now, std::size_t most,
                                     RenewalBatch& batch) {
  constexpr std::size_t looks_at_least = 64;
  constexpr std::size_t looks_for_each = 16;
  std::size_t looks = looks_at_least;
  const auto self = entries_.find(key_of(of));
  for (auto at = std::next(self); looks > 0 && batch.size() < most; --looks) {
    if (at == entries_.end()) at = entries_.begin();
    if (at == self) return;
    Entry& entry = (at++)->second;
    const auto& [loss, renewal, start, patience] = entry.agenda;
    const bool is_soon = entry.line != &held_up_ && saturating_add(renewal, -start) <= now;
    if (!is_soon || loss <= now || !batch.suits(patience)) continue;
    const std::size_t before = batch.size();
    try_renewal(entry, now, Company::others, batch);
    if (batch.size() > before) looks += looks_for_each;
  }
}

}  // namespace wallock::detail
