#include "rules_support.hpp"
#include "wallock/rules/lease_rules.hpp"

using namespace wallock;
using namespace wallock::test;
using rules::decide_release;
using rules::decide_renew;
using rules::decide_revoke;
using rules::ReleaseCommand;
using rules::RenewCommand;
using rules::ResourceState;

namespace {

RenewCommand renewal() {
  return RenewCommand{
      .resource = resource(), .token = token(500), .instance = first_instance, .ttl = 50s};
}

ReleaseCommand release() {
  return ReleaseCommand{.resource = resource(), .token = token(500), .instance = first_instance};
}

ResourceState without_tenure(FencingToken fence) {
  ResourceState state = held();
  state.tenure.reset();
  state.max_fence = fence;
  return state;
}

ResourceState superseded() {
  ResourceState state = held();
  state.issued = token(700);
  state.max_fence = token(699);
  return state;
}

ResourceState ended() { return without_tenure(token(500)); }

}  // namespace

TEST_CASE("renew moves the end of a living lease and nothing else") {
  const auto renewed = decide_renew(held(), renewal(), at(110s));
  REQUIRE(renewed);
  CHECK(renewed->expires_at == boot(160s));
  ResourceState expected = held();
  expected.tenure->expires_at = boot(160s);
  CHECK(renewed->change.next == expected);
  REQUIRE(renewed->change.entries.size() == 1);
  CHECK(renewed->change.entries[0] == LedgerEntry{.kind = RecordKind::lease_renewed,
                                                  .resource = resource(),
                                                  .token = token(500),
                                                  .until = boot(160s),
                                                  .actor = "ann"});
}

TEST_CASE("renew saturates the end of a lease for ever") {
  RenewCommand for_ever = renewal();
  for_ever.ttl = Duration::max();
  const auto renewed = decide_renew(held(), for_ever, at());
  REQUIRE(renewed);
  CHECK(renewed->expires_at == Instant::max());
}

TEST_CASE("renew prolongs a lease whose token a commit has spent") {
  ResourceState spent = held();
  spent.max_fence = token(500);
  CHECK(decide_renew(spent, renewal(), at()));
}

TEST_CASE("case L8: renew never revives, even if nobody took the lease") {
  CHECK(decide_renew(held(), renewal(), at(120s - 1ns)));
  const auto refused = decide_renew(held(), renewal(), at(120s));
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        Error(Errc::lease_expired,
              ErrorFacts{.resource = "account-1", .token = token(500), .fence = token(499)}));
  CHECK(refusal(decide_renew(held(), renewal(), at(1s, 1000, epoch + 1))) == Errc::lease_expired);
}

TEST_CASE("renew of a lease that ended is refused as lost") {
  RenewCommand other_instance = renewal();
  other_instance.instance = second_instance;
  CHECK(refusal(decide_renew(held(), other_instance, at())) == Errc::lease_lost);
  CHECK(refusal(decide_renew(ended(), renewal(), at())) == Errc::lease_lost);
  CHECK(refusal(decide_renew(superseded(), renewal(), at())) == Errc::lease_lost);
  // A trip has ended the lease: lost says more than that the breaker is open.
  CHECK(refusal(decide_renew(tripped_with(open_row()), renewal(), at())) == Errc::lease_lost);
}

TEST_CASE("renew under a token that was never issued is refused") {
  RenewCommand forged = renewal();
  forged.token = token(501);
  CHECK(refusal(decide_renew(held(), forged, at())) == Errc::unknown_token);
  forged.token = {};
  CHECK(refusal(decide_renew(held(), forged, at())) == Errc::invalid_token);
}

TEST_CASE("INV-05 renew is refused unless the breaker is closed") {
  for (const BreakerRow& row : {open_row(), forced_row(), probing_row()}) {
    CHECK(refusal(decide_renew(with_breaker(held(), row), renewal(), at())) == Errc::breaker_open);
  }
  for (const auto& row : illegal_rows()) {
    CHECK(refusal(decide_renew(with_breaker(held(), row), renewal(), at())) ==
          Errc::breaker_illegal);
  }
}

