// WaitingLine: who waits for a resource, over all threads and processes, in order of arrival.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "host/futex.hpp"
#include "host/membership.hpp"
#include "wallock/clock.hpp"

namespace wallock::host {

struct WaitingLineLayout;
struct WaitingSlot;
class WaitingQueue;

// Places in shared memory, found by a 64-bit hash of the resource's name (two names with one hash
// wait in one line: slower, never wrong). A place costs no disk write. The first in line is called
// when the resource may be free; when it leaves the line, however, it calls the next one, who then
// watches the holder. A place whose process died, whose deadline passed, who was called and did not
// react within `grace`, or who has not looked (is_first) for `silence`, is passed over; who is only
// slow has its old place again when it looks.
//
// It decides nothing: who is first asks the database, and may be refused.
// All members may be called from all threads at once. In a forked child nobody waits.
class WaitingLine {
 public:
  static constexpr std::size_t shards = 64;
  static constexpr std::size_t places_per_shard = 256;
  static constexpr Duration grace = std::chrono::milliseconds(20);
  static constexpr Duration silence = std::chrono::seconds(1);

  // Somebody's place in the line. Move-only; leaves the line at its end, calling the next one.
  class Place {
   public:
    Place(Place&& other) noexcept;
    Place& operator=(Place&& other) noexcept;
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place();

    // True if nobody who counts came before. Read calls() before. To be asked again well within
    // `silence`; nobody waits longer for one who has stopped asking.
    [[nodiscard]] bool is_first() noexcept;
    // Changes with every call: read it before looking at the line or the database, then sleep on
    // it.
    [[nodiscard]] std::uint32_t calls() const noexcept;
    // Sleeps until called since `seen`, or for `patience` of real time; may return early.
    void sleep(std::uint32_t seen, Duration patience) noexcept;
    // The same, and until the kernel tells that the process of `holder` ends. False at once if that
    // cannot be waited for.
    [[nodiscard]] bool sleep(std::uint32_t seen, const Pulse& holder, Duration patience) noexcept;
    // Ends a sleep of this place, as a call would; from any thread.
    void interrupt() noexcept;
    // The call was heard and the database refused: in line as before, not passed over. Not needed
    // after is_first() was false.
    void stay() noexcept;

   private:
    friend class WaitingLine;
    Place(WaitingLine& line, std::uint64_t hash, WaitingSlot& slot) noexcept
        : line_(&line), hash_(hash), slot_(&slot) {}
    [[nodiscard]] bool is_gone() const noexcept;
    void leave() noexcept;

    WaitingLine* line_;
    std::uint64_t hash_;
    WaitingSlot* slot_;
  };

  // All three outlive it. `clock` is the machine's, the same in all processes.
  WaitingLine(WaitingLineLayout& layout, const Membership& members, const Clock& clock) noexcept
      : layout_(layout), members_(members), clock_(clock) {}
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

  // Takes the last place in the line for `resource`, valid until `until` on the clock. Nothing if
  // the shard is full: wait without a place then, by looking now and then.
  [[nodiscard]] std::optional<Place> join(std::string_view resource, Instant until) noexcept;
  // True if somebody who counts waits for the resource. One load if nobody waits in its shard.
  [[nodiscard]] bool is_waited_for(std::string_view resource) noexcept;
  // The resource may be free: calls the first who counts. One load if nobody waits in its shard.
  void call_first(std::string_view resource) noexcept;
  // How many places are taken, for health(). Places of the dead count until somebody meets them.
  [[nodiscard]] std::size_t count() const noexcept;

 private:
  [[nodiscard]] WaitingQueue queue(std::uint64_t hash) noexcept;

  WaitingLineLayout& layout_;
  const Membership& members_;
  const Clock& clock_;
};

}  // namespace wallock::host
