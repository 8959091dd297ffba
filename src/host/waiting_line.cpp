#include "host/waiting_line.hpp"

#include <limits>
#include <utility>

#include "host/sidecar_layout.hpp"
#include "host/waiting_queue.hpp"

namespace wallock::host {

WaitingQueue WaitingLine::queue(std::uint64_t hash) noexcept {
  const std::size_t shard = hash % shards;
  return {layout_.shards[shard], layout_.slots[shard], layout_.tickets, members_, clock_};
}

std::optional<WaitingLine::Place> WaitingLine::join(std::string_view resource,
                                                    Instant until) noexcept {
  if (members_.forked()) return std::nullopt;
  const std::uint64_t hash = hash_of(resource);
  WaitingSlot* const slot = queue(hash).join(hash, until);
  if (slot == nullptr) return std::nullopt;
  return Place(*this, hash, *slot);
}

bool WaitingLine::is_waited_for(std::string_view resource) noexcept {
  if (members_.forked()) return false;
  const std::uint64_t hash = hash_of(resource);
  return queue(hash).has_first(hash);
}

void WaitingLine::call_first(std::string_view resource) noexcept {
  if (members_.forked()) return;
  const std::uint64_t hash = hash_of(resource);
  queue(hash).call_first(hash);
}

std::size_t WaitingLine::count() const noexcept {
  if (members_.forked()) return 0;
  std::size_t waiting = 0;
  for (const WaitingShard& shard : layout_.shards)
    waiting += slots_in_use(shard);
  return waiting;
}

WaitingLine::Place::Place(Place&& other) noexcept
    : line_(other.line_), hash_(other.hash_), slot_(std::exchange(other.slot_, nullptr)) {}

WaitingLine::Place& WaitingLine::Place::operator=(Place&& other) noexcept {
  if (this != &other) {
    leave();
    line_ = other.line_;
    hash_ = other.hash_;
    slot_ = std::exchange(other.slot_, nullptr);
  }
  return *this;
}

WaitingLine::Place::~Place() { leave(); }

bool WaitingLine::Place::is_gone() const noexcept {
  return slot_ == nullptr || line_->members_.forked();
}

bool WaitingLine::Place::is_first() noexcept {
  return is_gone() || line_->queue(hash_).is_first(hash_, *slot_);
}

std::uint32_t WaitingLine::Place::calls() const noexcept {
  return is_gone() ? 0 : slot_->calls.load();
}

void WaitingLine::Place::sleep(std::uint32_t seen, Duration patience) noexcept {
  if (!is_gone()) wait_while(slot_->calls, seen, patience);
}

// The kernel wakes one of those who wait for a death: that one wakes the others.
bool WaitingLine::Place::sleep(std::uint32_t seen, const Pulse& holder,
                               Duration patience) noexcept {
  if (is_gone()) return true;
  const bool slept = wait_while_both(slot_->calls, seen, *holder.word, holder.seen, patience);
  if (holder.word->load() != holder.seen) wake(*holder.word, std::numeric_limits<int>::max());
  return slept;
}

void WaitingLine::Place::interrupt() noexcept {
  if (is_gone()) return;
  slot_->calls.fetch_add(1);
  wake(slot_->calls, 1);
}

void WaitingLine::Place::stay() noexcept {
  if (!is_gone()) slot_->called_at.store(0);
}

// Also when it leaves unserved: the call that it may have been given is the next one's.
void WaitingLine::Place::leave() noexcept {
  if (is_gone()) return;
  WaitingQueue queue = line_->queue(hash_);
  queue.leave(*std::exchange(slot_, nullptr));
  queue.call_first(hash_);
}

}  // namespace wallock::host
