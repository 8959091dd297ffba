#include "host/waiting_queue.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace wallock::host {
namespace {

// In an owner: the slot is being filled or emptied, and nobody is in line with it.
constexpr Membership::Mark unready = Membership::flag;

constexpr std::uint64_t any_ticket = std::numeric_limits<std::uint64_t>::max();

std::int64_t since_boot(Instant instant) noexcept { return instant.time_since_epoch().count(); }

// Instants in shared memory may be anything, so the difference must not overflow. One far in the
// future is no reason to wait for it.
bool is_recent(std::int64_t instant, Instant now, Duration span) noexcept {
  const Duration age = saturating_sub(now, Instant(Duration(instant)));
  return age <= span && age >= -span;
}

// Whether a waiter is to be waited for, apart from whether its process is alive.
bool counts(const WaitingSlot& slot, Instant now) noexcept {
  if (since_boot(now) >= slot.until.load()) return false;
  const std::int64_t called_at = slot.called_at.load();
  if (called_at != 0 && !is_recent(called_at, now, WaitingLine::grace)) return false;
  return is_recent(slot.looked_at.load(), now, WaitingLine::silence);
}

}  // namespace

std::size_t slots_in_use(const WaitingShard& shard) noexcept {
  std::size_t in_use = 0;
  for (const SharedNumber& bits : shard.used) {
    in_use += static_cast<std::size_t>(std::popcount(bits.load()));
  }
  return in_use;
}

bool WaitingQueue::is_empty() const noexcept {
  return std::ranges::all_of(shard_.used,
                             [](const SharedNumber& bits) { return bits.load() == 0; });
}

bool WaitingQueue::is_marked(std::size_t index) const noexcept {
  const std::uint64_t bits = shard_.used[index / WaitingShard::bits].load();
  return ((bits >> (index % WaitingShard::bits)) & 1) != 0;
}

bool WaitingQueue::take(WaitingSlot& slot) noexcept {
  Membership::Mark nobody = 0;
  return slot.owner.compare_exchange_strong(nobody, members_.mark() | unready);
}

// A dead owner's mark is nobody's ever again, so the slot cannot have changed hands in between.
bool WaitingQueue::take_from_dead(WaitingSlot& slot) noexcept {
  Membership::Mark owner = slot.owner.load();
  return owner != 0 && !members_.lives(owner) &&
         slot.owner.compare_exchange_strong(owner, members_.mark() | unready);
}

// Those that look free first; a slot whose owner was killed while taking or freeing it looks free
// and is not. Then those of the dead among the ones in use.
WaitingSlot* WaitingQueue::claim() noexcept {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!is_marked(i) && (take(slots_[i]) || take_from_dead(slots_[i]))) return &slots_[i];
  }
  const auto found =
      std::ranges::find_if(slots_, [this](WaitingSlot& slot) { return take_from_dead(slot); });
  return found == slots_.end() ? nullptr : &*found;
}

WaitingSlot* WaitingQueue::join(std::uint64_t hash, Instant until) noexcept {
  WaitingSlot* const slot = claim();
  if (slot == nullptr) return nullptr;
  slot->ticket.store(0);
  const auto index = static_cast<std::size_t>(slot - slots_.data());
  shard_.used[index / WaitingShard::bits].fetch_or(std::uint64_t{1}
                                                   << (index % WaitingShard::bits));
  slot->hash.store(hash);
  slot->until.store(since_boot(until));
  slot->called_at.store(0);
  slot->looked_at.store(since_boot(clock_.now()));
  slot->owner.store(members_.mark());
  slot->ticket.store(tickets_.fetch_add(1) + 1);
  return slot;
}

void WaitingQueue::leave(WaitingSlot& slot) noexcept {
  Membership::Mark own = members_.mark();
  if (slot.owner.compare_exchange_strong(own, own | unready)) free(slot);
}

// The bit before the owner: a slot that is free for others to take is theirs to mark.
void WaitingQueue::free(WaitingSlot& slot) noexcept {
  slot.ticket.store(0);
  const auto index = static_cast<std::size_t>(&slot - slots_.data());
  shard_.used[index / WaitingShard::bits].fetch_and(
      ~(std::uint64_t{1} << (index % WaitingShard::bits)));
  slot.owner.store(0);
}

// What cannot be in line any more is freed in passing if its opening is gone, so that nothing stays
// behind; of those in line only the one who would be first is worth the question to the kernel.
WaitingQueue::Seen WaitingQueue::oldest(std::uint64_t hash, std::uint64_t before,
                                        Instant now) noexcept {
  Seen best{.ticket = before};
  for (std::size_t group = 0; group < shard_.used.size(); ++group) {
    std::uint64_t bits = shard_.used[group].load();
    for (; bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
      WaitingSlot& slot = slots_[group * WaitingShard::bits + bit];
      const std::uint64_t ticket = slot.ticket.load();
      const Membership::Mark owner = slot.owner.load();
      if (ticket == 0 || (owner & unready) != 0 || !counts(slot, now)) {
        if (take_from_dead(slot)) free(slot);
        continue;
      }
      const bool is_older = ticket < best.ticket && slot.hash.load() == hash;
      if (is_older && slot.ticket.load() == ticket) best = {&slot, ticket, owner};
    }
  }
  return best;
}

// Bounded: each round but the last frees a slot of a dead opening, or somebody else just did.
WaitingSlot* WaitingQueue::first(std::uint64_t hash, std::uint64_t before) noexcept {
  const Instant now = clock_.now();
  for (std::size_t round = 0; round <= slots_.size(); ++round) {
    const Seen seen = oldest(hash, before, now);
    if (seen.slot == nullptr || members_.lives(seen.owner)) return seen.slot;
    if (take_from_dead(*seen.slot)) free(*seen.slot);
  }
  return nullptr;
}

bool WaitingQueue::is_first(std::uint64_t hash, WaitingSlot& slot) noexcept {
  slot.looked_at.store(since_boot(clock_.now()));
  const bool is = first(hash, slot.ticket.load()) == nullptr;
  if (!is) slot.called_at.store(0);
  return is;
}

bool WaitingQueue::has_first(std::uint64_t hash) noexcept {
  return !is_empty() && first(hash, any_ticket) != nullptr;
}

void WaitingQueue::call_first(std::uint64_t hash) noexcept {
  if (is_empty()) return;
  WaitingSlot* const slot = first(hash, any_ticket);
  if (slot == nullptr) return;
  std::int64_t not_called = 0;
  slot->called_at.compare_exchange_strong(not_called, since_boot(clock_.now()));
  slot->calls.fetch_add(1);
  wake(slot->calls, 1);
}

}  // namespace wallock::host
