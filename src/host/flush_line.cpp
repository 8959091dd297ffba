#include "host/flush_line.hpp"

#include <limits>

#include "host/sidecar_layout.hpp"
#include "wallock/clock.hpp"

namespace wallock::host {
namespace {

using std::chrono::milliseconds;

// How long a flush of somebody else's is waited for before another one is begun beside it.
constexpr Duration patience_with_others = milliseconds(20);
// How long a writer may take from its announcement to the end of its COMMIT.
constexpr Duration patience_with_writers = milliseconds(10);
// News can be lost with the process that had them.
constexpr Duration look_again = milliseconds(2);

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

void FlushLine::sleep(std::uint32_t news) noexcept {
  layout_.sleepers.fetch_add(1);
  wait_while(layout_.news, news, look_again);
  layout_.sleepers.fetch_sub(1);
}

void FlushLine::tell() noexcept {
  layout_.news.fetch_add(1);
  if (layout_.sleepers.load() != 0) wake(layout_.news, std::numeric_limits<int>::max());
}

FlushLine::Turn::Turn(FlushLine& line) noexcept : line_(line) {
  const Instant now = FlushLine::now();
  std::int64_t since = line.layout_.flushing_since.load();
  const auto age = saturating_sub(now, Instant(Duration(since)));
  if (since != 0 && age >= Duration::zero() && age < patience_with_others) return;
  const std::int64_t stamp = now.time_since_epoch().count() | 1;
  if (!line.layout_.flushing_since.compare_exchange_strong(since, stamp)) return;
  stamp_ = stamp;
  covers_ = line.layout_.written.load();
}

void FlushLine::Turn::done(bool flushed) noexcept {
  if (flushed && !line_.is_broken()) {
    raise(line_.layout_.flushed, covers_);
  } else {
    line_.layout_.broken.store(1);
  }
  std::int64_t own = stamp_;
  line_.layout_.flushing_since.compare_exchange_strong(own, 0);
  line_.tell();
}

}  // namespace wallock::host
