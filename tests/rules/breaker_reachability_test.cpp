// Walks every state that the rules can reach, up to what makes no difference to them.
#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <set>
#include <string>

#include "rules_support.hpp"
#include "wallock/rules/lease_rules.hpp"

using namespace wallock;
using namespace wallock::test;
using rules::ResourceState;

namespace {

constexpr BreakerPolicy small{.trip_after = 2, .first_interval = 2s, .max_interval = 4s};

struct Node {
  ResourceState state;
  Duration now{};
  std::uint64_t epoch = 1;
  std::uint64_t position = 1;

  [[nodiscard]] rules::Moment at() const { return test::at(now, position, epoch); }
};

// One thing that may happen: the state after it, or nothing if it is refused.
struct Event {
  std::string name;
  bool closes;  // may lead from OPEN or PROBING to CLOSED
  std::function<std::optional<ResourceState>(const Node&)> run;
};

template <class T>
std::optional<ResourceState> next(const Result<T>& decision) {
  if (!decision) return std::nullopt;
  if constexpr (requires { decision->change; }) {
    return decision->change.next;
  } else {
    return decision->next;
  }
}

Event acquires(const std::string& who) {
  return {
      "acquire " + who, false, [who](const Node& n) {
        return next(rules::decide_acquire(
            n.state,
            {.resource = resource(), .holder = holder(who), .instance = first_instance, .ttl = 3s},
            std::nullopt, n.at()));
      }};
}

Event commits(AfterCommit after) {
  return {"commit", false, [after](const Node& n) {
            return next(rules::decide_commit(n.state,
                                             {.resource = resource(),
                                              .token = n.state.issued,
                                              .holder = holder(),
                                              .instance = first_instance,
                                              .after = after,
                                              .ttl = 3s},
                                             n.at()));
          }};
}

Event reports(DownstreamOutcome outcome, bool of_an_earlier_token) {
  return {"report", false, [outcome, of_an_earlier_token](const Node& n) {
            const FencingToken shown =
                of_an_earlier_token ? n.state.issued.predecessor() : n.state.issued;
            return next(
                rules::decide_report(n.state, {resource(), shown, outcome, "ann"}, small, n.at()));
          }};
}

Event completes(const std::string& name, bool closes, bool own_token, RecoveryVerdict verdict) {
  return {name, closes, [own_token, verdict](const Node& n) {
            const FencingToken shown = own_token ? n.state.issued : n.state.issued.predecessor();
            return next(rules::decide_complete_recovery(
                n.state, {resource(), shown, verdict, "ann"}, small, n.at()));
          }};
}

std::vector<Event> lease_events() {
  return {
      acquires("ann"),
      acquires("ben"),
      commits(AfterCommit::nothing),
      commits(AfterCommit::keep),
      commits(AfterCommit::release),
      {"renew", false,
       [](const Node& n) {
         return next(rules::decide_renew(n.state, {resource(), n.state.issued, first_instance, 3s},
                                         n.at()));
       }},
      {"release", false,
       [](const Node& n) {
         return next(
             rules::decide_release(n.state, {resource(), n.state.issued, first_instance}, n.at()));
       }},
      {"revoke", false, [](const Node& n) {
         return next(rules::decide_revoke(n.state, resource(), n.state.issued, "stuck", n.at()));
       }}};
}

std::vector<Event> breaker_events() {
  return {reports(DownstreamOutcome::success, false),
          reports(DownstreamOutcome::timeout, false),
          reports(DownstreamOutcome::success, true),
          reports(DownstreamOutcome::timeout, true),
          {"begin_recovery", false,
           [](const Node& n) {
             return next(rules::decide_begin_recovery(
                 n.state, {resource(), holder(), first_instance, 2s}, small, n.at()));
           }},
          completes("recovered with evidence", true, true, {true, "ping answered"}),
          completes("recovered without evidence", false, true, {true, ""}),
          completes("recovered by another", false, false, {true, "ping answered"}),
          completes("probe failed", false, true, {false, "no answer"}),
          {"force_open", false,
           [](const Node& n) {
             return std::optional(
                 rules::decide_force_open(n.state, resource(), "maintenance", small, n.at()).next);
           }},
          {"clear_forced", false, [](const Node& n) {
             return next(rules::decide_clear_forced(n.state, resource(), n.at()));
           }}};
}

std::vector<Event> all_events() {
  std::vector<Event> events = lease_events();
  for (Event& event : breaker_events())
    events.push_back(std::move(event));
  return events;
}

using Key = std::array<std::int64_t, 16>;

// What the rules can tell apart: counts and times are held where they make no difference any more.
Key key(const Node& n) {
  const auto seconds = [](Duration d) {
    return std::clamp<std::int64_t>(std::chrono::duration_cast<std::chrono::seconds>(d).count(), -6,
                                    6);
  };
  const auto until = [&](Instant t) { return seconds(saturating_sub(t, boot(n.now))); };
  const ResourceState& s = n.state;
  Key k{};
  k[0] = s.issued == s.max_fence ? 0 : s.issued.predecessor() == s.max_fence ? 1 : 2;
  k[1] = s.issued ? (s.issued.epoch() == n.epoch ? 1 : 2) : 0;
  k[2] = s.tenure ? until(s.tenure->expires_at) : 100;
  k[3] = s.tenure && s.tenure->holder == holder("ben") ? 1 : 0;
  if (!s.breaker) return k;
  const BreakerRow& row = *s.breaker;
  k[4] = 1 + static_cast<std::int64_t>(row.state);
  k[5] = row.forced ? 1 : 0;
  k[6] = std::min<std::int64_t>(row.timeouts, 3);
  k[7] = std::min<std::int64_t>(static_cast<std::int64_t>(row.generation), 2);
  k[8] = std::min<std::int64_t>(row.failed_probes, 3);
  k[9] = row.interval.count();
  k[10] = row.epoch == n.epoch ? 1 : 0;
  k[11] = row.epoch == n.epoch ? until(row.since) : seconds(n.now);
  k[12] = row.probe ? until(row.probe->expires_at) : 100;
  k[13] = row.probe && row.probe->token == s.issued ? 1 : 0;
  return k;
}

bool in_table(BreakerState from, BreakerState to) {
  if (from == to) return true;
  return std::any_of(breaker_transitions.begin(), breaker_transitions.end(),
                     [&](const BreakerTransition& t) { return t.from == from && t.to == to; });
}

// What is wrong about a step; empty if nothing is.
std::string wrong_row(const Node& before, const BreakerRow& to, bool closes) {
  if (!is_legal(to)) return "an illegal row";
  const ResourceState& state = before.state;
  if (!state.breaker) return to.forced ? "" : "a missing row was replaced without force";
  const BreakerRow& from = *state.breaker;
  const BreakerRow seen = rules::effective(from, small, before.at());
  if (!in_table(from.state, seen.state) || !in_table(seen.state, to.state)) {
    return "a transition outside the table";
  }
  if (seen.state == BreakerState::closed && from.state != BreakerState::closed) {
    return "closed by being looked at";
  }
  const bool closed = to.state == BreakerState::closed && from.state != BreakerState::closed;
  if (closed && !closes) return "closed without verified recovery";
  const bool trips = from.state == BreakerState::closed && to.state == BreakerState::open;
  if (to.generation != from.generation + (trips ? 1 : 0)) return "a wrong generation";
  if (!closed && to.failed_probes < from.failed_probes) return "failed probes forgotten";
  return "";
}

std::string wrong(const Node& before, const ResourceState& after, bool closes) {
  const ResourceState& state = before.state;
  if (after.max_fence < state.max_fence || after.issued < state.issued) return "a token fell";
  if (after.max_fence > after.issued) return "the fence is above the latest token";
  if (!after.breaker) return state.breaker ? "the row vanished" : "";
  if (after.breaker->state != BreakerState::closed && after.tenure) return "a lease under OPEN";
  return wrong_row(before, *after.breaker, closes);
}

struct Search {
  std::set<Key> seen;
  std::deque<Node> todo;
  std::set<std::string> fired;
  std::array<int, 4> found{};  // nodes CLOSED, OPEN, PROBING, forced

