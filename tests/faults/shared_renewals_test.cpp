// DerivedState: renewals that share a record, whose leases it does not name.
#include "catch.hpp"
#include "sqlite/derived_state.hpp"

namespace wallock::test {
namespace {

using sqlite::DerivedResource;
using sqlite::DerivedState;

Instant end(int seconds) { return Instant(std::chrono::seconds(seconds)); }

// A ledger of some resources, told record by record.
class Telling {
 public:
  Telling() { tell({.kind = RecordKind::genesis}); }

  Telling& grant(std::string_view resource, int until) {
    return tell({.kind = RecordKind::lease_granted,
                 .resource = ResourceName::parse(resource).value(),
                 .token = FencingToken::of(epoch_, position_).value(),
                 .until = end(until),
                 .actor = "ann"});
  }
  Telling& renew(int until, std::string detail = "count=2 sha256=" + std::string(64, 'a')) {
    return tell(
        {.kind = RecordKind::lease_renewed, .until = end(until), .detail = std::move(detail)});
  }
  Telling& raise() {
    return tell({.kind = RecordKind::epoch_raised, .token = FencingToken::of(++epoch_, 0).value()});
  }
  Telling& tell(LedgerEntry entry) {
    state_.feed(position_++, WallTime(), entry);
    return *this;
  }

  [[nodiscard]] std::string broken() const {
    std::string names;
    for (const auto& violation : state_.violations())
      names += (names.empty() ? "" : " ") + std::string(to_string(violation.invariant));
    return names;
  }
  [[nodiscard]] bool may_end(const std::string& resource, int seconds) const {
    return state_.may_end_at(state_.resources().at(resource), end(seconds));
  }

 private:
  DerivedState state_;
  std::uint64_t position_ = 0;
  std::uint64_t epoch_ = 1;
};

}  // namespace

TEST_CASE("a lease ends when its own record says, unless it may have been renewed since") {
  Telling told;
  told.grant("a", 10).grant("b", 10);
  CHECK(told.may_end("a", 10));
  CHECK_FALSE(told.may_end("a", 11));
  CHECK_FALSE(told.may_end("a", 9));
  told.renew(20);
  CHECK(told.may_end("a", 20));
  CHECK(told.may_end("b", 10));
  CHECK_FALSE(told.may_end("a", 21));
  told.renew(40).renew(30).renew(35);
  CHECK(told.may_end("a", 40));
  CHECK_FALSE(told.may_end("a", 41));
  told.grant("a", 50);
  CHECK(told.may_end("a", 50));
  CHECK_FALSE(told.may_end("a", 40));
  CHECK(told.may_end("b", 40));
  told.renew(45);
  CHECK(told.may_end("a", 45));
  CHECK(told.may_end("b", 45));
  CHECK_FALSE(told.may_end("b", 46));
  CHECK(told.broken().empty());
}

TEST_CASE("a renewal in another epoch moves no end") {
  Telling told;
  told.grant("a", 10).grant("b", 10).renew(20).raise().grant("b", 10).renew(90);
  CHECK(told.may_end("a", 20));
  CHECK_FALSE(told.may_end("a", 21));
  CHECK(told.may_end("b", 90));
  CHECK(told.broken().empty());
}

TEST_CASE("a lease that may have been renewed for a shorter time may have ended earlier") {
  CHECK(Telling().grant("a", 90).grant("b", 90).grant("a", 50).broken() == "lease_overlap");
  CHECK(Telling().grant("a", 90).grant("b", 90).renew(20).grant("a", 50).broken().empty());
}

TEST_CASE("a record of several renewals names no lease, and as many leases as there can be") {
  const std::string hash(64, 'a');
  const auto of = [](const std::string& detail) {
    return Telling().grant("a", 10).grant("b", 10).renew(20, detail).broken();
  };
  CHECK(of("count=2 sha256=" + hash).empty());
  CHECK(of("count=3 sha256=" + hash) == "lease_held");
  CHECK(of("count=1 sha256=" + hash) == "record_shape");
  CHECK(of("count= sha256=" + hash) == "record_shape");
  CHECK(of("count=-2 sha256=" + hash) == "record_shape");
  CHECK(of("count=2 sha256=" + hash + "a") == "record_shape");
  CHECK(of("count=2 sha256=" + hash.substr(1)) == "record_shape");
  CHECK(of("count=2 sha1=" + hash) == "record_shape");
  CHECK(of("2 leases") == "record_shape");
  CHECK(of("") == "record_shape");
  const LedgerEntry shared{
      .kind = RecordKind::lease_renewed, .until = end(20), .detail = "count=2 sha256=" + hash};
  LedgerEntry with_token = shared;
  with_token.token = FencingToken::of(1, 1).value();
  LedgerEntry with_actor = shared;
  with_actor.actor = "ann";
  LedgerEntry without_end = shared;
  without_end.until.reset();
  for (const LedgerEntry& entry : {with_token, with_actor, without_end}) {
    CHECK(Telling().grant("a", 10).grant("b", 10).tell(entry).broken() == "record_shape");
  }
}

}  // namespace wallock::test
