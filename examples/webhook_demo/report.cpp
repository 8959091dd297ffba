#include "report.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace demo {

namespace {

void title(const char* text) { fmt::print("\n {}\n", text); }

template <class Value>
void row(const char* label, const Value& value) {
  fmt::print("   {:<50} {:>10}\n", label, value);
}

// A row that has to be zero says so when it is not.
template <class Count>
void zero(const char* label, Count count) {
  fmt::print("   {:<50} {:>10}{}\n", label, count, count == 0 ? "" : "   <-- must be 0");
}

std::string milliseconds(std::chrono::microseconds time) {
  const auto tenths = time.count() / 100;
  return fmt::format("{}.{} ms", tenths / 10, tenths % 10);
}

void print_hand_overs(const char* label, const HandOvers& hand_overs) {
  row(label, hand_overs.count);
  row("  median time to the next grant", milliseconds(hand_overs.median));
  row("  longest", milliseconds(hand_overs.longest));
}

std::size_t faults_of(const Findings& findings, FaultKind kind) {
  const auto& faults = findings.run.faults;
  return static_cast<std::size_t>(std::count_if(
      faults.begin(), faults.end(), [kind](const Fault& fault) { return fault.kind == kind; }));
}

void print_faults(const Findings& findings) {
  title("What was done to the workers");
  row("worker processes started", findings.run.started);
  row("killed at work (SIGKILL)", faults_of(findings, FaultKind::kill_at_work));
  row("killed in their commit (SIGKILL)", faults_of(findings, FaultKind::kill_at_commit));
  row("  of these commits had landed", findings.ledger.committed_by_killed);
  row("paused at work past the ttl (SIGSTOP, SIGCONT)",
      faults_of(findings, FaultKind::pause_at_work));
  print_hand_overs("hand-overs after a death", findings.ledger.after_death);
  print_hand_overs("hand-overs after a pause", findings.ledger.after_pause);
  row("ttl of every lease, for comparison", fmt::format("{} ms", lease_ttl.count()));
}

void print_tables(const Findings& findings) {
  const TableFindings& tables = findings.tables;
  title("What the application's tables say");
  row("payloads in", findings.payloads);
  row("applied exactly once", tables.applied_once);
  zero("lost: never applied", tables.never_applied);
  zero("lost: applied, then overwritten", tables.lost_updates);
  zero("doubled: applied more than once", tables.doubled);
  zero("accepted stale: written under an outdated token", tables.stale_writes);
  row("repositories", tables.repositories);
  zero("  whose counter is not the number of payloads", tables.counters_wrong);
  zero("  whose state differs from a sequential run's", tables.not_sequential);
}

void print_ledger(const Findings& findings, bool fenced) {
  const LedgerFindings& ledger = findings.ledger;
  title("What the ledger says");
  row("stale commits refused", findings.run.refused);
  row("replays answered", findings.run.replays);
  row("leases granted", ledger.grants);
  row("action records", ledger.actions);
  if (fenced) zero("payloads without exactly one fitting record", ledger.actions_wrong);
  zero("tokens not rising, by repository", ledger.tokens_falling);
  zero("accepted stale: recorded after a newer grant", ledger.stale_actions);
  zero("written under the token of a worker struck at work", ledger.written_by_struck);
  if (findings.redelivery) row("sent once more, answered as replay", findings.redelivery->replayed);
  row("records", ledger.head.size);
  row("verified against the head noted half-way", to_string(ledger.verified.verdict));
  fmt::print("   root {}\n\n", to_string(ledger.head.root));
}

class Messages {
 public:
  void unless(bool is_so, std::string message) {
    if (!is_so) messages_.push_back(std::move(message));
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(messages_); }

 private:
  std::vector<std::string> messages_;
};

}  // namespace

void print_table(const Findings& findings, bool fenced) {
  print_faults(findings);
  print_tables(findings);
  print_ledger(findings, fenced);
}

std::vector<std::string> broken_promises(const Findings& findings, bool fenced) {
  const TableFindings& tables = findings.tables;
  const LedgerFindings& ledger = findings.ledger;
  Messages messages;
  messages.unless(tables.never_applied == 0,
                  fmt::format("{} payloads were never applied", tables.never_applied));
  messages.unless(tables.applied_once == findings.payloads,
                  fmt::format("{} of {} payloads were applied exactly once", tables.applied_once,
                              findings.payloads));
  messages.unless(tables.lost_updates == 0,
                  fmt::format("{} updates were lost", tables.lost_updates));
  messages.unless(tables.doubled == 0, fmt::format("{} payloads were doubled", tables.doubled));
  messages.unless(tables.stale_writes == 0,
                  fmt::format("{} stale writes were accepted", tables.stale_writes));
  messages.unless(tables.counters_wrong == 0 && tables.not_sequential == 0,
                  fmt::format("{} repositories have a wrong state",
                              std::max(tables.counters_wrong, tables.not_sequential)));
  messages.unless(
      ledger.written_by_struck == 0,
      fmt::format("{} workers struck at work wrote all the same", ledger.written_by_struck));
  messages.unless(ledger.tokens_falling == 0 && ledger.stale_actions == 0,
                  "the ledger has a record under a token that could no longer write");
  messages.unless(ledger.verified.verdict == wallock::VerifyVerdict::anchored,
                  "the ledger does not extend the head that was noted");
  if (!fenced) return messages.take();

  messages.unless(ledger.actions_wrong == 0 && ledger.actions == findings.payloads,
                  "the ledger does not have exactly one record for each payload");
  messages.unless(findings.redelivery && findings.redelivery->wrote_nothing &&
                      findings.redelivery->replayed == findings.payloads,
                  "a payload sent once more was not answered as a replay");
  return messages.take();
}

std::vector<std::string> missing_faults(const Findings& findings, bool fenced) {
  const auto& ledger = findings.ledger;
  Messages messages;
  messages.unless(faults_of(findings, FaultKind::kill_at_work) == promised_kills_at_work,
                  "fewer workers were killed at work than promised");
  messages.unless(faults_of(findings, FaultKind::kill_at_commit) == promised_kills_at_commit,
                  "fewer workers were killed in their commit than promised");
  messages.unless(faults_of(findings, FaultKind::pause_at_work) == promised_pauses,
                  "fewer workers were paused than promised");
  messages.unless(ledger.after_death.count == promised_kills_at_work &&
                      ledger.after_pause.count == promised_pauses,
                  "a repository was not handed over after a fault");
  messages.unless(!fenced || findings.run.refused >= promised_pauses,
                  "fewer stale commits were refused than workers were paused");
  messages.unless(!fenced || findings.run.replays > 0, "no commit was replayed");
  messages.unless(findings.run.noted_head.has_value(), "no head of the ledger was noted");
  return messages.take();
}

}  // namespace demo
