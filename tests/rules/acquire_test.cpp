#include "rules_support.hpp"
#include "wallock/rules/lease_rules.hpp"

using namespace wallock;
using namespace wallock::test;
using rules::AcquireCommand;
using rules::decide_acquire;
using rules::PriorRequest;
using rules::ResourceState;

namespace {

AcquireCommand command() {
  return AcquireCommand{
      .resource = resource(), .holder = holder(), .instance = first_instance, .ttl = 30s};
}

// Ann repeats the request that her lease in held() was granted for.
AcquireCommand repeated() {
  AcquireCommand repeat = command();
  repeat.request = action();
  return repeat;
}

ResourceState held_by_request() {
  ResourceState state = held();
  state.tenure->request = action();
  return state;
}

PriorRequest prior() {
  return PriorRequest{.resource = resource(), .token = token(500), .actor = "ann"};
}

}  // namespace

TEST_CASE("acquire grants a fresh resource under the token of its record") {
  AcquireCommand wanted = command();
  wanted.request = action("first");
  const auto grant = decide_acquire(rules::fresh_resource(), wanted, std::nullopt, at());
  REQUIRE(grant);
  CHECK(grant->token == token(1000));
  CHECK(grant->granted_at == boot(100s));
  CHECK(grant->expires_at == boot(130s));
  CHECK_FALSE(grant->adopted);
  CHECK(grant->change.next.issued == token(1000));
  CHECK(grant->change.next.max_fence == token(999));
  CHECK(grant->change.next.breaker == BreakerRow{});
  CHECK(grant->change.next.tenure == rules::Tenure{.holder = holder(),
                                                   .instance = first_instance,
                                                   .granted_at = boot(100s),
                                                   .expires_at = boot(130s),
                                                   .request = action("first")});
  REQUIRE(grant->change.entries.size() == 1);
  CHECK(grant->change.entries[0] == LedgerEntry{.kind = RecordKind::lease_granted,
                                                .resource = resource(),
                                                .action_id = action("first"),
                                                .token = token(1000),
                                                .until = boot(130s),
                                                .actor = "ann"});
}

TEST_CASE("acquire without a request id writes no action id") {
  const auto grant = decide_acquire(rules::fresh_resource(), command(), std::nullopt, at());
  REQUIRE(grant);
  CHECK_FALSE(grant->change.entries.at(0).action_id);
  CHECK_FALSE(grant->change.next.tenure->request);
}

TEST_CASE("acquire fences every token before the one it grants, and never lowers the fence") {
  ResourceState state = held();
  state.tenure.reset();
  for (const auto fence : {token(499), token(500), token(1, epoch - 1)}) {
    state.max_fence = fence;
    const auto grant = decide_acquire(state, command(), std::nullopt, at());
    REQUIRE(grant);
    CHECK(grant->change.next.max_fence == token(999));
  }
}

TEST_CASE("case L17: a lease ends at its very end, and the next is granted at once") {
  AcquireCommand other = command();
  other.holder = holder("ben");
  CHECK(refusal(decide_acquire(held(), other, std::nullopt, at(120s - 1ns))) == Errc::lease_held);
  const auto grant = decide_acquire(held(), other, std::nullopt, at(120s));
  REQUIRE(grant);
  CHECK(grant->change.next.max_fence >= token(500));
}

TEST_CASE("case L16: a lease of an earlier epoch is dead at once, whatever its end says") {
  const auto grant = decide_acquire(held(), command(), std::nullopt, at(1s, 1000, epoch + 1));
  REQUIRE(grant);
  CHECK(grant->token == token(1000, epoch + 1));
}

TEST_CASE("acquire names who holds the resource and until when") {
  struct Case {
    HolderId holder;
    InstanceId instance;
    Errc expected;
  };
  const Case cases[] = {
      {holder("ann"), first_instance, Errc::already_held},
      {holder("ann"), second_instance, Errc::lease_held},  // case L2: a restarted worker
      {holder("ben"), first_instance, Errc::lease_held},
      {holder("ben"), second_instance, Errc::lease_held},
  };
  for (const Case& c : cases) {
    AcquireCommand wanted = command();
    wanted.holder = c.holder;
    wanted.instance = c.instance;
    const auto refused = decide_acquire(held(), wanted, std::nullopt, at());
    REQUIRE_FALSE(refused);
    CHECK(refused.error() == Error(c.expected, ErrorFacts{.resource = "account-1",
                                                          .holder = "ann",
                                                          .instance = first_instance,
                                                          .retry_at = boot(120s)}));
  }
}

TEST_CASE("acquire leaves a free resource to those who were in line before") {
  AcquireCommand late = command();
  late.yields = true;
  const auto refused = decide_acquire(rules::fresh_resource(), late, std::nullopt, at());
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == Error(Errc::lease_held, ErrorFacts{.resource = "account-1"}));
  // What is more than being late is said first, and a repeated request has its lease already.
  late.holder = holder("ben");
  CHECK(decide_acquire(held(), late, std::nullopt, at()).error().facts().holder == "ann");
  AcquireCommand again = repeated();
  again.yields = true;
  CHECK(decide_acquire(held_by_request(), again, prior(), at()));
}

