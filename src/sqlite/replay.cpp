#include "sqlite/replay.hpp"

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

}  // namespace

Result<std::optional<std::vector<ActionResult>>> find_replay(
    WriteTransaction& transaction, const ResourceName& resource,
    std::span<const ActionRequest> actions) {
  std::vector<ActionResult> results;
  for (const ActionRequest& action : actions) {
    const auto recorded = transaction.session().actions.find(transaction.db(), action.id());
    if (!recorded) return fail(recorded.error());
    const std::optional<RecordedAction>& found = *recorded;
    if (!found) continue;
    auto result = result_of(transaction, resource, *found, action);
    if (!result) return fail(result.error());
    results.push_back(*std::move(result));
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
