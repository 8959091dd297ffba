// Pauses: workers whose leases are shorter than the stops that they are put to, while they work and
// inside their commits; and the one who stops them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "fork.hpp"
#include "temp_folder.hpp"

namespace wallock::test {

inline constexpr std::size_t pause_workers = 12;
inline constexpr std::size_t pause_resources = 4;

// What the workers of a store and the one who stops them share.
struct PauseGround {
  enum class Phase : std::uint8_t { elsewhere, working, inside };
  enum class Outcome : std::uint8_t { pending, accepted, stale };
  struct Place {
    std::atomic<Phase> phase;
    std::atomic<Outcome> outcome;          // of the commit that the work is for
    std::atomic<bool> watched;             // rests after its outcome until this ends
    std::atomic<std::uint32_t> resource;   // what it works on
    std::atomic<std::uint64_t> token;      // and under which token
    std::atomic<std::int64_t> expires_at;  // boot clock
    std::atomic<std::uint32_t> calls;      // of the library, begun
    std::atomic<std::uint32_t> busy_call;  // the latest that was answered busy
    std::atomic<std::uint32_t> commits;    // acknowledged
    std::atomic<std::uint32_t> stale;      // refused as stale
  };

  std::array<Place, pause_workers> places;
  std::array<std::atomic<std::uint64_t>, pause_resources> latest;  // token granted of each resource
  std::atomic<bool> over;
  std::atomic<std::uint32_t> broken;  // answers that a healthy store never gives
  std::array<char, 256> answer;       // one of them
};

// The life of one worker; its exit code. Without the fence it writes as one who trusts its lease.
[[nodiscard]] int work_with_pauses(PauseGround& ground, const std::string& database, bool fenced,
                                   std::size_t place, unsigned seed);

struct PauseTally {
  std::uint64_t working = 0;   // stops past the ttl in the middle of work
  std::uint64_t inside = 0;    // and inside the transaction
  std::uint64_t accepted = 0;  // commits after the first kind: all of them stale
  std::uint64_t refused = 0;
};

class Pauses {
 public:
  Pauses(bool fenced, unsigned seed);

  // Stops several workers in the middle of their work, each until somebody else has its resource,
  // and sees what becomes of their commits.
  void stop_working();
  // Stops one inside its transaction until its lease is over and others were answered busy.
  void stop_inside();
  // Ends the workers. What is wrong with what they did, in words; empty if nothing is.
  [[nodiscard]] std::vector<std::string> end();

  [[nodiscard]] const PauseTally& tally() const noexcept { return tally_; }
  [[nodiscard]] std::uint64_t commits() const;

 private:
  using Phase = PauseGround::Phase;

  [[nodiscard]] std::string database() const { return folder_ / "store.db"; }
  [[nodiscard]] std::size_t find(Phase phase);
  [[nodiscard]] bool stop_in(std::size_t place, Phase phase);
  [[nodiscard]] bool is_superseded(std::size_t place) const;
  [[nodiscard]] bool was_refused_in_time(
      std::size_t stopped, const std::array<std::uint32_t, pause_workers>& calls) const;
  // Lets it go on to the end of its commit.
  [[nodiscard]] PauseGround::Outcome outcome_of(std::size_t place);

  const TempFolder folder_;
  const bool fenced_;
  std::mt19937 random_;
  Shared<PauseGround> ground_;
  std::vector<Fork> workers_;
  PauseTally tally_;
};

}  // namespace wallock::test
