// FlushLine: one process flushes the log for all.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "host/futex.hpp"
#include "wallock/time.hpp"

namespace wallock::host {

struct FlushLane;
struct FlushLayout;

// Transactions that must be durable are committed without a flush of their own; then one process
// flushes the log, with everything that was written until then, and tells the others. A commit is
// seen by others before it is durable; so nobody answers before what he saw is.
//
// Every such transaction has a ticket: announced while its writer has the write lock, before its
// COMMIT, so that whoever sees its rows sees its ticket; written after its COMMIT; flushed by
// whoever flushed the log after that. Writers have the lock one after the other, so a flush covers
// all tickets below the one it covers.
//
// On a disk that takes its time several flushes are under way at once, begun at even distances, so
// that what came too late for one need not wait for its end. Each has a lane, and in each process a
// lane has a file handle of its own: the system tells every handle of a write that failed, but only
// once. A quick disk gets one flush at a time: two would do what one does for both.
//
// Nothing here is a lock. Who flushes says since when; one that takes too long is not waited for
// (it may be stopped or dead), because more flushes do no harm.
//
// All members may be called from all threads at once.
class FlushLine {
 public:
  using Ticket = std::uint64_t;
  static constexpr std::size_t lanes = 4;

  explicit FlushLine(FlushLayout& layout) noexcept : layout_(layout) {}
  FlushLine(const FlushLine&) = delete;
  FlushLine& operator=(const FlushLine&) = delete;

  // With the write lock held. What was announced and not written was rolled back, or its writer
  // died: nobody is between the two now.
  void settle() noexcept;
  // With the write lock held, before the COMMIT.
  [[nodiscard]] Ticket announce() noexcept;
  // After the COMMIT.
  void written(Ticket ticket) noexcept;

  // Covers everything that is visible in the database at this moment. Read it after the database.
  [[nodiscard]] Ticket announced() const noexcept;
  [[nodiscard]] bool is_flushed(Ticket ticket) const noexcept;

  // A flush failed: what was not flushed by then may be lost or not. Every wait fails until the log
  // was written and flushed again, under the write lock: repaired(). Those who flush for themselves
  // say so with broke(), and look too.
  [[nodiscard]] bool is_broken() const noexcept;
  void broke() noexcept;
  void repaired() noexcept;

  // How long after one flush the next one may begin beside it, as the last flush of this process
  // took; nothing if that was so quick that one at a time is best.
  [[nodiscard]] std::optional<Duration> distance() const noexcept;

  enum class Flushed : std::uint8_t { flushed, failed, not_begun };
  enum class Outcome : std::uint8_t {
    flushed,
    failed,       // a flush of the log failed
    not_written,  // announced long ago: settle it (a transaction does)
  };
  // Returns once the ticket is flushed. If nobody is at it, calls flush(lane) itself, which answers
  // not_begun if it has no handle for that lane (for the first it must have one), and failed after
  // it told broke(): before another flush of the same handle, which would find nothing wrong.
  template <class Flush>
  [[nodiscard]] Outcome wait(Ticket ticket, Flush&& flush) noexcept {
    const Instant since = now();
    for (;;) {
      const std::uint32_t news = this->news();
      if (is_flushed(ticket)) return Outcome::flushed;
      if (is_broken()) return Outcome::failed;
      if (!is_written(ticket)) {
        if (is_long(since)) return Outcome::not_written;
        sleep(news, look_again);
        continue;
      }
      Turn turn(*this, ticket);
      if (!turn.is_own() || !turn.end(flush(turn.lane()))) sleep(news, turn.next_look());
    }
  }

 private:
  // The right to flush, unless a flush that covers the ticket is under way; covers what was written
  // when it was taken.
  class Turn {
   public:
    Turn(FlushLine& line, Ticket ticket) noexcept;
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() = default;
    [[nodiscard]] bool is_own() const noexcept { return stamp_ != 0; }
    [[nodiscard]] std::size_t lane() const noexcept { return lane_; }
    // False if the flush was not begun.
    [[nodiscard]] bool end(Flushed flushed) noexcept;
    // How long to wait for news before asking again.
    [[nodiscard]] Duration next_look() const noexcept { return next_look_; }

   private:
    [[nodiscard]] bool take(std::size_t lane, Instant now) noexcept;

    FlushLine& line_;
    std::size_t lane_ = 0;
    std::int64_t stamp_ = 0;
    Ticket covers_ = 0;
    Duration next_look_ = look_again;
  };

  // News can be lost with the process that had them.
  static constexpr Duration look_again = std::chrono::milliseconds(2);

  // Real time, the same in all processes.
  [[nodiscard]] static Instant now() noexcept;
  [[nodiscard]] std::uint32_t news() const noexcept;
  [[nodiscard]] bool is_written(Ticket ticket) const noexcept;
  [[nodiscard]] bool is_long(Instant since) const noexcept;
  [[nodiscard]] bool is_under_way(Ticket ticket, Instant now) const noexcept;
  [[nodiscard]] Duration age_of_youngest(Instant now) const noexcept;
  void sleep(std::uint32_t news, Duration patience) noexcept;
  void tell() noexcept;

  FlushLayout& layout_;
  std::atomic<Duration> took_{Duration::zero()};  // the last flush of this process
};

}  // namespace wallock::host