  void visit(Node node) {
    if (!seen.insert(key(node)).second) return;
    if (node.state.breaker) {
      const BreakerRow& row = *node.state.breaker;
      ++found[row.forced ? 3 : static_cast<std::size_t>(row.state)];
    }
    todo.push_back(std::move(node));
  }
};

// Follows each event from each state once; the first thing found wrong, or empty.
std::string explore(Search& search, const std::vector<Event>& events) {
  while (!search.todo.empty() && search.seen.size() < 200'000) {
    const Node node = std::move(search.todo.front());
    search.todo.pop_front();
    for (const Event& event : events) {
      auto after = event.run(node);
      if (!after) continue;
      search.fired.insert(event.name);
      if (const std::string what = wrong(node, *after, event.closes); !what.empty()) {
        return event.name + ": " + what;
      }
      search.visit(Node{*std::move(after), node.now, node.epoch, node.position + 3});
    }
    search.visit(Node{node.state, node.now + 1s, node.epoch, node.position});
    search.visit(Node{node.state, 0s, node.epoch + 1, node.position});
  }
  return "";
}

}  // namespace

// Exhaustive: there is one row, each reachable one is a legal tuple (case B17), and it has at most
// one probe, whatever was given back or lost on the way (case B7).
TEST_CASE("INV-05 no reachable state is illegal, and only verified recovery closes a breaker") {
  Search search;
  search.visit(Node{.state = rules::fresh_resource()});
  search.visit(Node{.state = with_breaker(rules::fresh_resource(), std::nullopt)});
  const auto events = all_events();
  CHECK(explore(search, events) == "");
  CHECK(search.todo.empty());
  CHECK(search.seen.size() > 1000);
  for (const int count : search.found)
    CHECK(count > 10);
  // Every event fires somewhere, save those that must never.
  std::set<std::string> never;
  for (const Event& event : events) {
    if (!search.fired.contains(event.name)) never.insert(event.name);
  }
  CHECK(never == std::set<std::string>{"recovered by another", "recovered without evidence"});
}
