// Timeouts of a downstream trip its breaker; only a probe with evidence closes it again.
#include <memory>

#include "example.hpp"
#include "wallock/manual_clock.hpp"

using example::must;
using example::refused_as;
using example::show;
using std::chrono::seconds;
using wallock::Coordinator;
using wallock::DownstreamOutcome;
using wallock::Errc;
using wallock::ReportEffect;

int main() {
  const auto clock = std::make_shared<wallock::ManualClock>();  // so that nothing sleeps
  auto coordinator = must(
      Coordinator::open("breaker.db", {.breaker = {.trip_after = 3, .first_interval = seconds(30)},
                                       .clock = clock}),
      "open");
  const auto lease = must(coordinator.acquire("gateway/eu"), "acquire");

  for (int i = 1; i <= 2; ++i) {
    show(must(coordinator.report(lease, DownstreamOutcome::timeout), "report") ==
             ReportEffect::counted,
         "timeout " + std::to_string(i) + " is counted");
  }
  show(
      must(coordinator.report(lease, DownstreamOutcome::timeout), "report") ==
          ReportEffect::tripped,
      "timeout 3 trips the breaker: " + to_string(must(coordinator.breaker("gateway/eu"), "look")));

  show(refused_as(coordinator.commit(lease, {{.id = "charge-1"}}), Errc::breaker_open),
       "the holder's commit is refused: breaker_open");
  show(refused_as(coordinator.acquire("gateway/eu"), Errc::breaker_open),
       "and nobody gets a lease: breaker_open");
  show(refused_as(coordinator.begin_recovery("gateway/eu"), Errc::recovery_not_due),
       "it may not be probed yet: recovery_not_due");

  clock->advance(seconds(30));
  const auto probe = must(coordinator.begin_recovery("gateway/eu"), "begin recovery");
  show(refused_as(coordinator.acquire("gateway/eu"), Errc::breaker_open),
       "30 s later one probe is granted, while all others stay out: " + to_string(probe));

  must(coordinator.complete_recovery(
           probe, {.recovered = true, .evidence = "GET /health answered 200 three times"}),
       "complete recovery");
  const auto again = must(coordinator.acquire("gateway/eu"), "acquire after recovery");
  must(coordinator.commit(again, {{.id = "charge-1"}}), "commit after recovery");
  show(must(coordinator.breaker("gateway/eu"), "look").state() == wallock::BreakerState::closed,
       "with evidence it closes, and the work goes on");
  must(coordinator.release(again), "release");
}
