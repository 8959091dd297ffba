#include "sqlite/replay.hpp"

#include <algorithm>

namespace wallock::sqlite {
namespace {

// The result that was answered when the action was recorded.
Result<ActionResult> result_of(WriteTransaction& transaction, const ResourceName& resource,
                               const RecordedAction& recorded, const ActionRequest& action) {
  Session& session = transaction.session();
  const auto same =
      session.actions.same_content(transaction.db(), session.ledger.hasher(), recorded, action);
  if (!same) return fail(same.error());
  if (!*same || recorded.resource != resource) {
    return fail(Error(Errc::action_conflict, ErrorFacts{.field = "action_id",
                                                        .action = action.id().str(),
                                                        .resource = resource.str(),
                                                        .token = recorded.token}));
  }
  return ActionResult({.id = action.id(),
                       .position = recorded.position,
                       .token = recorded.token,
                       .digest = recorded.digest,
                       .state = recorded.state});
}

// Adds the results of those that are recorded. That none is costs one question.
Status find_some(WriteTransaction& transaction, const ResourceName& resource,
                 std::span<const ActionRequest> actions, std::vector<ActionResult>& results) {
  ActionStore& store = transaction.session().actions;
  if (actions.size() > 1) {
    const auto known = store.knows_any(transaction.db(), actions);
    if (!known) return fail(known.error());
    if (!*known) return {};
  }
  for (const ActionRequest& action : actions) {
    const auto recorded = store.find(transaction.db(), action.id());
    if (!recorded) return fail(recorded.error());
    const std::optional<RecordedAction>& found = *recorded;
    if (!found) continue;
    auto result = result_of(transaction, resource, *found, action);
    if (!result) return fail(result.error());
    results.push_back(*std::move(result));
  }
  return {};
}

}  // namespace

Result<std::optional<std::vector<ActionResult>>> find_replay(
    WriteTransaction& transaction, const ResourceName& resource,
    std::span<const ActionRequest> actions) {
  std::vector<ActionResult> results;
  for (auto rest = actions; !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), rows_at_once));
    rest = rest.subspan(some.size());
    if (auto ok = find_some(transaction, resource, some, results); !ok) return fail(ok.error());
  }
  if (results.empty()) return std::optional<std::vector<ActionResult>>();
  if (results.size() != actions.size()) {
    return fail(Error(Errc::batch_partly_recorded, ErrorFacts{.field = "action_id",
                                                              .action = results.front().id().str(),
                                                              .resource = resource.str()}));
  }
  return std::optional(std::move(results));
}

}  // namespace wallock::sqlite
