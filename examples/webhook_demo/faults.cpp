#include "faults.hpp"

#include <utility>

namespace demo {

std::vector<FaultKind> plan_faults(Random& random) {
  std::vector<FaultKind> plan;
  plan.insert(plan.end(), promised_kills_at_work, FaultKind::kill_at_work);
  plan.insert(plan.end(), promised_kills_at_commit, FaultKind::kill_at_commit);
  plan.insert(plan.end(), promised_pauses, FaultKind::pause_at_work);
  for (std::size_t left = plan.size(); left > 1; --left)  // Fisher and Yates
    std::swap(plan[left - 1], plan[random() % left]);
  return plan;
}

std::string describe(const Fault& fault) {
  const char* what = "";
  switch (fault.kind) {
    case FaultKind::kill_at_work:
      what = "killed at work";
      break;
    case FaultKind::kill_at_commit:
      what = "killed in its commit";
      break;
    case FaultKind::pause_at_work:
      what = "paused at work";
      break;
  }
  const auto token = wallock::FencingToken::from_value(fault.token);
  return fault.worker + " " + what + " on " + fault.repository + ", token " +
         (token ? to_string(*token) : "?");
}

}  // namespace demo
