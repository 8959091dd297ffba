#include <map>

#include "checks.hpp"

namespace demo {

namespace {

using ByRepository = std::map<std::string, RepositoryState>;

void check_payloads(const std::vector<Webhook>& webhooks, const std::vector<Effect>& effects,
                    TableFindings& findings) {
  std::map<std::string, std::size_t> times;
  for (const Effect& effect : effects)
    ++times[effect.webhook];
  for (const Webhook& webhook : webhooks) {
    const std::size_t count = times[webhook.id];
    findings.never_applied += count == 0 ? 1 : 0;
    findings.applied_once += count == 1 ? 1 : 0;
    findings.doubled += count > 1 ? 1 : 0;
  }
}

void check_tokens(const std::vector<Effect>& effects, TableFindings& findings) {
  std::map<std::string, std::uint64_t> highest;
  for (const Effect& effect : effects) {
    std::uint64_t& before = highest[effect.repository];
    findings.stale_writes += effect.token <= before ? 1 : 0;
    before = std::max(before, effect.token);
  }
}

// The states that one worker alone would have reached, applying the same payloads in this order.
ByRepository one_after_the_other(const std::vector<Webhook>& webhooks,
                                 const std::vector<Effect>& effects) {
  std::map<std::string, const Webhook*> by_id;
  for (const Webhook& webhook : webhooks)
    by_id[webhook.id] = &webhook;
  ByRepository states;
  for (const Effect& effect : effects) {
    RepositoryState& state = states[effect.repository];
    state = apply(state, *by_id.at(effect.webhook));
  }
  return states;
}

}  // namespace

TableFindings check_tables(Application& application, const std::vector<Webhook>& webhooks) {
  const std::vector<Effect> effects = application.effects();
  ByRepository stored = application.states();
  TableFindings findings;
  check_payloads(webhooks, effects, findings);
  check_tokens(effects, findings);

  std::map<std::string, std::int64_t> payloads;
  for (const Webhook& webhook : webhooks)
    ++payloads[webhook.repository];
  findings.repositories = payloads.size();
  for (const auto& [repository, count] : payloads)
    findings.counters_wrong += stored[repository].applied != count ? 1 : 0;
  for (const auto& [repository, state] : one_after_the_other(webhooks, effects)) {
    findings.lost_updates += state.applied - stored[repository].applied;
    findings.not_sequential += stored[repository] != state ? 1 : 0;
  }
  return findings;
}

}  // namespace demo
