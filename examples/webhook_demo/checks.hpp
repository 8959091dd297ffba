// What became of every payload, read from the application's tables and from the ledger. Nothing
// here rests on what the workers said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "application.hpp"
#include "faults.hpp"
#include "supervisor.hpp"
#include "wallock/wallock.hpp"
#include "webhooks.hpp"

namespace demo {

// What the application's own tables say.
struct TableFindings {
  std::size_t applied_once = 0;
  std::size_t never_applied = 0;
  std::size_t doubled = 0;        // payloads applied more than once
  std::int64_t lost_updates = 0;  // applied, and overwritten by a writer who had not seen it
  std::size_t stale_writes = 0;   // written under a token at or below one that had written before
  std::size_t repositories = 0;
  std::size_t counters_wrong = 0;  // repositories whose counter is not the number of payloads
  // Repositories whose state is not the one that applying their payloads one after the other, in
  // the order committed, gives.
  std::size_t not_sequential = 0;
};

// The time from a fault to the next grant on its repository, by the ledger.
struct HandOvers {
  std::size_t count = 0;
  std::chrono::microseconds median{};
  std::chrono::microseconds longest{};
};

// What the ledger says.
struct LedgerFindings {
  wallock::TreeHead head;
  wallock::VerifyReport verified;  // against the head noted half-way
  std::size_t grants = 0;
  std::size_t actions = 0;
  std::size_t actions_wrong = 0;        // payloads without exactly one record that fits its effect
  std::size_t tokens_falling = 0;       // grants or actions at or below one before, by repository
  std::size_t stale_actions = 0;        // recorded after a newer grant on the same repository
  std::size_t written_by_struck = 0;    // written under the token of a worker struck at work
  std::size_t committed_by_killed = 0;  // written under the token of one killed in its commit
  HandOvers after_death;
  HandOvers after_pause;
};

// What happened when every payload was sent once more, as it stands in the file.
struct Redelivery {
  std::size_t replayed = 0;
  bool wrote_nothing = false;
};

// All throw std::runtime_error or SQLite::Exception if the store cannot be read.
[[nodiscard]] TableFindings check_tables(Application& application,
                                         const std::vector<Webhook>& webhooks);
[[nodiscard]] LedgerFindings check_ledger(wallock::Coordinator& coordinator,
                                          const std::vector<Webhook>& webhooks,
                                          const std::vector<Effect>& effects, const RunRecord& run);
[[nodiscard]] Redelivery redeliver(wallock::Coordinator& coordinator,
                                   const std::vector<Webhook>& webhooks);

}  // namespace demo
