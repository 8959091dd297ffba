#include "host/turnstile.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "host/sidecar_layout.hpp"
#include "host/waiting_queue.hpp"

namespace wallock::host {
namespace {

// How often the first in line looks at the holder, and the others whether they are the first.
constexpr Duration look_at_holder = std::chrono::milliseconds(2);
constexpr Duration look_at_line = std::chrono::milliseconds(10);

// One line for all.
constexpr std::uint64_t everybody = 0;

std::int64_t steady_now() noexcept {
  return Duration(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Time that is left of a patience, on a clock that no test stands still.
class Patience {
 public:
  explicit Patience(Duration patience) noexcept
      : patience_(patience), start_(std::chrono::steady_clock::now()) {}
  [[nodiscard]] Duration left() const noexcept {
    return patience_ - std::min<Duration>(patience_, std::chrono::steady_clock::now() - start_);
  }

 private:
  Duration patience_;
  std::chrono::steady_clock::time_point start_;
};

WaitingQueue queue(TurnstileLayout& layout, const Membership& members,
                   const Clock& clock) noexcept {
  return {layout.shard, layout.slots, layout.tickets, members, clock};
}

}  // namespace

bool Turnstile::take() noexcept {
  Membership::Mark nobody = 0;
  return layout_.holder.load() == 0 &&
         layout_.holder.compare_exchange_strong(nobody, members_.mark());
}

// The mark of the dead is nobody's ever again: the word cannot have changed hands in between.
bool Turnstile::take_from_dead() noexcept {
  Membership::Mark holder = layout_.holder.load();
  return holder != 0 && !members_.lives(holder) &&
         layout_.holder.compare_exchange_strong(holder, members_.mark());
}

bool Turnstile::is_taken() const noexcept {
  const Membership::Mark holder = layout_.holder.load();
  return holder != 0 && members_.lives(holder);
}

bool Turnstile::goes_on() const noexcept {
  const std::int64_t until = stint_until_.load(std::memory_order_relaxed);
  return until != 0 && steady_now() < until;
}

bool Turnstile::enter(Duration patience) noexcept {
  if (members_.forked()) return false;
  const bool nobody_waits = queue(layout_, members_, clock_).is_empty();
  if (!nobody_waits && goes_on() && take()) return true;
  stint_until_.store(0, std::memory_order_relaxed);
  return (nobody_waits && take()) || wait_in_line(patience);
}

bool Turnstile::wait_in_line(Duration patience) noexcept {
  const Patience waiting(patience);
  WaitingQueue line = queue(layout_, members_, clock_);
  WaitingSlot* const slot = line.join(everybody, Instant::max());
  if (slot == nullptr) return wait_beside(patience);
  bool has_turn = false;
  for (;;) {
    const std::uint32_t calls = slot->calls.load();
    const bool is_first = line.is_first(everybody, *slot);
    has_turn = is_first && (take() || take_from_dead());
    const Duration left = waiting.left();
    if (has_turn || left <= Duration::zero()) break;
    // A turn whose owner was killed was passed to nobody. Called, a first one who does not react is
    // passed over in a moment; uncalled, he would have all of his silence.
    if (!is_first && !is_taken()) line.call_first(everybody);
    slot->called_at.store(0);
    wait_while(slot->calls, calls, std::min(is_first ? look_at_holder : look_at_line, left));
  }
  line.leave(*slot);
  // The one who goes without a turn may be the one who was called.
  if (!has_turn) line.call_first(everybody);
  return has_turn;
}

// All places in line are taken.
bool Turnstile::wait_beside(Duration patience) noexcept {
  const Patience waiting(patience);
  for (;;) {
    if (take() || take_from_dead()) return true;
    const Duration left = waiting.left();
    if (left <= Duration::zero()) return false;
    std::this_thread::sleep_for(std::min(look_at_holder, left));
  }
}

void Turnstile::leave() noexcept {
  if (members_.forked()) return;
  Membership::Mark own = members_.mark();
  if (!layout_.holder.compare_exchange_strong(own, 0)) return;
  WaitingQueue line = queue(layout_, members_, clock_);
  if (line.is_empty()) return;
  if (stint_until_.load(std::memory_order_relaxed) == 0) {
    stint_until_.store(steady_now() + stint_.count(), std::memory_order_relaxed);
  }
  line.call_first(everybody);
}

}  // namespace wallock::host
