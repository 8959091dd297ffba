// FlushLine: one process flushes the log for all.
#pragma once

#include <cstdint>

#include "host/futex.hpp"
#include "wallock/time.hpp"

namespace wallock::host {

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
// Nothing here is a lock. Who flushes says since when; one that takes too long is not waited for
// (it may be stopped or dead), because two flushes at once do no harm.
//
// All members may be called from all threads at once.
class FlushLine {
 public:
  using Ticket = std::uint64_t;

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

  enum class Outcome : std::uint8_t {
    flushed,
    failed,       // a flush of the log failed
    not_written,  // announced long ago: settle it (a transaction does)
  };
  // Returns once the ticket is flushed. If nobody is at it, calls flush() -> bool itself.
  template <class Flush>
  [[nodiscard]] Outcome wait(Ticket ticket, Flush&& flush) noexcept {
    const Instant since = now();
    for (;;) {
      const std::uint32_t news = this->news();
      if (is_flushed(ticket)) return Outcome::flushed;
      if (is_broken()) return Outcome::failed;
      if (!is_written(ticket)) {
        if (is_long(since)) return Outcome::not_written;
        sleep(news);
      } else if (Turn turn(*this); turn.is_own()) {
        turn.done(flush());
      } else {
        sleep(news);
      }
    }
  }

 private:
  // The right to flush; covers what was written when it was taken.
  class Turn {
   public:
    explicit Turn(FlushLine& line) noexcept;
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() = default;
    [[nodiscard]] bool is_own() const noexcept { return stamp_ != 0; }
    void done(bool flushed) noexcept;

   private:
    FlushLine& line_;
    std::int64_t stamp_ = 0;
    Ticket covers_ = 0;
  };

  // Real time, the same in all processes.
  [[nodiscard]] static Instant now() noexcept;
  [[nodiscard]] std::uint32_t news() const noexcept;
  [[nodiscard]] bool is_written(Ticket ticket) const noexcept;
  [[nodiscard]] bool is_long(Instant since) const noexcept;
  void sleep(std::uint32_t news) noexcept;
  void tell() noexcept;

  FlushLayout& layout_;
};

}  // namespace wallock::host
