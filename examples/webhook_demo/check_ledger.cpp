#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <stdexcept>

#include "checks.hpp"

namespace demo {

namespace {

using wallock::AuditRecord;
using wallock::RecordKind;

template <class T>
T value_of(wallock::Result<T> result, const char* what) {
  if (!result) throw std::runtime_error(std::string(what) + ": " + to_string(result.error()));
  return *std::move(result);
}

std::vector<AuditRecord> read_all(wallock::Coordinator& coordinator) {
  constexpr std::uint64_t page = 1000;
  std::vector<AuditRecord> records;
  for (;;) {
    auto next = value_of(coordinator.audit({.from = records.size(), .limit = page}), "audit");
    if (next.empty()) return records;
    records.insert(records.end(), next.begin(), next.end());
  }
}

bool is(const AuditRecord& record, RecordKind kind) { return record.entry().kind == kind; }

// Per repository: grants rise, actions rise, and no action is recorded under a token that a newer
// grant stands before.
void check_order(const std::vector<AuditRecord>& records, LedgerFindings& findings) {
  std::map<std::string, wallock::FencingToken> granted;
  std::map<std::string, wallock::FencingToken> written;
  for (const AuditRecord& record : records) {
    if (!record.entry().resource) continue;
    const std::string& repository = record.entry().resource->str();
    const wallock::FencingToken token = record.entry().token;
    if (is(record, RecordKind::lease_granted)) {
      ++findings.grants;
      findings.tokens_falling += token <= granted[repository] ? 1 : 0;
      granted[repository] = token;
    } else if (is(record, RecordKind::action_recorded)) {
      ++findings.actions;
      findings.tokens_falling += token <= written[repository] ? 1 : 0;
      findings.stale_actions += token != granted[repository] ? 1 : 0;
      written[repository] = token;
    }
  }
}

// Exactly one record for each payload: under its id, on its repository, under the token that stands
// beside the effect in the application's table.
void check_actions(const std::vector<AuditRecord>& records, const std::vector<Webhook>& webhooks,
                   const std::vector<Effect>& effects, LedgerFindings& findings) {
  struct Expected {
    std::string repository;
    std::uint64_t token = 0;
    std::size_t found = 0;
  };
  std::map<std::string, Expected> expected;
  for (const Webhook& webhook : webhooks)
    expected[webhook.id].repository = webhook.repository;
  for (const Effect& effect : effects)
    expected[effect.webhook].token = effect.token;

  for (const AuditRecord& record : records) {
    if (!is(record, RecordKind::action_recorded)) continue;
    const wallock::LedgerEntry& entry = record.entry();
    Expected& payload = expected[entry.action_id->str()];
    const bool fits = entry.resource->str() == payload.repository &&
                      entry.token.value() == payload.token &&
                      entry.state == wallock::ActionState::sealed;
    payload.found += fits ? 1 : 2;
  }
  findings.actions_wrong = static_cast<std::size_t>(std::count_if(
      expected.begin(), expected.end(), [](const auto& entry) { return entry.second.found != 1; }));
}

// A worker struck at work has written nothing under that token; one killed in its commit may have.
void check_struck(const std::vector<AuditRecord>& records, const std::vector<Effect>& effects,
                  const std::vector<Fault>& faults, LedgerFindings& findings) {
  std::set<std::uint64_t> written;
  for (const Effect& effect : effects)
    written.insert(effect.token);
  for (const AuditRecord& record : records) {
    if (is(record, RecordKind::action_recorded)) written.insert(record.entry().token.value());
  }
  for (const Fault& fault : faults) {
    std::size_t& count = fault.kind == FaultKind::kill_at_commit ? findings.committed_by_killed
                                                                 : findings.written_by_struck;
    count += written.count(fault.token);
  }
}

HandOvers hand_overs(const std::vector<AuditRecord>& records, const std::vector<Fault>& faults,
                     FaultKind kind) {
  std::vector<std::chrono::microseconds> times;
  for (const Fault& fault : faults) {
    if (fault.kind != kind) continue;
    const auto next = std::find_if(records.begin(), records.end(), [&](const AuditRecord& record) {
      return is(record, RecordKind::lease_granted) &&
             record.entry().resource->str() == fault.repository &&
             record.entry().token.value() > fault.token;
    });
    if (next != records.end()) times.push_back(next->recorded_at() - fault.at);
  }
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  return {.count = times.size(), .median = times[times.size() / 2], .longest = times.back()};
}

}  // namespace

LedgerFindings check_ledger(wallock::Coordinator& coordinator, const std::vector<Webhook>& webhooks,
                            const std::vector<Effect>& effects, const RunRecord& run) {
  const std::vector<AuditRecord> records = read_all(coordinator);
  LedgerFindings findings;
  findings.head = value_of(coordinator.root(), "root");
  findings.verified = value_of(coordinator.verify(run.noted_head), "verify");
  check_order(records, findings);
  check_actions(records, webhooks, effects, findings);
  check_struck(records, effects, run.faults, findings);
  findings.after_death = hand_overs(records, run.faults, FaultKind::kill_at_work);
  findings.after_pause = hand_overs(records, run.faults, FaultKind::pause_at_work);
  return findings;
}

Redelivery redeliver(wallock::Coordinator& coordinator, const std::vector<Webhook>& webhooks) {
  const wallock::TreeHead before = value_of(coordinator.root(), "root");
  Redelivery redelivery;
  for (const Webhook& webhook : webhooks) {
    const wallock::ActionFields action{.id = webhook.id, .payload = webhook.body};
    const auto answer = value_of(coordinator.execute(webhook.repository, action), "redelivery");
    redelivery.replayed += answer.replayed() ? 1 : 0;
  }
  redelivery.wrote_nothing = value_of(coordinator.root(), "root") == before;
  return redelivery;
}

}  // namespace demo
