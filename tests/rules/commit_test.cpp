#include "rules_support.hpp"
#include "wallock/rules/lease_rules.hpp"

using namespace wallock;
using namespace wallock::test;
using rules::CommitCommand;
using rules::decide_commit;
using rules::ResourceState;

namespace {

CommitCommand command(AfterCommit after = AfterCommit::nothing) {
  return CommitCommand{.resource = resource(),
                       .token = token(500),
                       .holder = holder(),
                       .instance = first_instance,
                       .after = after,
                       .ttl = 40s,
                       .actions = 3};
}

constexpr AfterCommit every_after[] = {AfterCommit::nothing, AfterCommit::keep,
                                       AfterCommit::release};

TEST_CASE("INV-01 a lease of another holder, instance or store does not commit under its number") {
  auto foreign = command();
  foreign.holder = holder("mallory");
  CHECK(refusal(decide_commit(held(), foreign, at())) == Errc::unknown_token);
  foreign = command();
  foreign.instance = InstanceId{0xbad};
  CHECK(refusal(decide_commit(held(), foreign, at())) == Errc::unknown_token);
  CHECK(decide_commit(held(), command(), at()));  // the twin
}

}  // namespace

TEST_CASE("a commit spends its token and leaves the lease as it was") {
  const auto decision = decide_commit(held(), command(), at());
  REQUIRE(decision);
  ResourceState expected = held();
  expected.max_fence = token(500);
  CHECK(decision->change.next == expected);
  CHECK(decision->change.entries.empty());
  CHECK_FALSE(decision->next_token);
}

TEST_CASE("a commit with release ends the lease in the same change") {
  const auto decision = decide_commit(held(), command(AfterCommit::release), at());
  REQUIRE(decision);
  ResourceState expected = held();
  expected.max_fence = token(500);
  expected.tenure.reset();
  CHECK(decision->change.next == expected);
  CHECK_FALSE(decision->next_token);
  REQUIRE(decision->change.entries.size() == 1);
  CHECK(decision->change.entries[0] == LedgerEntry{.kind = RecordKind::lease_released,
                                                   .resource = resource(),
                                                   .token = token(500),
                                                   .actor = "ann"});
}

TEST_CASE("a commit with keep grants the next token, at the record behind its actions") {
  ResourceState before = held();
  before.tenure->request = action();
  const auto decision = decide_commit(before, command(AfterCommit::keep), at());
  REQUIRE(decision);
  CHECK(decision->next_token == token(1003));
  CHECK(decision->expires_at == boot(140s));
  CHECK(decision->change.next.issued == token(1003));
  CHECK(decision->change.next.max_fence == token(1002));
  CHECK(decision->change.next.tenure == rules::Tenure{.holder = holder(),
                                                      .instance = first_instance,
                                                      .granted_at = boot(100s),
                                                      .expires_at = boot(140s)});
  REQUIRE(decision->change.entries.size() == 1);
  CHECK(decision->change.entries[0] == LedgerEntry{.kind = RecordKind::lease_granted,
                                                   .resource = resource(),
                                                   .token = token(1003),
                                                   .until = boot(140s),
                                                   .actor = "ann"});
}

TEST_CASE("a commit with keep is refused where the number line ends") {
  const auto last = FencingToken::max_position;
  CHECK(decide_commit(held(), command(AfterCommit::keep), at(100s, last - 3)));
  CHECK(refusal(decide_commit(held(), command(AfterCommit::keep), at(100s, last - 2))) ==
        Errc::invalid_token);
  CHECK(decide_commit(held(), command(AfterCommit::release), at(100s, last + 1)));
}

TEST_CASE("INV-01 a commit at or below the fence is refused") {
  ResourceState state = held();
  state.max_fence = token(300);
  for (const AfterCommit after : every_after) {
    for (const std::uint64_t position :
         {std::uint64_t{1}, std::uint64_t{299}, std::uint64_t{300}}) {
      CommitCommand stale = command(after);
      stale.token = token(position);
      const auto refused = decide_commit(state, stale, at());
      REQUIRE_FALSE(refused);
      CHECK(refused.error() == Error(Errc::stale_token, ErrorFacts{.resource = "account-1",
                                                                   .token = token(position),
                                                                   .fence = token(300)}));
    }
    CommitCommand fresh = command(after);
    fresh.token = token(301);
    CHECK(decide_commit(state, fresh, at()));
  }
}

TEST_CASE("INV-01 a second commit with the same token is refused") {
  for (const AfterCommit after : every_after) {
    const auto first = decide_commit(held(), command(after), at());
    REQUIRE(first);
    CHECK(refusal(decide_commit(first->change.next, command(), at(101s, 2000))) ==
          Errc::stale_token);
  }
}

