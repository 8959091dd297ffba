// Lease: an immutable proof with three instants.
#include "wallock/lease.hpp"

#include <array>
#include <chrono>

#include "catch.hpp"
#include "unit/values_support.hpp"

using namespace wallock;
using namespace std::chrono_literals;
using wallock::test::code_of;

namespace {

LeaseFields fields(Duration requested = 10s, Duration granted = 11s, Duration expires = 41s) {
  return {.resource = test::resource("account/17"),
          .token = test::token(9),
          .holder = test::holder("worker-1"),
          .instance = InstanceId{77},
          .requested_at = Instant(requested),
          .granted_at = Instant(granted),
          .expires_at = Instant(expires)};
}

}  // namespace

TEST_CASE("a lease counts its ttl from the grant and its safe time from the request") {
  const Lease lease = Lease::create(fields()).value();
  CHECK(lease.ttl() == 30s);
  CHECK(lease.safe_until() == Instant(40s));
  CHECK(to_string(lease) == "account/17 0.9 worker-1");
}

TEST_CASE("a lease is asked for, granted and ended in that order") {
  struct Case {
    Duration requested, granted, expires;
    bool ok;
  };
  const std::array cases{Case{1s, 1s, 2s, true}, Case{1s, 2s, 2s, false}, Case{2s, 1s, 3s, false},
                         Case{1s, 3s, 2s, false}, Case{-2s, -1s, 0s, true}};
  for (const Case& c : cases) {
    CAPTURE(c.requested.count(), c.granted.count(), c.expires.count());
    const auto lease = Lease::create(fields(c.requested, c.granted, c.expires));
    CHECK(code_of(lease) == (c.ok ? test::no_error : Errc::invalid_duration));
  }
}

// Case L41: "for ever" must not become a time in the past.
TEST_CASE("a lease of the longest duration ends at the end of time, not before its start") {
  const Lease lease = Lease::create(fields(-1s, 0s, Duration::max())).value();
  CHECK(lease.ttl() == Duration::max());
  CHECK(lease.safe_until() > lease.granted_at());
  const Lease widest =
      Lease::create(fields(Duration::min(), Duration::min(), Duration::max())).value();
  CHECK(widest.ttl() == Duration::max());
}

TEST_CASE("a lease has a token above the one below all tokens") {
  LeaseFields none = fields();
  none.token = FencingToken();
  CHECK(code_of(Lease::create(none)) == Errc::invalid_token);
}

TEST_CASE("leases are equal if and only if every member is") {
  const auto changed = [](auto change) {
    LeaseFields f = fields();
    change(f);
    return Lease::create(f).value();
  };
  const Lease same = changed([](LeaseFields&) {});
  CHECK(same == Lease::create(fields()).value());
  CHECK(same != changed([](LeaseFields& f) { f.resource = test::resource("x"); }));
  CHECK(same != changed([](LeaseFields& f) { f.token = test::token(10); }));
  CHECK(same != changed([](LeaseFields& f) { f.holder = test::holder("x"); }));
  CHECK(same != changed([](LeaseFields& f) { f.instance = InstanceId{78}; }));
  CHECK(same != changed([](LeaseFields& f) { f.requested_at -= 1ns; }));
  CHECK(same != changed([](LeaseFields& f) { f.granted_at += 1ns; }));
  CHECK(same != changed([](LeaseFields& f) { f.expires_at += 1ns; }));
}

TEST_CASE("what a release found has a name") {
  CHECK(to_string(ReleaseEffect::released) == "released");
  CHECK(to_string(ReleaseEffect::expired) == "expired");
  CHECK(to_string(ReleaseEffect::already_ended) == "already_ended");
}
