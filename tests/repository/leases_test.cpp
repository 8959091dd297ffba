// Leases on the file: who is granted one, how it ends, and what becomes of latecomers.
#include "repository_support.hpp"

namespace wallock::test {

TEST_CASE("the store answers acquire by the state of the resource") {
  TempStore at;
  auto store = at.open();
  const auto ann = store.acquire("r", by("ann")).value();
  CHECK(ann.expires_at() == at.clock->now() + 30s);

  SECTION("held by another") {
    const auto refused = store.acquire("r", by("bob"));
    CHECK(answer(refused) == "lease_held");
    CHECK(refused.error().facts().holder == "ann");
    CHECK(refused.error().facts().retry_at == ann.expires_at());
  }
  SECTION("held by me") { CHECK(answer(store.acquire("r", by("ann"))) == "already_held"); }
  SECTION("held under my name by another opening (L2)") {
    auto other = at.open();
    CHECK(answer(other.acquire("r", by("ann"))) == "lease_held");
  }
  SECTION("expired, taken over at once (L17)") {
    at.clock->advance(30s);
    const auto bob = store.acquire("r", by("bob"));
    REQUIRE(answer(bob) == "ok");
    CHECK(bob->token() > ann.token());
  }
  SECTION("a nanosecond before its end") {
    at.clock->advance(30s - 1ns);
    CHECK(answer(store.acquire("r", by("bob"))) == "lease_held");
  }
  SECTION("released") {
    CHECK(effect(store.release(ann)) == "released");
    CHECK(answer(store.acquire("r", by("bob"))) == "ok");
  }
}

TEST_CASE("the store answers renew by the state of the lease") {
  TempStore at;
  auto store = at.open();
  const auto ann = store.acquire("r", by("ann")).value();
  at.clock->advance(10s);

  SECTION("held") {
    const auto renewed = store.renew(ann, 60s).value();
    CHECK(renewed.token() == ann.token());
    CHECK(renewed.expires_at() == at.clock->now() + 60s);
    at.clock->advance(59s);
    CHECK(answer(store.acquire("r", by("bob"))) == "lease_held");
  }
  SECTION("expired, although nobody came (L8)") {
    at.clock->advance(20s);
    CHECK(answer(store.renew(ann, 60s)) == "lease_expired");
    CHECK(answer(store.acquire("r", by("bob"))) == "ok");
  }
  SECTION("superseded") {
    at.clock->advance(20s);
    REQUIRE(answer(store.acquire("r", by("bob"))) == "ok");
    CHECK(answer(store.renew(ann, 60s)) == "lease_lost");
  }
  SECTION("released") {
    REQUIRE(effect(store.release(ann)) == "released");
    CHECK(answer(store.renew(ann, 60s)) == "lease_lost");
  }
}

TEST_CASE("a release may be repeated and never is an error (L25, L26)") {
  TempStore at;
  auto store = at.open();
  News news(store);
  const auto ann = store.acquire("r", by("ann")).value();
  CHECK(news() == "lease_granted");
  SECTION("released twice") {
    CHECK(effect(store.release(ann)) == "released");
    CHECK(news() == "lease_released");
    CHECK(effect(store.release(ann)) == "already_ended");
  }
  SECTION("after its end") {
    at.clock->advance(31s);
    CHECK(effect(store.release(ann)) == "expired");
    CHECK(news() == "lease_released");
    CHECK(effect(store.release(ann)) == "already_ended");
  }
  SECTION("after somebody else came") {
    at.clock->advance(31s);
    const auto bob = store.acquire("r", by("bob")).value();
    CHECK(news() == "lease_granted");
    CHECK(effect(store.release(ann)) == "already_ended");
    CHECK(news() == "-");
    CHECK(answer(store.renew(bob, 30s)) == "ok");
    CHECK(news() == "lease_renewed");
  }
  SECTION("after the store was locked") {
    auto raw = at.raw();
    raw.must("BEGIN IMMEDIATE");
    CHECK(answer(store.release(ann)) == "busy");
    raw.must("ROLLBACK");
    CHECK(effect(store.release(ann)) == "released");
    CHECK(news() == "lease_released");
  }
  CHECK(news() == "-");
}

TEST_CASE("a revocation ends and fences the lease that it names, and no other (L7, L43)") {
  TempStore at;
  auto store = at.open();
  const auto ann = store.acquire("r", by("ann")).value();

  SECTION("the one expected") {
    CHECK(answer(store.revoke("r", ann.token(), "hangs")) == "ok");
    CHECK(answer(store.commit(ann, recorded("a"))) == "stale_token");
    CHECK(answer(store.renew(ann, 30s)) == "lease_lost");
    CHECK(answer(store.revoke("r", ann.token(), "hangs")) == "lease_lost");
    const auto record = store.audit().value().back();
    CHECK(record.entry().kind == RecordKind::lease_revoked);
    CHECK(record.entry().actor == "ann");
    CHECK(record.entry().detail == "hangs");
    CHECK(answer(store.acquire("r", by("bob"))) == "ok");
  }
  SECTION("listed, then kept by a commit under the next token") {
    const auto kept = store.commit(ann, recorded("a"), {}, {.after = AfterCommit::keep}).value();
    CHECK(answer(store.revoke("r", ann.token(), "old")) == "lease_lost");
    CHECK(answer(store.commit(*kept.lease(), recorded("b"))) == "ok");
  }
  SECTION("listed, then superseded") {
    at.clock->advance(31s);
    const auto bob = store.acquire("r", by("bob")).value();
    CHECK(answer(store.revoke("r", ann.token(), "old")) == "lease_lost");
    CHECK(answer(store.commit(bob, recorded("b"))) == "ok");
  }
  SECTION("of a resource that was never heard of") {
    CHECK(answer(store.revoke("other", ann.token(), "old")) == "lease_lost");
  }
}

TEST_CASE("a superseded holder is stale, however long it slept (L1)") {
  TempStore at;
  auto store = at.open();
  const auto ann = store.acquire("r", by("ann", 1s)).value();
  at.clock->advance(1s);
  SECTION("nobody came: its commit is accepted") {
    CHECK(answer(store.commit(ann, recorded("a"))) == "ok");
  }
  SECTION("somebody came, and is at work") {
    const auto bob = store.acquire("r", by("bob")).value();
    const auto stale = store.commit(ann, recorded("a"));
    CHECK(answer(stale) == "stale_token");
    CHECK(stale.error().facts().token == ann.token());
    CHECK(stale.error().facts().fence == bob.token().predecessor());
    CHECK(answer(store.commit(bob, recorded("b"))) == "ok");
  }
  SECTION("somebody came and went") {
    const auto bob = store.acquire("r", by("bob")).value();
    REQUIRE(effect(store.release(bob)) == "released");
    CHECK(answer(store.commit(ann, recorded("a"))) == "stale_token");
  }
}

TEST_CASE("a token that the resource never issued is told apart from a stale one") {
  TempStore at;
  auto store = at.open();
  const auto lease = store.acquire("r", by("ann")).value();
  const auto elsewhere = store.acquire("s", by("ann")).value();
  const auto forged = Lease::create({.resource = lease.resource(),
                                     .token = elsewhere.token(),
                                     .holder = lease.holder(),
                                     .instance = lease.instance(),
                                     .requested_at = lease.requested_at(),
                                     .granted_at = lease.granted_at(),
                                     .expires_at = lease.expires_at()})
                          .value();
  News news(store);
  CHECK(answer(store.commit(forged, recorded("a"))) == "unknown_token");
  CHECK(answer(store.renew(forged, 30s)) == "unknown_token");
  CHECK(answer(store.release(forged)) == "unknown_token");
  CHECK(answer(store.report(forged, DownstreamOutcome::timeout)) == "unknown_token");
  CHECK(news() == "-");
}

TEST_CASE("an acquire with an action id can be repeated as long as its lease lives (L44)") {
  TempStore at;
  auto store = at.open();
  News news(store);
  auto asked = by("ann");
  asked.action_id = Given<ActionId>("request-1");
  const auto first = store.acquire("r", asked).value();
  CHECK(news() == "lease_granted");
  CHECK(store.audit().value().back().entry().action_id->str() == "request-1");

  SECTION("the same lease again") {
    at.clock->advance(5s);
    const auto again = store.acquire("r", asked).value();
    CHECK(again.token() == first.token());
    CHECK(again.expires_at() == first.expires_at());
  }
  SECTION("for another resource") { CHECK(answer(store.acquire("s", asked)) == "action_conflict"); }
  SECTION("by another holder") {
    auto other = asked;
    other.holder = Given<HolderId>("bob");
    CHECK(answer(store.acquire("r", other)) == "action_conflict");
  }
  SECTION("by another opening under the same name (L2)") {
    auto restarted = at.open();
    CHECK(answer(restarted.acquire("r", asked)) == "request_spent");
  }
  SECTION("after the lease ended") {
    REQUIRE(effect(store.release(first)) == "released");
    CHECK(news() == "lease_released");
    CHECK(answer(store.acquire("r", asked)) == "request_spent");
  }
  SECTION("after its time") {
    at.clock->advance(30s);
    CHECK(answer(store.acquire("r", asked)) == "request_spent");
  }
  SECTION("as the id of an action") {
    CHECK(answer(store.commit(first, recorded("request-1"))) == "action_conflict");
  }
  CHECK(news() == "-");
}

TEST_CASE("the living leases are listed with their metadata, by name") {
  TempStore at;
  auto store = at.open();
  auto noted = by("ann");
  noted.metadata = std::string("host 7\0tail", 11);
  const auto second = store.acquire("b", noted).value();
  const auto first = store.acquire("a", by("bob", 10s)).value();
  REQUIRE(answer(store.acquire("c", by("cid"))) == "ok");

  auto listed = store.leases().value();
  REQUIRE(listed.size() == 3);
  CHECK(listed[0].lease.resource().str() == "a");
  CHECK(listed[1].lease.token() == second.token());
  CHECK(listed[1].lease.holder().str() == "ann");
  CHECK(listed[1].metadata == noted.metadata);
  CHECK(listed[2].metadata.empty());
  CHECK(store.leases(2).value().size() == 2);

  CHECK(answer(store.renew(second, 60s)) == "ok");
  at.clock->advance(10s);  // "a" ends
  listed = store.leases().value();
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].metadata == noted.metadata);
  CHECK(effect(store.release(first)) == "expired");
  CHECK(answer(store.acquire("a", by("dan"))) == "ok");
  CHECK(store.leases().value().front().metadata.empty());
  CHECK(answer(store.leases(0)) == "invalid_option");
}

}  // namespace wallock::test
