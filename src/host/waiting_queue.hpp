// WaitingQueue: one line of waiters in shared memory, in order of arrival.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/membership.hpp"
#include "host/sidecar_layout.hpp"
#include "wallock/clock.hpp"

namespace wallock::host {

// How many slots of a shard are taken, those of the dead included.
[[nodiscard]] std::size_t slots_in_use(const WaitingShard& shard) noexcept;

// What the waiting line has 64 of and the turnstile one. Waiters with several hashes share it; each
// hash is a line of its own.
//
// A process may be killed between any two steps, and the others go on: a slot belongs to a mark, in
// every state; once the mark's opening is gone, whoever meets the slot frees it, and the exchange
// of the owner lets exactly one do so. Who waits is seen only after its ticket, which is written
// last and taken away first.
//
// A view: as cheap as its references. All members may be called from all threads and processes.
class WaitingQueue {
 public:
  WaitingQueue(WaitingShard& shard, WaitingSlots& slots, SharedNumber& tickets,
               const Membership& members, const Clock& clock) noexcept
      : shard_(shard), slots_(slots), tickets_(tickets), members_(members), clock_(clock) {}

  // True if nobody waits here under any hash. Looks at one line of memory.
  [[nodiscard]] bool is_empty() const noexcept;

  // Takes the last place. Null if all are taken by the living.
  [[nodiscard]] WaitingSlot* join(std::uint64_t hash, Instant until) noexcept;
  // Gives the place back, unless others took it for a dead one's.
  void leave(WaitingSlot& slot) noexcept;
  // Whether nobody who counts came before. A sign of life; and a call that finds its waiter not the
  // first is void.
  [[nodiscard]] bool is_first(std::uint64_t hash, WaitingSlot& slot) noexcept;
  [[nodiscard]] bool has_first(std::uint64_t hash) noexcept;
  // Wakes the first who counts, if there is one.
  void call_first(std::uint64_t hash) noexcept;

 private:
  struct Seen {
    WaitingSlot* slot = nullptr;
    std::uint64_t ticket = 0;
    Membership::Mark owner = 0;
  };

  // The first who counts among the tickets below `before`; frees the slots of the dead it meets.
  [[nodiscard]] WaitingSlot* first(std::uint64_t hash, std::uint64_t before) noexcept;
  [[nodiscard]] Seen oldest(std::uint64_t hash, std::uint64_t before, Instant now) noexcept;
  [[nodiscard]] WaitingSlot* claim() noexcept;
  [[nodiscard]] bool take(WaitingSlot& slot) noexcept;
  [[nodiscard]] bool take_from_dead(WaitingSlot& slot) noexcept;
  void free(WaitingSlot& slot) noexcept;
  [[nodiscard]] bool is_marked(std::size_t index) const noexcept;

  WaitingShard& shard_;
  WaitingSlots& slots_;
  SharedNumber& tickets_;
  const Membership& members_;
  const Clock& clock_;
};

}  // namespace wallock::host
