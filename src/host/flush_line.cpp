#include "host/flush_line.hpp"

#include <algorithm>
#include <limits>

#include "host/sidecar_layout.hpp"
#include "wallock/clock.hpp"

namespace wallock::host {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// How long a flush of somebody else's is waited for before another one is begun beside it.
constexpr Duration patience_with_others = milliseconds(20);
// How long a writer may take from its announcement to the end of its COMMIT.
constexpr Duration patience_with_writers = milliseconds(10);
// How long a flush has to take before one beside it is worth it.
constexpr Duration least_distance = microseconds(100);

// Somebody flushes, and not for too long.
bool is_busy(std::int64_t since, Instant now) noexcept {
  const auto age = saturating_sub(now, Instant(Duration(since)));
  return since != 0 && age >= Duration::zero() && age < patience_with_others;
}

void raise(SharedNumber& number, std::uint64_t to) noexcept {
  std::uint64_t now = number.load();
  while (now < to && !number.compare_exchange_weak(now, to)) {
  }
}

}  // namespace

void FlushLine::settle() noexcept { raise(layout_.written, layout_.announced.load()); }

FlushLine::Ticket FlushLine::announce() noexcept { return layout_.announced.fetch_add(1) + 1; }

void FlushLine::written(Ticket ticket) noexcept { raise(layout_.written, ticket); }

FlushLine::Ticket FlushLine::announced() const noexcept { return layout_.announced.load(); }

bool FlushLine::is_flushed(Ticket ticket) const noexcept {
  return layout_.flushed.load() >= ticket;
}

bool FlushLine::is_written(Ticket ticket) const noexcept {
  return layout_.written.load() >= ticket;
}

bool FlushLine::is_broken() const noexcept { return layout_.broken.load() != 0; }

void FlushLine::broke() noexcept {
  layout_.broken.store(1);
  tell();
}

void FlushLine::repaired() noexcept {
  settle();
  raise(layout_.flushed, layout_.written.load());
  layout_.broken.store(0);
  tell();
}

bool FlushLine::is_long(Instant since) const noexcept {
  return saturating_sub(now(), since) >= patience_with_writers;
}

Instant FlushLine::now() noexcept { return system_clock()->now(); }

std::uint32_t FlushLine::news() const noexcept { return layout_.news.load(); }

void FlushLine::sleep(std::uint32_t news, Duration patience) noexcept {
  layout_.sleepers.fetch_add(1);
  wait_while(layout_.news, news, patience);
  layout_.sleepers.fetch_sub(1);
}

void FlushLine::tell() noexcept {
  layout_.news.fetch_add(1);
  if (layout_.sleepers.load() != 0) wake(layout_.news, std::numeric_limits<int>::max());
}

bool FlushLine::is_under_way(Ticket ticket, Instant now) const noexcept {
  return std::ranges::any_of(layout_.lanes, [&](const FlushLane& lane) {
    return is_busy(lane.since.load(), now) && lane.covers.load() >= ticket;
  });
}

Duration FlushLine::age_of_youngest(Instant now) const noexcept {
  Duration youngest = Duration::max();
  for (const FlushLane& lane : layout_.lanes) {
    const std::int64_t since = lane.since.load();
    if (is_busy(since, now)) youngest = std::min(youngest, now - Instant(Duration(since)));
  }
  return youngest;
}

// If all lanes began at once, who came after them would wait for all.
std::optional<Duration> FlushLine::distance() const noexcept {
  const Duration took = took_.load(std::memory_order_relaxed);
  if (took < least_distance) return std::nullopt;
  return std::max(least_distance, took / Duration::rep{lanes});
}

FlushLine::Turn::Turn(FlushLine& line, Ticket ticket) noexcept : line_(line) {
  const Instant now = FlushLine::now();
  if (line.is_under_way(ticket, now)) return;
  const Duration age = line.age_of_youngest(now);
  if (const Duration distance = line.distance().value_or(least_distance); age < distance) {
    next_look_ = distance - age;
    return;
  }
  while (lane_ < lanes && !take(lane_, now))
    ++lane_;
}

bool FlushLine::Turn::take(std::size_t index, Instant now) noexcept {
  FlushLane& lane = line_.layout_.lanes[index];
  std::int64_t since = lane.since.load();
  if (is_busy(since, now)) return false;
  const std::int64_t stamp = now.time_since_epoch().count() | 1;
  if (!lane.since.compare_exchange_strong(since, stamp)) return false;
  stamp_ = stamp;
  covers_ = line_.layout_.written.load();
  lane.covers.store(covers_);
  return true;
}

bool FlushLine::Turn::end(Flushed flushed) noexcept {
  // One beside it may have failed: then nobody knows what this one did.
  if (flushed == Flushed::flushed && !line_.is_broken()) raise(line_.layout_.flushed, covers_);
  std::int64_t own = stamp_;
  line_.layout_.lanes[lane_].since.compare_exchange_strong(own, 0);
  if (flushed == Flushed::not_begun) return false;
  line_.took_.store(now() - Instant(Duration(stamp_)), std::memory_order_relaxed);
  line_.tell();
  return true;
}

}  // namespace wallock::host
