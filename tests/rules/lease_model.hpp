// A model of leases that knows nothing of fences: a list of what was granted and what became of it.
// The rules are held against it step by step.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rules_support.hpp"
#include "wallock/rules/lease_rules.hpp"

namespace wallock::test {

// One grant, as somebody with a perfect memory would tell it.
struct GrantHistory {
  FencingToken token;
  HolderId holder;
  InstanceId instance{};
  Instant expires_at;
  bool probe = false;  // never commits
  bool spent = false;  // committed once
  bool ended = false;  // released, revoked, tripped or superseded
};

// What a resource has been through.
struct ResourceHistory {
  std::vector<GrantHistory> grants = {};
  bool closed = true;
  FencingToken last_committed = {};

  [[nodiscard]] GrantHistory* latest() { return grants.empty() ? nullptr : &grants.back(); }
};

// Resources under the rules, beside their histories. Every operation goes through both, and the
// first difference is told in `violation`.
class LeaseModel {
 public:
  rules::Moment now = at(1000s, 1, 1);
  std::string violation = {};
  std::map<std::string, int> counts = {};  // how often each answer was given

  void acquire(int which, const HolderId& who, InstanceId instance, Duration ttl) {
    const bool free = !lives(history_[which].latest());
    const auto decision = rules::decide_acquire(
        state_[which], {.resource = name(which), .holder = who, .instance = instance, .ttl = ttl},
        std::nullopt, now);
    expect("acquire", decision, free && history_[which].closed);
    if (!decision) return;
    record_grant(which, {decision->token, who, instance, decision->expires_at}, now.position);
    store(which, decision->change);
  }

  void commit(int which, FencingToken token, AfterCommit after, std::uint64_t actions) {
    ResourceHistory& history = history_[which];
    GrantHistory* grant = history.latest();
    const bool allowed = history.closed && grant && grant->token == token && !grant->probe &&
                         !grant->spent && !grant->ended && token.epoch() == now.epoch;
    const HolderId who = grant ? grant->holder : holder();
    const InstanceId instance = grant ? grant->instance : first_instance;
    const auto decision = rules::decide_commit(state_[which],
                                               {.resource = name(which),
                                                .token = token,
                                                .holder = who,
                                                .instance = instance,
                                                .after = after,
                                                .ttl = 20s,
                                                .actions = actions},
                                               now);
    expect("commit", decision, allowed);
    if (!decision || !allowed) return;
    if (token <= history.last_committed) violation = "commits of one resource do not increase";
    history.last_committed = token;
    grant->spent = true;
    grant->ended = after != AfterCommit::nothing;
    if (decision->next_token) {
      record_grant(which, {*decision->next_token, who, instance, decision->expires_at},
                   now.position + actions);
    }
    now.position += actions;
    store(which, decision->change);
  }

  void renew(int which, FencingToken token, InstanceId instance) {
    GrantHistory* grant = history_[which].latest();
    const bool allowed = history_[which].closed && lives(grant) && grant->token == token &&
                         grant->instance == instance;
    const auto decision =
        rules::decide_renew(state_[which], {name(which), token, instance, 25s}, now);
    expect("renew", decision, allowed);
    if (!decision || !allowed) return;
    grant->expires_at = decision->expires_at;
    store(which, decision->change);
  }

  void release(int which, FencingToken token, InstanceId instance) {
    GrantHistory* grant = history_[which].latest();
    const bool ends = grant && grant->token == token && grant->instance == instance &&
                      !grant->ended && !grant->probe;
    const auto decision = rules::decide_release(state_[which], {name(which), token, instance}, now);
    expect("release", decision, is_issued(which, token));
    if (!decision) return;
    if ((decision->effect != ReleaseEffect::already_ended) != ends) violation = "a wrong release";
    if (ends) grant->ended = true;
    store(which, decision->change);
  }

  void revoke(int which, FencingToken token) {
    GrantHistory* grant = history_[which].latest();
    const bool ends = grant && grant->token == token && !grant->ended && !grant->probe;
    const auto decision = rules::decide_revoke(state_[which], name(which), token, "stuck", now);
    expect("revoke", decision, ends);
    if (!decision) return;
    grant->ended = true;
    store(which, *decision);
  }

  void report(int which, FencingToken token, DownstreamOutcome outcome) {
    ResourceHistory& history = history_[which];
    const auto decision =
        rules::decide_report(state_[which], {name(which), token, outcome, "ann"}, policy, now);
    expect("report", decision, is_issued(which, token));
    if (!decision) return;
    ++counts["report " + std::string(to_string(decision->effect))];
    const GrantHistory* grant = history.latest();
    const bool late = !history.closed || grant->token != token || grant->spent || grant->ended ||
                      grant->probe || token.epoch() != now.epoch;
    if ((decision->effect == ReportEffect::late) != late) violation = "a wrong lateness";
    if (decision->effect == ReportEffect::tripped) open(which);
    store(which, decision->change);
  }

