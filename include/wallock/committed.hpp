// Committed: what a commit answers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wallock/action.hpp"
#include "wallock/lease.hpp"
#include "wallock/print.hpp"

namespace wallock {

// The receipt of a commit. Immutable value; comparable.
class Committed {
 public:
  Committed(std::vector<ActionResult> results, bool replayed,
            std::optional<Lease> lease = std::nullopt) noexcept
      : results_(std::move(results)), replayed_(replayed), lease_(std::move(lease)) {}

  // One per action, in the order given.
  [[nodiscard]] const std::vector<ActionResult>& results() const noexcept { return results_; }
  // True if every action was recorded by an earlier commit: the results are that commit's and the
  // work was not run again.
  [[nodiscard]] bool replayed() const noexcept { return replayed_; }
  // For AfterCommit::keep: the lease under its next token. After a replay only if that lease is
  // still the current one of the same holder and instance; the token may be spent by now.
  [[nodiscard]] const std::optional<Lease>& lease() const noexcept { return lease_; }

  friend bool operator==(const Committed&, const Committed&) = default;

 private:
  std::vector<ActionResult> results_;
  bool replayed_;
  std::optional<Lease> lease_;
};

[[nodiscard]] inline std::string to_string(const Committed& committed) {
  const std::size_t actions = committed.results().size();
  return std::to_string(actions) + (actions == 1 ? " action" : " actions") +
         (committed.replayed() ? ", replayed" : "");
}

}  // namespace wallock