TEST_CASE("release ends the lease and fences its token") {
  struct Case {
    rules::Moment now;
    ReleaseEffect effect;
  };
  const Case cases[] = {
      {at(120s - 1ns), ReleaseEffect::released},
      {at(120s), ReleaseEffect::expired},
      {at(1s, 1000, epoch + 1), ReleaseEffect::expired},
  };
  for (const Case& c : cases) {
    const auto decision = decide_release(held(), release(), c.now);
    REQUIRE(decision);
    CHECK(decision->effect == c.effect);
    CHECK(decision->change.next == ended());
    REQUIRE(decision->change.entries.size() == 1);
    CHECK(decision->change.entries[0] == LedgerEntry{.kind = RecordKind::lease_released,
                                                     .resource = resource(),
                                                     .token = token(500),
                                                     .actor = "ann"});
  }
}

TEST_CASE("cases L25 and L26: release of what one no longer has changes nothing and is no error") {
  ReleaseCommand other_instance = release();
  other_instance.instance = second_instance;
  struct Case {
    ResourceState state;
    ReleaseCommand command;
  };
  const Case cases[] = {{ended(), release()},
                        {superseded(), release()},
                        {tripped_with(open_row()), release()},
                        {held(), other_instance}};
  for (const Case& c : cases) {
    const auto decision = decide_release(c.state, c.command, at());
    REQUIRE(decision);
    CHECK(decision->effect == ReleaseEffect::already_ended);
    CHECK(decision->change.next == c.state);
    CHECK(decision->change.entries.empty());
  }
}

TEST_CASE("release works whatever the breaker row is, and leaves the row alone") {
  for (const auto& row : illegal_rows()) {
    const auto decision = decide_release(with_breaker(held(), row), release(), at());
    REQUIRE(decision);
    CHECK(decision->effect == ReleaseEffect::released);
    CHECK(decision->change.next == with_breaker(ended(), row));
  }
}

TEST_CASE("release under a token that was never issued is refused") {
  ReleaseCommand forged = release();
  forged.token = token(501);
  CHECK(refusal(decide_release(held(), forged, at())) == Errc::unknown_token);
  forged.token = {};
  CHECK(refusal(decide_release(held(), forged, at())) == Errc::invalid_token);
}

TEST_CASE("INV-01 nothing is committed under a token after its lease was released or revoked") {
  const auto released = decide_release(held(), release(), at());
  const auto revoked = decide_revoke(held(), resource(), token(500), "stuck", at());
  REQUIRE(released);
  REQUIRE(revoked);
  for (const ResourceState& state : {released->change.next, revoked->next}) {
    CHECK(refusal(rules::decide_commit(
              state, {.resource = resource(), .token = token(500), .holder = holder()}, at())) ==
          Errc::stale_token);
  }
}

TEST_CASE("case L43: revoke ends somebody's lease, fences its token and tells why") {
  for (const auto now : {at(), at(1h), at(1s, 1000, epoch + 1)}) {
    const auto change = decide_revoke(held(), resource(), token(500), "stuck", now);
    REQUIRE(change);
    CHECK(change->next == ended());
    REQUIRE(change->entries.size() == 1);
    CHECK(change->entries[0] == LedgerEntry{.kind = RecordKind::lease_revoked,
                                            .resource = resource(),
                                            .token = token(500),
                                            .actor = "ann",
                                            .detail = "stuck"});
  }
}

TEST_CASE("case L7: revoke spares a lease that is not the one expected") {
  const auto refused = decide_revoke(superseded(), resource(), token(500), "stuck", at());
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        Error(Errc::lease_lost,
              ErrorFacts{.resource = "account-1", .token = token(500), .fence = token(699)}));
  CHECK(refusal(decide_revoke(ended(), resource(), token(500), "stuck", at())) == Errc::lease_lost);
  CHECK(refusal(decide_revoke(held(), resource(), token(501), "stuck", at())) == Errc::lease_lost);
  CHECK(refusal(decide_revoke(rules::fresh_resource(), resource(), {}, "stuck", at())) ==
        Errc::lease_lost);
}
