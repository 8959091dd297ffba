// The table at the end, and the verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checks.hpp"
#include "options.hpp"
#include "supervisor.hpp"

namespace demo {

struct Findings {
  std::size_t payloads = 0;
  RunRecord run;
  TableFindings tables;
  LedgerFindings ledger;
  std::optional<Redelivery> redelivery = {};  // empty without the fence: no action was recorded
};

void print_table(const Findings& findings, bool fenced);

// What was lost, doubled or accepted stale, or does not add up: a line for each, none if all is
// well.
[[nodiscard]] std::vector<std::string> broken_promises(const Findings& findings, bool fenced);

// Which promised faults did not occur: the run shows less than it should.
[[nodiscard]] std::vector<std::string> missing_faults(const Findings& findings, bool fenced);

}  // namespace demo
