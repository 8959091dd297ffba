// A holder that slept through the end of its lease wakes up and tries to write: refused.
#include <memory>

#include "example.hpp"
#include "wallock/manual_clock.hpp"

using example::must;
using example::show;
using std::chrono::milliseconds;
using wallock::Coordinator;
using wallock::Errc;

int main() {
  // Two coordinators as two worker processes would have them, on one file and one clock.
  const auto clock = std::make_shared<wallock::ManualClock>();
  auto sleepy = must(Coordinator::open("stale.db", {.holder = "sleepy", .clock = clock}), "open");
  auto awake = must(Coordinator::open("stale.db", {.holder = "awake", .clock = clock}), "open");

  const auto old_lease = must(sleepy.acquire("ledger/2024", {.ttl = milliseconds(300)}), "acquire");
  show(example::refused_as(awake.try_acquire("ledger/2024"), Errc::lease_held),
       "while the lease lives, everybody else is refused: lease_held");

  clock->advance(milliseconds(301));  // a long pause: the collector, the scheduler, a suspend
  const auto new_lease = must(awake.acquire("ledger/2024"), "acquire after the end");
  show(new_lease.token() > old_lease.token(),
       "after its end the next holder gets it, under a greater token: " +
           to_string(new_lease.token()) + " > " + to_string(old_lease.token()));

  bool ran = false;
  const auto late = sleepy.commit(old_lease, {{.id = "entry-1"}}, [&ran] { ran = true; });
  show(example::refused_as(late, Errc::stale_token) && !ran,
       "the first holder's commit is refused, its work never runs: stale_token");

  must(awake.commit(new_lease, {{.id = "entry-1"}}), "commit");
  show(must(sleepy.release(old_lease), "release") == wallock::ReleaseEffect::already_ended,
       "releasing what one no longer has is no error: already_ended");
  show(must(awake.release(new_lease), "release") == wallock::ReleaseEffect::released,
       "the new holder commits and releases");
}