TEST_CASE("what a dead opening holds is over at once, and its token stays fenced") {
  AcquireCommand wanted = command();
  wanted.holder = holder("ben");
  wanted.instance = second_instance;
  CHECK(rules::occupant(held(), at()) == first_instance);
  CHECK(refusal(decide_acquire(held(), wanted, std::nullopt, at())) == Errc::lease_held);
  const ResourceState left = rules::without_dead_holder(held(), at());
  CHECK(rules::occupant(left, at()) == std::nullopt);
  const auto grant = decide_acquire(left, wanted, std::nullopt, at());
  REQUIRE(grant);
  CHECK(grant->change.next.max_fence >= held().issued);
  CHECK(grant->change.entries.back().detail == holder_gone);
  CHECK_FALSE(grant->change.next.tenure->cut_short);
  // What had ended before its opening died ended when it did.
  CHECK(rules::without_dead_holder(held(), at(500s)) == held());
  const auto late = decide_acquire(held(), wanted, std::nullopt, at(500s));
  REQUIRE(late);
  CHECK(late->change.entries.back().detail == "");
}

TEST_CASE("a dead opening's probe is over at once, and a resource that nobody has stays as it is") {
  const ResourceState probed = tripped_with(probing_row());
  CHECK(rules::occupant(probed, at(107s)) == first_instance);
  const ResourceState left = rules::without_dead_holder(probed, at(107s));
  ResourceState expected = probed;
  expected.breaker->probe->expires_at = boot(107s);
  CHECK(left == expected);
  // A probe that had ended before its opening died ended when it did.
  CHECK(rules::without_dead_holder(probed, at(500s)) == probed);

  for (const ResourceState& nobodys : {rules::fresh_resource(), tripped_with(open_row()),
                                       with_breaker(rules::fresh_resource(), std::nullopt)}) {
    CHECK(rules::occupant(nobodys, at(107s)) == std::nullopt);
    CHECK(rules::without_dead_holder(nobodys, at(107s)) == nobodys);
  }
}

// Found by fuzzing: the epoch's fence was left out where there is no such epoch.
TEST_CASE("an epoch that fell or is beyond the number line fences all that was issued") {
  CHECK(rules::fence(held(), at(100s, 1000, FencingToken::max_epoch)) ==
        token(FencingToken::max_position, FencingToken::max_epoch - 1));
  const auto wrong = GENERATE(as<std::uint64_t>(), FencingToken::max_epoch + 1,
                              std::numeric_limits<std::uint64_t>::max(), epoch - 1);
  CHECK(rules::fence(held(), at(100s, 1000, wrong)) == token(500));
}

TEST_CASE("acquiring several grants all under tokens in a row, or none") {
  const AcquireCommand first = command();
  AcquireCommand second = command();
  second.resource = resource("account-2");
  const std::vector<AcquireCommand> both{first, second};
  const std::vector<ResourceState> free{rules::fresh_resource(), rules::fresh_resource()};
  const auto grants = rules::decide_acquire_all(free, both, at());
  REQUIRE(grants);
  REQUIRE(grants->size() == 2);
  CHECK((*grants)[0].token == token(1000));
  CHECK((*grants)[1].token == token(1001));
  CHECK((*grants)[1].change.entries.at(0).resource == resource("account-2"));
  const std::vector<ResourceState> taken{rules::fresh_resource(), held()};
  const auto refused = rules::decide_acquire_all(taken, both, at());
  CHECK(refusal(refused) == Errc::already_held);
  CHECK(refused.error().facts().resource == "account-2");
}

TEST_CASE("acquire saturates the end of a lease for ever") {
  AcquireCommand wanted = command();
  wanted.ttl = Duration::max();
  const auto grant = decide_acquire(rules::fresh_resource(), wanted, std::nullopt, at());
  REQUIRE(grant);
  CHECK(grant->expires_at == Instant::max());
  CHECK(grant->change.next.tenure->expires_at == Instant::max());
}

TEST_CASE("acquire refuses to go beyond the number line or back on it") {
  const auto fresh = rules::fresh_resource();
  const auto last = FencingToken::max_position;
  CHECK(decide_acquire(fresh, command(), std::nullopt, at(100s, last)));
  CHECK(refusal(decide_acquire(fresh, command(), std::nullopt, at(100s, last + 1))) ==
        Errc::invalid_token);
  CHECK(refusal(decide_acquire(fresh, command(), std::nullopt,
                               at(100s, 1, FencingToken::max_epoch + 1))) == Errc::invalid_token);
  // A ledger or an epoch that went back would issue a number twice.
  ResourceState state = held();
  state.tenure.reset();
  CHECK(refusal(decide_acquire(state, command(), std::nullopt, at(100s, 500))) ==
        Errc::invariant_violated);
  CHECK(refusal(decide_acquire(state, command(), std::nullopt, at(100s, 1000, epoch - 1))) ==
        Errc::invariant_violated);
  CHECK(refusal(decide_acquire(fresh, command(), std::nullopt, at(100s, 0, 0))) ==
        Errc::invariant_violated);
  CHECK(decide_acquire(state, command(), std::nullopt, at(100s, 501)));
}

