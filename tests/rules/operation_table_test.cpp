// The table of states and operations in wallock/coordinator.hpp, cell by cell.
#include <array>
#include <string>

#include "rules_support.hpp"
#include "wallock/rules/lease_rules.hpp"

using namespace wallock;
using namespace wallock::test;
using rules::Moment;
using rules::ResourceState;

namespace {

const HolderId me = holder("me");
const HolderId another = holder("another");

struct Scene {
  std::string name;
  ResourceState state;
  FencingToken mine;  // the token of the lease that I was granted once
  Moment now;
};

rules::Grant grant(const ResourceState& state, const HolderId& to, const Moment& now) {
  return rules::decide_acquire(
             state, {.resource = resource(), .holder = to, .instance = first_instance, .ttl = 30s},
             std::nullopt, now)
      .value();
}

// The states of the table, each reached by the rules alone.
std::vector<Scene> scenes() {
  const rules::Grant mine = grant(rules::fresh_resource(), me, at(100s, 1000));
  const ResourceState held = mine.change.next;
  const auto released =
      rules::decide_release(held, {resource(), mine.token, first_instance}, at(101s)).value();
  const rules::Grant taken = grant(held, another, at(130s, 2000));
  const auto opened = rules::decide_force_open(held, resource(), "test", policy, at(101s));
  const auto open = rules::decide_clear_forced(opened.next, resource(), at(101s)).value();
  const auto probing =
      rules::decide_begin_recovery(open.next, {resource(), another, first_instance, 100s}, policy,
                                   at(111s, 1500))
          .value();
  return {{"free", released.change.next, mine.token, at(102s, 3000)},
          {"held by me", held, mine.token, at(102s, 3000)},
          {"held by another", taken.change.next, mine.token, at(131s, 3000)},
          {"expired", held, mine.token, at(130s, 3000)},
          {"breaker forced open", opened.next, mine.token, at(112s, 3000)},
          {"breaker open", open.next, mine.token, at(112s, 3000)},
          {"breaker probing", probing.change.next, mine.token, at(112s, 3000)}};
}

template <class T>
std::string told(const Result<T>& result, std::string otherwise) {
  return result ? otherwise : std::string(to_string(result.error().code()));
}

std::string acquire(const Scene& scene) {
  return told(rules::decide_acquire(
                  scene.state,
                  {.resource = resource(), .holder = me, .instance = first_instance, .ttl = 30s},
                  std::nullopt, scene.now),
              "grants");
}

std::string renew(const Scene& scene) {
  return told(
      rules::decide_renew(scene.state, {resource(), scene.mine, first_instance, 30s}, scene.now),
      "extends");
}

std::string commit(const Scene& scene) {
  return told(
      rules::decide_commit(
          scene.state,
          {.resource = resource(), .token = scene.mine, .holder = me, .instance = first_instance},
          scene.now),
      "allows");
}

std::string release(const Scene& scene) {
  const auto decision =
      rules::decide_release(scene.state, {resource(), scene.mine, first_instance}, scene.now);
  return told(decision, decision ? std::string(to_string(decision->effect)) : "");
}

// What execute does: an acquire and a commit in one transaction.
std::string execute(const Scene& scene) {
  const auto granted = rules::decide_acquire(
      scene.state, {.resource = resource(), .holder = me, .instance = first_instance, .ttl = 30s},
      std::nullopt, scene.now);
  if (!granted) return told(granted, "");
  Moment next = scene.now;
  ++next.position;
  return told(rules::decide_commit(granted->change.next,
                                   {.resource = resource(),
                                    .token = granted->token,
                                    .holder = me,
                                    .instance = first_instance,
                                    .after = AfterCommit::release},
                                   next),
              "runs");
}

std::string report(const Scene& scene) {
  const auto decision = rules::decide_report(
      scene.state, {resource(), scene.mine, DownstreamOutcome::timeout, "me"}, policy, scene.now);
  return told(decision, decision ? std::string(to_string(decision->effect)) : "");
}

struct Operation {
  std::string name;
  std::string (*run)(const Scene&);
  std::array<std::string, 5> answers;
};

const Operation operations[] = {
    {"acquire", acquire, {"grants", "already_held", "lease_held", "grants", "breaker_open"}},
    {"renew", renew, {"lease_lost", "extends", "lease_lost", "lease_expired", "lease_lost"}},
    {"commit", commit, {"stale_token", "allows", "stale_token", "allows", "breaker_open"}},
    {"release",
     release,
     {"already_ended", "released", "already_ended", "expired", "already_ended"}},
    {"execute", execute, {"runs", "already_held", "lease_held", "runs", "breaker_open"}},
    {"report", report, {"late", "counted", "late", "counted", "late"}},
};

}  // namespace

TEST_CASE("every operation answers in every state as the coordinator's table says") {
  const auto all = scenes();
  for (const Operation& operation : operations) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      CAPTURE(operation.name, all[i].name);
      CHECK(operation.run(all[i]) == operation.answers[std::min<std::size_t>(i, 4)]);
    }
  }
}

TEST_CASE("INV-05 no operation but release goes on under a missing or illegal breaker row") {
  const Scene held = scenes()[1];
  for (const auto& row : illegal_rows()) {
    const Scene scene{"illegal", with_breaker(held.state, row), held.mine, held.now};
    for (const Operation& operation : operations) {
      CAPTURE(operation.name);
      CHECK(operation.run(scene) == (operation.name == "release" ? "released" : "breaker_illegal"));
    }
  }
}
