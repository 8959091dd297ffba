// Questions: everything that is measured, by topic; the programs pick theirs, the profiler any.
#pragma once

#include <vector>

#include "question.hpp"

namespace wallock::bench {

// What a lease costs: acquire, release and both.
[[nodiscard]] std::vector<Question> lease_questions();
// What recording 1, 10, 100 and 1000 actions in a commit costs; the lease is not measured.
[[nodiscard]] std::vector<Question> commit_questions();
// What a whole job costs: acquire, commit and release as three calls, and as one execute.
[[nodiscard]] std::vector<Question> job_questions();
// What delivering one action costs: claim, settle and both, alone, with a line of others behind it,
// and with many before it that wait for breakers.
[[nodiscard]] std::vector<Question> delivery_questions();

}  // namespace wallock::bench