TEST_CASE("case L44: a repeated acquire answers with the lease it was granted before") {
  const auto grant = decide_acquire(held_by_request(), repeated(), prior(), at());
  REQUIRE(grant);
  CHECK(grant->adopted);
  CHECK(grant->token == token(500));
  CHECK(grant->granted_at == boot(90s));
  CHECK(grant->expires_at == boot(120s));
  CHECK(grant->change.next == held_by_request());
  CHECK(grant->change.entries.empty());
}

TEST_CASE("a repeated acquire with other content is a conflict") {
  const auto refused_for = [](auto change) {
    PriorRequest other = prior();
    change(other);
    return refusal(decide_acquire(held_by_request(), repeated(), other, at()));
  };
  CHECK(refused_for([](PriorRequest& p) { p.kind = RecordKind::action_recorded; }) ==
        Errc::action_conflict);
  CHECK(refused_for([](PriorRequest& p) { p.resource = resource("account-2"); }) ==
        Errc::action_conflict);
  CHECK(refused_for([](PriorRequest& p) { p.resource.reset(); }) == Errc::action_conflict);
  CHECK(refused_for([](PriorRequest& p) { p.actor = "ben"; }) == Errc::action_conflict);
  const auto refused = decide_acquire(
      rules::fresh_resource(), repeated(),
      PriorRequest{.resource = resource("account-2"), .token = token(1), .actor = "ann"}, at());
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        Error(Errc::action_conflict, ErrorFacts{.field = "action_id",
                                                .action = repeated().request->str(),
                                                .resource = "account-1"}));
}

TEST_CASE("a repeated acquire whose lease has ended since is spent") {
  const auto refused = [](const ResourceState& state, const AcquireCommand& wanted,
                          const rules::Moment& now) {
    return refusal(decide_acquire(state, wanted, prior(), now));
  };
  CHECK(refused(held_by_request(), repeated(), at(120s)) == Errc::request_spent);
  CHECK(refused(held_by_request(), repeated(), at(1s, 1000, epoch + 1)) == Errc::request_spent);
  CHECK(refused(rules::fresh_resource(), repeated(), at()) == Errc::request_spent);

  ResourceState superseded = held_by_request();
  superseded.issued = token(700);
  CHECK(refused(superseded, repeated(), at()) == Errc::request_spent);

  // The lease is the holder's next one by now (AfterCommit::keep), or another request's.
  CHECK(refused(held(), repeated(), at()) == Errc::request_spent);
  ResourceState by_other_request = held();
  by_other_request.tenure->request = action("other");
  CHECK(refused(by_other_request, repeated(), at()) == Errc::request_spent);
}

TEST_CASE("case L2: a request repeated by another instance never adopts the lease") {
  AcquireCommand restarted = repeated();
  restarted.instance = second_instance;
  CHECK(refusal(decide_acquire(held_by_request(), restarted, prior(), at())) ==
        Errc::request_spent);
}

TEST_CASE("INV-05 acquire is refused unless the breaker is closed") {
  struct Case {
    BreakerRow row;
    ErrorFacts facts;
  };
  const Case cases[] = {
      {open_row(), {.resource = "account-1", .retry_at = boot(105s)}},
      {forced_row(), {.field = "forced", .resource = "account-1"}},
      {probing_row(), {.resource = "account-1", .holder = "ann", .retry_at = boot(116s)}},
  };
  for (const Case& c : cases) {
    // Neither time nor a request of one's own opens the door.
    for (const auto now : {at(107s), at(1'000'000s), at(1s, 1000, epoch + 1)}) {
      CHECK(refusal(decide_acquire(tripped_with(c.row), command(), std::nullopt, now)) ==
            Errc::breaker_open);
      CHECK(refusal(decide_acquire(with_breaker(held_by_request(), c.row), repeated(), prior(),
                                   now)) == Errc::breaker_open);
    }
    const auto refused = decide_acquire(tripped_with(c.row), command(), std::nullopt, at(107s));
    REQUIRE_FALSE(refused);
    CHECK(refused.error() == Error(Errc::breaker_open, c.facts));
  }
}

TEST_CASE("INV-05 acquire is refused if the breaker row is missing or illegal") {
  for (const auto& row : illegal_rows()) {
    const auto state = with_breaker(rules::fresh_resource(), row);
    const auto refused = decide_acquire(state, command(), std::nullopt, at());
    REQUIRE_FALSE(refused);
    CHECK(refused.error() == Error(Errc::breaker_illegal, ErrorFacts{.resource = "account-1"}));
  }
}