TEST_CASE("INV-01 case L16: a token of an earlier epoch is stale even if the row says otherwise") {
  const auto refused = decide_commit(held(), command(), at(100s, 1000, epoch + 1));
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        Error(Errc::stale_token, ErrorFacts{.resource = "account-1",
                                            .token = token(500),
                                            .fence = token(FencingToken::max_position)}));
}

TEST_CASE("INV-01 no token is spent in an epoch that fell or is beyond the number line") {
  for (const std::uint64_t wrong : {epoch - 1, FencingToken::max_epoch + 1})
    CHECK(refusal(decide_commit(held(), command(), at(100s, 1000, wrong))) == Errc::stale_token);
}

TEST_CASE("case L1: a paused holder commits only as long as nobody superseded it") {
  // Past the end of the lease, but nobody took it: the fence decides, not the clock.
  for (const AfterCommit after : every_after)
    CHECK(decide_commit(held(), command(after), at(1h)));
  const auto taken = rules::decide_acquire(
      held(),
      {.resource = resource(), .holder = holder("ben"), .instance = second_instance, .ttl = 1s},
      std::nullopt, at(1h));
  REQUIRE(taken);
  CHECK(refusal(decide_commit(taken->change.next, command(), at(1h, 1001))) == Errc::stale_token);
  // The one who took it expired as well: the first holder stays fenced.
  CHECK(refusal(decide_commit(taken->change.next, command(), at(2h, 1001))) == Errc::stale_token);
}

TEST_CASE("a commit under a token that was never issued is refused before anything else") {
  CommitCommand forged = command();
  forged.token = token(501);
  for (const auto& row : illegal_rows()) {
    const auto refused = decide_commit(with_breaker(held(), row), forged, at());
    REQUIRE_FALSE(refused);
    CHECK(refused.error() ==
          Error(Errc::unknown_token,
                ErrorFacts{.resource = "account-1", .token = token(501), .fence = token(500)}));
  }
  forged.token = token(1, epoch + 1);
  CHECK(refusal(decide_commit(held(), forged, at())) == Errc::unknown_token);
  forged.token = {};
  CHECK(refusal(decide_commit(held(), forged, at())) == Errc::invalid_token);
}

TEST_CASE("INV-05 no commit passes while the breaker is not closed") {
  for (const BreakerRow& row : {open_row(), forced_row(), probing_row()}) {
    for (const AfterCommit after : every_after) {
      for (const auto now : {at(), at(1'000'000s), at(1s, 1000, epoch + 1)}) {
        // Even if the row had failed to fence the lease.
        CHECK(refusal(decide_commit(with_breaker(held(), row), command(after), now)) ==
              Errc::breaker_open);
      }
    }
  }
  for (const auto& row : illegal_rows()) {
    CHECK(refusal(decide_commit(with_breaker(held(), row), command(), at())) ==
          Errc::breaker_illegal);
  }
}

TEST_CASE("a commit tells that the breaker is open before it tells that the token is stale") {
  CommitCommand stale = command();
  stale.token = token(100);
  CHECK(refusal(decide_commit(with_breaker(held(), open_row()), stale, at())) ==
        Errc::breaker_open);
}

TEST_CASE("a repeated commit with keep finds the lease it kept, while it lives and is its own") {
  const auto kept = decide_commit(held(), command(AfterCommit::keep), at());
  REQUIRE(kept);
  const ResourceState& state = kept->change.next;
  const auto find = [&](std::uint64_t last_action, const HolderId& by, InstanceId instance,
                        const rules::Moment& now) {
    return rules::kept_tenure(state, last_action, by, instance, now);
  };
  CHECK(find(1002, holder(), first_instance, at(110s)) == &*state.tenure);
  CHECK(find(1001, holder(), first_instance, at(110s)) == nullptr);
  CHECK(find(1003, holder(), first_instance, at(110s)) == nullptr);
  CHECK(find(1002, holder("ben"), first_instance, at(110s)) == nullptr);
  CHECK(find(1002, holder(), second_instance, at(110s)) == nullptr);
  CHECK(find(1002, holder(), first_instance, at(140s)) == nullptr);
  CHECK(find(1002, holder(), first_instance, at(1s, 2000, epoch + 1)) == nullptr);
  // The next commit has spent its token.
  ResourceState spent = state;
  spent.max_fence = spent.issued;
  CHECK(rules::kept_tenure(spent, 1002, holder(), first_instance, at(110s)) == nullptr);
}
