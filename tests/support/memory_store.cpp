#include "memory_store.hpp"

#include <algorithm>
#include <span>

#include "wallock/ledger/frame.hpp"

namespace wallock::test {

Result<MemoryStore::Lock> MemoryStore::lock(const Clock& clock, Instant deadline) {
  for (;;) {
    {
      const std::lock_guard guard(mutex_);
      if (owner_ == std::this_thread::get_id()) return fail(Errc::called_inside_work);
      if (!owner_) {
        owner_ = std::this_thread::get_id();
        return Lock(*this);
      }
    }
    const Instant now = clock.now();
    if (now >= deadline) return fail(Errc::busy);
    clock.sleep_for(std::min<Duration>(std::chrono::milliseconds(1), deadline - now));
  }
}

MemoryStore::Lock::~Lock() {
  if (store_ == nullptr) return;
  const std::lock_guard guard(store_->mutex_);
  store_->owner_.reset();
}

rules::Moment MemoryStore::Lock::moment(const Clock& clock) const {
  MemoryRows& rows = store_->rows_;
  const auto boot = clock.boot_id();
  if (rows.boot_id && rows.boot_id != boot) ++rows.epoch;
  rows.boot_id = boot;
  if (rows.ledger.empty()) append(LedgerEntry{.kind = RecordKind::genesis}, clock.wall_now());
  return {.now = clock.now(), .epoch = rows.epoch, .position = rows.ledger.size()};
}

std::uint64_t MemoryStore::Lock::append(const LedgerEntry& entry, WallTime now) const {
  MemoryRows& rows = store_->rows_;
  const std::uint64_t position = rows.ledger.size();
  std::string frame;
  const bool framed = ledger::append_frame(frame, position, now, entry);
  ledger::Sha256& hasher = store_->hasher_;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(frame.data());
  const Digest leaf = framed ? hasher.leaf(std::span(bytes, frame.size())) : hasher.empty();
  rows.ledger.emplace_back(position, now, entry, leaf);
  ++rows.changes;
  return position;
}

void MemoryStore::Lock::apply(const ResourceName& resource, const rules::Change& change,
                              WallTime now) const {
  if (change.entries.empty()) return;
  for (const LedgerEntry& entry : change.entries)
    append(entry, now);
  store_->rows_.resources[resource.str()].state = change.next;
}

rules::ResourceState MemoryStore::Lock::state(const ResourceName& resource) const {
  const auto& resources = store_->rows_.resources;
  const auto found = resources.find(resource.str());
  return found == resources.end() ? rules::fresh_resource() : found->second.state;
}

}  // namespace wallock::test
