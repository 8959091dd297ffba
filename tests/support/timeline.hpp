// Timeline: the calls of many threads and processes with the times of their answers, and whether
// the order of the ledger explains them: every answer must be what the store could have answered at
// some moment between the beginning and the end of its call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wallock::test {

// One call as its caller saw it. Plain bytes, so that processes can write it to shared memory.
struct TimedCall {
  enum class Kind : std::uint8_t { acquire, commit, release, read };
  enum class Answer : std::uint8_t {
    none,      // not answered
    done,      // granted, committed, released, read
    replayed,  // of a commit that was recorded before
    held,      // somebody has the resource
    in_line,   // nobody has it, but others wait for it
    own,       // the caller has it already
    stale,     // the token may not write any more
    ended,     // of a release: the lease was over before
  };

  Kind kind = Kind::acquire;
  Answer answer = Answer::none;
  std::uint16_t resource = 0;
  std::uint32_t caller = 0;
  std::int64_t begun = 0;      // boot clock
  std::int64_t answered = 0;   // boot clock
  std::uint64_t token = 0;     // granted by an acquire, shown with a commit or release
  std::uint64_t position = 0;  // of the record of a commit; of a read: how many records it saw
  std::uint64_t action = 0;    // of a commit; without a token: of an execute
};

// One record of the ledger, in its place.
struct LedgerLine {
  enum class Kind : std::uint8_t { grant, action, ending, other };

  Kind kind = Kind::other;
  std::uint16_t resource = 0;
  std::uint32_t caller = 0;  // of a grant
  std::uint64_t token = 0;
  std::int64_t until = 0;    // of a grant: when it ends, boot clock
  std::uint64_t action = 0;  // of an action
};

// What the ledger does not explain, in words; at most `most` of it. Empty for a good history.
// `lines` is the whole ledger; nobody died, nobody renewed.
[[nodiscard]] std::vector<std::string> unexplained(const std::vector<TimedCall>& calls,
                                                   const std::vector<LedgerLine>& lines,
                                                   std::size_t most = 10);

}  // namespace wallock::test
