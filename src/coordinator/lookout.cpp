#include "coordinator/lookout.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace wallock::detail {
namespace {

using std::chrono::milliseconds;

// How often the first in line asks whether the holder's process is alive, if the kernel does not
// tell.
constexpr Duration look_at_holder = milliseconds(10);
// How soon after the kernel told of the end of the holder's process it asks, and then after twice
// as long and so on.
constexpr Duration look_at_end = std::chrono::microseconds(50);
// How often the others look whether they are the first.
constexpr Duration look_at_line = milliseconds(100);
// How long a call can go unnoticed that was lost other than by the death of the holder whose call
// it would have been. Each look costs a refused attempt.
constexpr Duration ask_again = milliseconds(250);
static_assert(ask_again < host::WaitingLine::silence);

// 0, which is nobody's id, if the refusal names none.
std::uint64_t holder_of(const ErrorFacts& facts) noexcept {
  return facts.instance ? static_cast<std::uint64_t>(*facts.instance) : 0;
}

}  // namespace

// SplitMix64 (Steele, Lea, Flood 2014): a counter behind a mixing function, so one atomic addition
// is all that threads share.
Duration Jitter::next() noexcept {
  constexpr std::uint64_t step = 0x9e3779b97f4a7c15;
  std::uint64_t z = state_.fetch_add(step, std::memory_order_relaxed) + step;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  z ^= z >> 31;
  constexpr Duration least = std::chrono::microseconds(500);
  constexpr std::uint64_t spread = 1'000'001;  // nanoseconds, both ends included
  return least + Duration(static_cast<Duration::rep>(z % spread));
}

bool PollingLookout::await_news(const Error& refusal, Instant limit, const std::stop_token& stop) {
  if (!seen_) {
    // From here on it waits, and must not miss a change between an attempt and its nap: it counts
    // from before the attempt that it makes now. The first attempt is spared that reading.
    static_cast<void>(saw_change());
    return true;
  }
  const Instant due = refusal.facts().retry_at.value_or(Instant::max());
  for (;;) {
    const Instant now = clock_.now();
    if (stop.stop_requested() || now >= limit) return false;
    // A due time that has passed is not worth a nap of no length: the holder has news by then.
    const Instant until = due > now ? std::min(due, limit) : limit;
    clock_.sleep_for(std::min(jitter_.next(), saturating_sub(until, now)));
    const bool changed = saw_change();
    if (changed || clock_.now() >= due) return true;
  }
}

// A counter that cannot be read counts as changed: the next attempt meets the cause and names it.
bool PollingLookout::saw_change() {
  const auto counter = store_.change_counter();
  if (!counter) {
    if (!seen_) seen_ = 0;
    return true;
  }
  return std::exchange(seen_, *counter) != *counter;
}

bool LineLookout::yields() noexcept {
  if (place_) return false;  // it is first, or it would not ask
  return std::ranges::any_of(resources_, [&](const ResourceName& resource) {
    return sidecar_.line().is_waited_for(resource.str());
  });
}

void LineLookout::take_place(const std::string& resource) {
  if (place_ && resource == resource_) {
    place_->stay();
    return;
  }
  place_.reset();
  resource_ = resource;
  asked_as_first_ = false;
  place_ = sidecar_.line().join(resource_, wait_deadline_);
}

bool LineLookout::await_news(const Error& refusal, Instant limit, const std::stop_token& stop) {
  take_place(refusal.facts().resource);
  if (!place_) {
    // The line is full: wait beside it.
    clock_.sleep_for(std::min(look_at_holder, saturating_sub(limit, clock_.now())));
    return clock_.now() < limit && !stop.stop_requested();
  }
  const auto wake = [this] { place_->interrupt(); };
  const std::stop_callback<std::function<void()>> wake_on_stop(stop, wake);
  for (;;) {
    const std::uint32_t calls = place_->calls();
    const Instant now = clock_.now();
    if (stop.stop_requested() || now >= limit) return false;
    const Duration left = saturating_sub(limit, now);
    if (!place_->is_first()) {
      place_->sleep(calls, std::min(look_at_line, left));
    } else if (has_news(refusal.facts(), now, calls)) {
      asked_as_first_ = true;
      heard_ = calls;
      asked_at_ = now;
      end_seen_at_.reset();
      return true;
    } else {
      sleep_as_first(*place_, refusal.facts(), now, calls, left);
    }
  }
}

// The end of the lease is news that nobody tells. A holder that the table does not know closed, and
// what it left lasts until then.
void LineLookout::sleep_as_first(host::WaitingLine::Place& place, const ErrorFacts& facts,
                                 Instant now, std::uint32_t calls, Duration left) noexcept {
  if (facts.retry_at) left = std::min(left, saturating_sub(*facts.retry_at, now));
  const auto pulse = sidecar_.membership().pulse_of(holder_of(facts));
  const Duration most = std::min(ask_again, left);
  if (!pulse) {
    place.sleep(calls, most);
  } else if (pulse->has_stopped()) {
    if (!end_seen_at_) end_seen_at_ = now;
    const Duration nap =
        std::clamp(saturating_sub(now, *end_seen_at_), look_at_end, look_at_holder);
    place.sleep(calls, std::min(nap, left));
  } else if (!pulse->beats() || !place.sleep(calls, *pulse, most)) {
    place.sleep(calls, std::min(look_at_holder, left));
  }
}

bool LineLookout::has_news(const ErrorFacts& facts, Instant now, std::uint32_t calls) noexcept {
  if (!asked_as_first_ || calls != heard_) return true;
  if (facts.retry_at && now >= *facts.retry_at) return true;
  return saturating_sub(now, asked_at_) >= ask_again || is_holder_dead(facts);
}

bool LineLookout::is_holder_dead(const ErrorFacts& facts) const noexcept {
  return sidecar_.membership().is_dead(holder_of(facts));
}

}  // namespace wallock::detail
