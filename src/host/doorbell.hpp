// Doorbell: wakes those who wait for news about a subject (a destination of the outbox).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "host/futex.hpp"

namespace wallock::host {

class Membership;
struct DoorbellLayout;

// One word per shard of subjects; a ring changes the word and wakes everybody who sleeps on it.
// Rings may be lost (a process that dies between its COMMIT and its ring) and may be about another
// subject: who waits looks at the database after every ring and after a second at the latest.
// All members may be called from all threads at once. In a forked child nothing rings.
class Doorbell {
 public:
  static constexpr std::size_t shards = 64;

  // Both outlive it.
  Doorbell(DoorbellLayout& layout, const Membership& members) noexcept
      : layout_(layout), members_(members) {}
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // Read before looking at the database.
  [[nodiscard]] std::uint32_t rings(std::string_view subject) const noexcept;
  // Sleeps until rung since `seen`, or for `patience` of real time; may return early.
  void sleep(std::string_view subject, std::uint32_t seen, Duration patience) noexcept;
  // After the COMMIT that is the news. No system call if nobody sleeps.
  void ring(std::string_view subject) noexcept;

 private:
  DoorbellLayout& layout_;
  const Membership& members_;
};

}  // namespace wallock::host