  void begin_recovery(int which) {
    const auto decision = rules::decide_begin_recovery(
        state_[which], {name(which), holder("prober"), first_instance, 15s}, policy, now);
    ++counts[decision ? "begin_recovery" : "begin_recovery refused"];
    if (!decision) return;
    if (history_[which].closed) violation = "a probe of a closed breaker";
    const std::uint64_t record = now.position + decision->change.entries.size() - 1;
    record_grant(
        which,
        {decision->grant.token, holder("prober"), first_instance, decision->grant.expires_at, true},
        record);
    store(which, decision->change);
  }

  void complete_recovery(int which, FencingToken token, bool recovered) {
    const GrantHistory* grant = history_[which].latest();
    const bool allowed =
        !history_[which].closed && lives(grant) && grant->probe && grant->token == token;
    const auto decision = rules::decide_complete_recovery(
        state_[which], {name(which), token, {recovered, "ping"}, "prober"}, policy, now);
    expect("complete_recovery", decision, allowed);
    if (!decision || !allowed) return;
    history_[which].latest()->ended = true;
    history_[which].closed = recovered;
    store(which, *decision);
  }

  void force_open(int which) {
    open(which);
    store(which, rules::decide_force_open(state_[which], name(which), "test", policy, now));
  }

  void clear_forced(int which) {
    const auto decision = rules::decide_clear_forced(state_[which], name(which), now);
    expect("clear_forced", decision, true);
    if (decision) store(which, *decision);
  }

  // The machine restarts: another epoch, the boot clock anew.
  void reboot() {
    ++now.epoch;
    now.now = boot(1s);
  }

  // A token that was granted for the resource, the latest one for `back` 0; else one that was not.
  [[nodiscard]] FencingToken granted(int which, std::size_t back) {
    const auto& grants = history_[which].grants;
    return back < grants.size() ? grants[grants.size() - 1 - back].token
                                : token(now.position + 1, now.epoch);
  }

 private:
  static ResourceName name(int which) { return resource("account-" + std::to_string(which)); }

  [[nodiscard]] bool lives(const GrantHistory* grant) const {
    return grant && !grant->ended && grant->token.epoch() == now.epoch &&
           now.now < grant->expires_at;
  }

  [[nodiscard]] bool is_issued(int which, FencingToken token) {
    return !history_[which].grants.empty() && token <= history_[which].latest()->token;
  }

  void open(int which) {
    history_[which].closed = false;
    if (auto* grant = history_[which].latest()) grant->ended = true;
  }

  template <class T>
  void expect(const std::string& operation, const Result<T>& decision, bool allowed) {
    ++counts[operation + (decision ? "" : " refused")];
    if (decision.has_value() != allowed) {
      violation =
          operation + (decision ? " was allowed" : " was refused, " + to_string(decision.error()));
    }
  }

  void record_grant(int which, GrantHistory grant, std::uint64_t record) {
    if (grant.token <= last_granted_) violation = "a token repeats, or is out of order";
    if (grant.token != token(record, now.epoch)) violation = "a token is not its record's position";
    last_granted_ = grant.token;
    ResourceHistory& history = history_[which];
    if (lives(history.latest())) violation = "two living leases of one resource";
    if (auto* before = history.latest()) before->ended = true;
    if (history.grants.size() > 64) history.grants.erase(history.grants.begin());
    history.grants.push_back(std::move(grant));
  }

  void store(int which, const rules::Change& change) {
    rules::ResourceState& state = state_[which];
    const rules::ResourceState& next = change.next;
    if (next.max_fence < state.max_fence) violation = "the fence fell";
    if (next.issued < state.issued) violation = "the latest token fell";
    if (next.max_fence > next.issued) violation = "the fence is above the latest token";
    if (!next.breaker || !is_legal(*next.breaker)) {
      violation = "an illegal breaker row";
    } else if ((next.breaker->state == BreakerState::closed) != history_[which].closed) {
      violation = "the breaker is not what its history says";
    }
    state = next;
    now.position += change.entries.size();
  }

  std::map<int, rules::ResourceState> state_ = {
      {0, rules::fresh_resource()}, {1, rules::fresh_resource()}, {2, rules::fresh_resource()}};
  std::map<int, ResourceHistory> history_ = {};
  FencingToken last_granted_ = {};
};

}  // namespace wallock::test
