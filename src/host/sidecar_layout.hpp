// The sidecar's bytes: plain structures of lock-free atomics, shared between processes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "host/doorbell.hpp"
#include "host/flush_line.hpp"
#include "host/futex.hpp"
#include "host/membership.hpp"
#include "host/waiting_line.hpp"

namespace wallock::host {

// Every structure below is valid when all its bytes are zero: that is an empty sidecar. No pointer
// and no type of the C library is among them, so that processes with different libraries and word
// sizes can share one file, and none can make another follow an address.
// Whoever changes one of them changes sidecar_version.
inline constexpr std::uint64_t sidecar_magic = 0x4b434f4c4c415701;  // "\1WALLOCK", little endian
inline constexpr std::uint32_t sidecar_version = 3;

inline constexpr std::size_t cache_line = 64;

using SharedNumber = std::atomic<std::uint64_t>;
using SharedInstant = std::atomic<std::int64_t>;  // nanoseconds since boot
static_assert(SharedNumber::is_always_lock_free && SharedInstant::is_always_lock_free);

struct alignas(cache_line) SidecarHeader {
  SharedNumber magic;  // written last
  SharedWord version;
  SharedWord size;       // of the whole layout, which tells the number of places too
  SharedNumber boot_id;  // its hash; instants of another boot mean nothing
};

struct MemberPlace {
  SharedNumber instance;  // 0: never used, or closed properly
  SharedNumber mark;      // of the opening that used it last
  SharedWord life;        // changed by the kernel when its process ends (Lifeline)
};

struct MembershipLayout {
  alignas(cache_line) SharedNumber joins;  // how many openings there have been
  SharedWord used;                         // how many places have ever been used
  alignas(cache_line) std::array<MemberPlace, Membership::places> places;
};

// One who waits. Who reads a slot takes it as it is while `ticket` stays the same.
struct alignas(cache_line) WaitingSlot {
  SharedNumber owner;       // mark of the opening that has the slot, 0 if it is free
  SharedNumber ticket;      // order of arrival, 0 while it is not in line
  SharedNumber hash;        // of the resource
  SharedInstant until;      // from when on it does not count
  SharedInstant called_at;  // 0: not called since it last looked
  SharedInstant looked_at;  // its last sign of life
  SharedWord calls;         // never set back, so that no sleeper can miss a change
};

// Which slots of a shard are in use, one bit each. A line of its own: most looks end here.
struct alignas(cache_line) WaitingShard {
  static constexpr std::size_t bits = 64;
  std::array<SharedNumber, WaitingLine::places_per_shard / bits> used;
};

using WaitingSlots = std::array<WaitingSlot, WaitingLine::places_per_shard>;

struct WaitingLineLayout {
  alignas(cache_line) SharedNumber tickets;
  std::array<WaitingShard, WaitingLine::shards> shards;
  std::array<WaitingSlots, WaitingLine::shards> slots;
};

struct TurnstileLayout {
  alignas(cache_line) SharedNumber holder;  // mark of the opening whose turn it is, 0 if nobody's
  alignas(cache_line) SharedNumber tickets;
  WaitingShard shard;
  WaitingSlots slots;
};

// A flush that is under way.
struct FlushLane {
  SharedInstant since;  // 0: none
  SharedNumber covers;  // what was written when it began, or when the one before it did
};

// What is known of the log's flushes. Kept when the openings are all gone: what they wrote may be
// visible and not flushed.
struct FlushLayout {
  alignas(cache_line) SharedNumber announced;
  SharedNumber written;
  SharedNumber flushed;
  std::array<FlushLane, FlushLine::lanes> lanes;
  SharedWord broken;
  SharedWord news;
  SharedWord sleepers;
};

struct DoorbellLayout {
  struct alignas(cache_line) Bell {
    SharedWord rings;
    SharedWord sleepers;
  };
  std::array<Bell, Doorbell::shards> bells;
};

struct SidecarLayout {
  SidecarHeader header;
  MembershipLayout members;
  TurnstileLayout turnstile;
  FlushLayout flush;
  DoorbellLayout doorbell;
  WaitingLineLayout line;
};

static_assert(std::is_standard_layout_v<SidecarLayout>);
static_assert(std::is_trivially_destructible_v<SidecarLayout>);
static_assert(sizeof(WaitingSlot) == cache_line && sizeof(WaitingShard) == cache_line);

// Where the kernel's locks are: byte 0 is the creation lock, the bytes of the members lie far
// beyond anything that the file will ever hold. Locks may lie beyond the end of a file.
inline constexpr std::int64_t first_member_byte = 1 << 30;

// The same in all processes and versions of one layout. FNV-1a (Fowler, Noll, Vo) with SplitMix64's
// finish, because shards are taken from its low bits.
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

}  // namespace wallock::host
