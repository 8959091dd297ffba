// History: what many processes did to one store, as they logged it and as the store shows it
// afterwards; and the checks that no such history may fail.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace wallock::test {

// One call of one worker, written down before it was made and again after it was answered.
struct Attempt {
  enum class Kind : std::uint8_t { acquire, commit, execute, release };
  enum class Answer : std::uint8_t {
    none,      // never answered: the worker was killed
    done,      // granted, committed, released
    replayed,  // recorded by an earlier attempt
    refused,   // a business answer: nothing was changed
    repeat,    // a transient error: repeating tells
    broken,    // an error that a healthy store never gives
  };

  std::string worker = {};
  Kind kind = Kind::acquire;
  std::string resource = {};
  std::string action = {};     // of a commit or execute
  std::uint64_t token = 0;     // shown with a commit or release
  std::string holder = {};     // of the lease shown with a commit
  std::uint64_t instance = 0;  // likewise
  std::int64_t value = 0;      // the counter that a commit goes on from
  std::int64_t begun = 0;      // boot clock, before the call
  std::int64_t answered = 0;   // boot clock, after the call
  Answer answer = Answer::none;
  std::uint64_t granted = 0;   // the token that was granted, by an acquire or a commit that keeps
  std::uint64_t position = 0;  // of the action's record
  std::string error = {};      // the code of a refusal
};

// One record of the ledger.
struct Record {
  enum class Kind : std::uint8_t { grant, action, ending, other };

  std::uint64_t position = 0;
  Kind kind = Kind::other;
  std::string resource = {};
  std::string action = {};
  std::uint64_t token = 0;
};

// One row that a work wrote: the counter it set, and for which action.
struct Increment {
  std::string action = {};
  std::string resource = {};
  std::int64_t value = 0;
  std::uint64_t token = 0;
};

struct History {
  std::vector<Attempt> attempts = {};      // of each worker in its order
  std::vector<Record> records = {};        // by position
  std::vector<Increment> increments = {};  // in the order of their writing
  std::map<std::string, std::int64_t> counters = {};
};

struct Violation {
  enum class Kind : std::uint8_t {
    gap,              // the ledger's positions are not 0, 1, 2, ...
    token,            // a token repeats, falls, or is not its grant's position
    stale,            // a commit was accepted under a token that could no longer write
    repeated_action,  // two records carry one action id
    missing_record,   // an acknowledged action has no record, or another than was answered
    false_record,     // an action is recorded that was refused or never asked for
    increments,       // an action's work ran not once, or ran without a record
    lost_update,      // a counter is not the number of its increments
    order,            // what was answered before something began is recorded after it
    broken,           // a worker was answered with an error that a healthy store never gives
  };

  Kind kind;
  std::string text;
};

[[nodiscard]] std::string_view to_string(Violation::Kind kind) noexcept;

// Everything that is wrong with the history; empty for a good one.
[[nodiscard]] std::vector<Violation> violations(const History& history);

// The lines of one worker's log (log_line below), added to the attempts. A last line that a kill
// cut short is left out.
void read_log(const std::string& worker, std::string_view text, std::vector<Attempt>& attempts);

// What a worker writes before (answer none) and after each call, with a line end.
[[nodiscard]] std::string log_line(const Attempt& attempt);

}  // namespace wallock::test
