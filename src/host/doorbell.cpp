#include "host/doorbell.hpp"

#include <limits>

#include "host/sidecar_layout.hpp"

namespace wallock::host {
namespace {

DoorbellLayout::Bell& bell_of(DoorbellLayout& layout, std::string_view subject) noexcept {
  return layout.bells[hash_of(subject) % Doorbell::shards];
}

}  // namespace

std::uint32_t Doorbell::rings(std::string_view subject) const noexcept {
  if (members_.forked()) return 0;
  return bell_of(layout_, subject).rings.load();
}

// The count comes before the look at the word (in the kernel), and a ring changes the word before
// it looks at the count: one of the two sees the other. A sleeper that is killed leaves its count
// behind, which costs the rings of this shard a system call each.
void Doorbell::sleep(std::string_view subject, std::uint32_t seen, Duration patience) noexcept {
  if (members_.forked()) return;
  DoorbellLayout::Bell& bell = bell_of(layout_, subject);
  bell.sleepers.fetch_add(1);
  wait_while(bell.rings, seen, patience);
  bell.sleepers.fetch_sub(1);
}

void Doorbell::ring(std::string_view subject) noexcept {
  if (members_.forked()) return;
  DoorbellLayout::Bell& bell = bell_of(layout_, subject);
  bell.rings.fetch_add(1);
  if (bell.sleepers.load() != 0) wake(bell.rings, std::numeric_limits<int>::max());
}

}  // namespace wallock::host
