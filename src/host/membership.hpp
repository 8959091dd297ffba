// Membership: which openings of a store are alive, as the kernel knows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "host/lifeline.hpp"
#include "host/unforked_file.hpp"

namespace wallock::host {

struct MemberPlace;
struct MembershipLayout;

// Every opening has a place in a table of the sidecar, with its instance id, and an exclusive open
// file description lock (fcntl(2), F_OFD_SETLK) on the byte that belongs to the place. The kernel
// drops the lock the instant the process is gone, also in another container; nothing can be
// forgotten. A child made by fork(2) closes the descriptor in its atfork handler, so it does not
// keep its parent alive; one made by vfork or a raw clone does until it ends or executes.
//
// The place of an opening that died keeps its instance id, so that its death can be told, until no
// other place is left. Closing properly clears it: what a closed opening left behind is not dead,
// it lasts until its ttl.
//
// All members may be called from all threads at once. In a forked child nobody is dead.
class Membership {
 public:
  using Place = std::uint32_t;
  static constexpr std::size_t places = 1024;

  // Names one opening, and is never given to another. 0 names nobody; the lowest bit is free for
  // the use of whoever keeps marks.
  using Mark = std::uint64_t;
  static constexpr Mark flag = 1;

  // Joins as `instance`: takes a place whose opening closed, else one that was never used, else
  // that of the opening that has been dead for longest. Nothing if all are taken. The caller holds
  // the creation lock; `file` is the open sidecar and `layout` lies in it, both for as long as the
  // Membership lives.
  [[nodiscard]] static std::optional<Place> join(MembershipLayout& layout, const UnforkedFile& file,
                                                 std::uint64_t instance) noexcept;
  // True if the kernel knows an opening by now. The caller holds the creation lock.
  [[nodiscard]] static bool is_anybody_there(const UnforkedFile& file) noexcept;

  // `own` is what join() gave.
  Membership(MembershipLayout& layout, const UnforkedFile& file, Place own) noexcept;
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;
  // Closes properly; in a forked child it does nothing.
  ~Membership();

  [[nodiscard]] Place own() const noexcept { return own_; }
  [[nodiscard]] Mark mark() const noexcept { return mark_; }
  // True in a child of the process that joined.
  [[nodiscard]] bool forked() const noexcept { return file_.forked(); }

  // True only if the opening that had this instance id is certainly gone without having closed.
  // Unknown ids are not dead. One look through the table and one system call, two if it is dead.
  [[nodiscard]] bool is_dead(std::uint64_t instance) const noexcept;
  // True unless the kernel says that nobody has the place any more. The own place is alive.
  [[nodiscard]] bool is_alive(Place place) const noexcept;
  // True unless the opening of this mark is certainly gone, closed or not. The lowest bit of `mark`
  // is ignored.
  [[nodiscard]] bool lives(Mark mark) const noexcept;
  // The pulse of the opening that has this instance id, dead or alive. Nothing if the table does
  // not know the id: then it will never be dead.
  [[nodiscard]] std::optional<Pulse> pulse_of(std::uint64_t instance) const noexcept;
  // How many openings are alive now, this one included. A system call for each.
  [[nodiscard]] std::size_t count() const noexcept;

 private:
  // Null if no place has the id.
  [[nodiscard]] MemberPlace* find(std::uint64_t instance) const noexcept;

  MembershipLayout& layout_;
  const UnforkedFile& file_;
  Place own_;
  Mark mark_;
};

}  // namespace wallock::host
