// Sidecar: what the processes of one store share beside the database file.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "host/doorbell.hpp"
#include "host/flush_line.hpp"
#include "host/lifeline.hpp"
#include "host/membership.hpp"
#include "host/turnstile.hpp"
#include "host/waiting_line.hpp"
#include "wallock/clock.hpp"
#include "wallock/result.hpp"

namespace wallock::host {

// The mapped file "<database>-wallock": turnstile, membership, waiting line, doorbell. It makes
// things fair and quick and decides nothing: whatever it says, wrongly or not at all, the database
// alone grants and refuses.
//
// It holds nothing durable. Who opens it finds one of three things: nothing of use, and lays it out
// anew; the leavings of openings that are all gone, and keeps only the memory of who died, so that
// the dead can be told from the living also after the last one; or living ones, and checks that
// their layout is its own (magic, version, size, boot id), and goes without if it is not. Allocated
// before it is mapped, so that a full disk is an error here and not a SIGBUS later. Never wider
// than the database in its permissions; a link, a file with a second name, no regular file, a file
// with other content, and one that somebody prepared who may not write the database are refused.
//
// Thread safety: all members may be called from all threads at once. In a forked child they do
// nothing and the destructor leaves the parent's state alone; the mapping is not even there. A
// child made by a raw clone(2) must not call anything here.
class Sidecar {
 public:
  // Opens, lays out if this is the only opening of the store, maps and joins as `instance` (not 0).
  // Takes the creation lock meanwhile, until `deadline` on `clock`, which outlives the sidecar.
  // `database` is a resolved path.
  // busy (transient): the creation lock. store_unavailable with errno (transient): the file cannot
  // be created, cannot be allocated (ENOSPC) or mapped, is a link (ELOOP), no regular file
  // (EINVAL), has another name (EMLINK), or may be written by those who may not write the database
  // (EPERM); EPROTO: others use it with another layout, or it is no sidecar; EAGAIN: all places are
  // taken; ENOTSUP: this platform has no open file description locks.
  [[nodiscard]] static Result<std::unique_ptr<Sidecar>> open(std::string_view database,
                                                             std::uint64_t instance,
                                                             const Clock& clock, Instant deadline);
  Sidecar(const Sidecar&) = delete;
  Sidecar& operator=(const Sidecar&) = delete;
  ~Sidecar();

  [[nodiscard]] Turnstile& turnstile() const noexcept;
  [[nodiscard]] Membership& membership() const noexcept;
  [[nodiscard]] Lifeline& lifeline() const noexcept;
  [[nodiscard]] WaitingLine& line() const noexcept;
  [[nodiscard]] FlushLine& flush_line() const noexcept;
  [[nodiscard]] Doorbell& doorbell() const noexcept;

 private:
  class Parts;
  explicit Sidecar(std::unique_ptr<Parts> parts) noexcept;

  std::unique_ptr<Parts> parts_;
};

}  // namespace wallock::host
