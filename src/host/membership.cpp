#include "host/membership.hpp"

#include <algorithm>

#include "host/sidecar_file.hpp"
#include "host/sidecar_layout.hpp"

namespace wallock::host {
namespace {

// A mark is the number of the join, the place and the flag.
constexpr unsigned place_shift = 1;
constexpr unsigned join_shift = 11;
static_assert(Membership::places == std::size_t{1} << (join_shift - place_shift));

constexpr Membership::Mark mark_of(std::uint64_t join, Membership::Place place) noexcept {
  return (join << join_shift) | (std::uint64_t{place} << place_shift);
}

constexpr Membership::Place place_of(Membership::Mark mark) noexcept {
  return static_cast<Membership::Place>((mark >> place_shift) % Membership::places);
}

constexpr std::int64_t byte_of(Membership::Place place) noexcept {
  return first_member_byte + place;
}

// The number comes from a file: it must not lead out of the table.
Membership::Place used_places(const MembershipLayout& layout) noexcept {
  return std::min(layout.used.load(), static_cast<std::uint32_t>(Membership::places));
}

std::optional<Membership::Place> lock_cleared(MembershipLayout& layout, int file) noexcept {
  const Membership::Place used = used_places(layout);
  for (Membership::Place place = 0; place < Membership::places; ++place) {
    const bool is_cleared = place >= used || layout.places[place].instance.load() == 0;
    if (is_cleared && lock_byte(file, byte_of(place))) return place;
  }
  return std::nullopt;
}

// Each round locks the byte of the oldest dead opening, or finds it taken and looks for the next
// older one.
std::optional<Membership::Place> lock_oldest_dead(MembershipLayout& layout, int file) noexcept {
  Membership::Mark after = 0;
  for (std::size_t round = 0; round < Membership::places; ++round) {
    std::optional<Membership::Place> oldest;
    for (Membership::Place place = 0; place < Membership::places; ++place) {
      const Membership::Mark mark = layout.places[place].mark.load();
      if (mark > after && (!oldest || mark < layout.places[*oldest].mark.load())) oldest = place;
    }
    if (!oldest || lock_byte(file, byte_of(*oldest))) return oldest;
    after = layout.places[*oldest].mark.load();
  }
  return std::nullopt;
}

}  // namespace

bool Membership::is_anybody_there(const UnforkedFile& file) noexcept {
  return is_locked_by_others(file.get(), first_member_byte, places);
}

// The lock comes first: from then on whoever looks at the place finds somebody alive there. Then
// the mark, so that what the place's last owner left behind is nobody's before the id is a new
// one's.
std::optional<Membership::Place> Membership::join(MembershipLayout& layout,
                                                  const UnforkedFile& file,
                                                  std::uint64_t instance) noexcept {
  auto place = lock_cleared(layout, file.get());
  if (!place) place = lock_oldest_dead(layout, file.get());
  if (!place) return std::nullopt;
  MemberPlace& own = layout.places[*place];
  own.mark.store(mark_of(layout.joins.fetch_add(1) + 1, *place));
  own.life.store(0);
  own.instance.store(instance);
  layout.used.store(std::max(used_places(layout), *place + 1));
  return place;
}

Membership::Membership(MembershipLayout& layout, const UnforkedFile& file, Place own) noexcept
    : layout_(layout), file_(file), own_(own), mark_(layout.places[own].mark.load()) {}

// The id first: who finds the byte free and looks at the id again must not take this for a death.
// An opening that lost its descriptor may have lost its place to another by now.
Membership::~Membership() {
  if (forked()) return;
  MemberPlace& place = layout_.places[own_];
  if (place.mark.load() == mark_) place.instance.store(0);
  if (file_.is_intact()) unlock_byte(file_.get(), byte_of(own_));
}

MemberPlace* Membership::find(std::uint64_t instance) const noexcept {
  if (forked() || instance == 0) return nullptr;
  const auto end = layout_.places.begin() + used_places(layout_);
  const auto found = std::find_if(
      layout_.places.begin(), end,
      [instance](const MemberPlace& place) { return place.instance.load() == instance; });
  return found == end ? nullptr : &*found;
}

bool Membership::is_dead(std::uint64_t instance) const noexcept {
  const MemberPlace* const found = find(instance);
  if (found == nullptr || is_alive(static_cast<Place>(found - layout_.places.data()))) return false;
  return found->instance.load() == instance;
}

// A place that has another owner by now has its predecessor's word no more.
std::optional<Pulse> Membership::pulse_of(std::uint64_t instance) const noexcept {
  MemberPlace* const found = find(instance);
  if (found == nullptr) return std::nullopt;
  const Pulse pulse{.word = &found->life, .seen = found->life.load()};
  if (found->instance.load() != instance) return std::nullopt;
  return pulse;
}

bool Membership::is_alive(Place place) const noexcept {
  if (forked() || place == own_) return true;
  // On a file that is not the sidecar nobody has a lock, and everybody would be dead.
  return is_locked_by_others(file_.get(), byte_of(place), 1) || !file_.is_intact();
}

bool Membership::lives(Mark mark) const noexcept {
  if (forked()) return true;
  const Place place = place_of(mark);
  if (layout_.places[place].mark.load() != (mark & ~flag)) return false;
  return is_alive(place);
}

std::size_t Membership::count() const noexcept {
  if (forked()) return 0;
  std::size_t alive = 0;
  for (Place place = 0; place < used_places(layout_); ++place) {
    const bool is_taken = layout_.places[place].instance.load() != 0;
    alive += is_taken && is_alive(place) ? 1 : 0;
  }
  return alive;
}

}  // namespace wallock::host
