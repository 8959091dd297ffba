// The heartbeat's rules as a table: what is done about a guarded lease, by what is known.
#include "coordinator/heartbeat_rules.hpp"
#include "coordinator_support.hpp"

using namespace wallock;
using namespace wallock::test;
using detail::Beat;
using detail::Pulse;
using detail::Refusal;

namespace {

constexpr Instant start{100s};

// Requested at 100 s for 30 s, margin 3 s: renewed from 110 s on, lost at 127 s.
Pulse pulse() { return {.lease = lease(start, 30s), .ttl = 30s, .margin = 3s}; }

Pulse refused(Errc code, Duration at = 10s, std::optional<std::uint64_t> fence = {}) {
  Pulse changed = pulse();
  changed.refusal = Refusal{.code = code, .at = start + at};
  if (fence) changed.refusal->fence = FencingToken::of(1, *fence);
  return changed;
}

Pulse with(bool heartbeat, bool asking, Duration max_hold = Duration::max()) {
  Pulse changed = pulse();
  changed.heartbeat = heartbeat;
  changed.asking = asking;
  changed.hold_until = saturating_add(start, max_hold);
  return changed;
}

Beat sleep(Duration until) { return {.kind = Beat::Kind::sleep, .until = start + until}; }
Beat renew(Duration until) { return {.kind = Beat::Kind::renew, .until = start + until}; }
Beat lost(LossReason reason) { return {.kind = Beat::Kind::lost, .reason = reason}; }

struct Row {
  std::string_view name;
  Pulse pulse;
  Duration now;
  Beat expected;
};

const std::vector<Row>& table() {
  using enum LossReason;
  static const std::vector<Row> rows{
      {"fresh", pulse(), 0s, sleep(10s)},
      {"just before a third", pulse(), 10s - 1ns, sleep(10s)},
      {"a third", pulse(), 10s, renew(10s + 250ms)},
      {"shortly before the end the attempt ends with it", pulse(), 27s - 1ms, renew(27s)},
      {"the end less the margin", pulse(), 27s, lost(expired)},
      {"long after the end", pulse(), 1000h, lost(expired)},

      {"asking", with(true, true), 10s, sleep(27s)},
      {"asking at the end", with(true, true), 27s, lost(store_unavailable)},
      {"no heartbeat", with(false, false), 10s, sleep(27s)},
      {"no heartbeat at the end", with(false, false), 27s, lost(expired)},

      {"failed a moment ago", refused(Errc::busy), 10s, sleep(10s + 250ms)},
      {"failed a pause ago", refused(Errc::io_error), 10s + 250ms, renew(10s + 500ms)},
      {"failed until the end", refused(Errc::disk_full, 26s + 900ms), 27s, lost(store_unavailable)},
      {"a pause beyond the end", refused(Errc::busy, 26s + 900ms), 26s + 950ms, sleep(27s)},
      {"unknown outcome", refused(Errc::outcome_unknown), 10s + 250ms, renew(10s + 500ms)},

      {"max_hold ahead", with(true, false, 60s), 10s, renew(10s + 250ms)},
      {"max_hold before the next renewal", with(true, false, 5s), 0s, sleep(5s)},
      {"max_hold reached", with(true, false, 5s), 5s, lost(max_hold)},
      {"max_hold after the end", with(true, false, 28s), 28s, lost(expired)},
      {"max_hold before the end, seen late", with(true, false, 26s), 28s, lost(max_hold)},

      {"expired in the store", refused(Errc::lease_expired), 10s, lost(expired)},
      {"revoked", refused(Errc::lease_lost, 10s, 500), 10s, lost(revoked)},
      {"superseded", refused(Errc::lease_lost, 10s, 501), 10s, lost(superseded)},
      {"superseded by the next row", refused(Errc::lease_lost, 30s, 500), 30s, lost(superseded)},
      {"no fence told", refused(Errc::lease_lost), 10s, lost(revoked)},
      {"commit refused", refused(Errc::stale_token, 10s, 700), 10s, lost(superseded)},
      {"breaker open", refused(Errc::breaker_open), 10s, lost(revoked)},
      {"breaker illegal", refused(Errc::breaker_illegal), 10s, lost(revoked)},
      {"forked", refused(Errc::forked_handle), 10s, lost(forked)},
      {"damaged", refused(Errc::ledger_damaged), 10s, lost(store_unavailable)},
      {"unknown token", refused(Errc::unknown_token), 10s, lost(store_unavailable)},
      {"a final answer outweighs the time", refused(Errc::lease_lost, 27s, 501), 40s,
       lost(superseded)},
  };
  return rows;
}

}  // namespace

TEST_CASE("the heartbeat's decision follows its table") {
  for (const Row& row : table()) {
    INFO(row.name);
    const Beat beat = detail::decide_beat(row.pulse, start + row.now);
    CHECK(beat.kind == row.expected.kind);
    CHECK(beat.until == row.expected.until);
    CHECK(beat.reason == row.expected.reason);
  }
}

TEST_CASE("a lease is lost no later than the end that the store has, however the holder reckons") {
  // Adopted after a renewal: granted long ago, with an end that is not granted_at plus the ttl.
  Pulse adopted = pulse();
  adopted.lease = Lease::create({.resource = adopted.lease.resource(),
                                 .token = adopted.lease.token(),
                                 .holder = adopted.lease.holder(),
                                 .requested_at = start,
                                 .granted_at = start + 5s,
                                 .expires_at = start + 20s})
                      .value();
  CHECK(detail::lost_at(adopted) == start + 12s);
  CHECK(detail::lost_at(adopted) <= adopted.lease.expires_at() - adopted.margin);
}

TEST_CASE("the default margin is a tenth of the ttl, a given one at most half of it") {
  CHECK(detail::margin_of({}, 30s) == 3s);
  CHECK(detail::margin_of({}, 1ms) == 100us);
  CHECK(detail::margin_of(0s, 30s) == 0s);
  CHECK(detail::margin_of(15s, 30s) == 15s);
  CHECK(detail::margin_of(15s, 10s) == 5s);
}

TEST_CASE("pauses and attempts of a heartbeat stay within their bounds for every ttl") {
  for (const Duration ttl : {min_ttl, Duration(10ms), Duration(1s), Duration(30s), max_ttl}) {
    CAPTURE(ttl.count());
    CHECK(detail::retry_pause(ttl) >= 1ms);
    CHECK(detail::retry_pause(ttl) <= 250ms);
    CHECK(detail::attempt_patience(ttl) >= 10ms);
    CHECK(detail::attempt_patience(ttl) <= 250ms);
  }
}

TEST_CASE("the clock is looked at again after an eighth of the time, within its bounds") {
  CHECK(detail::look_after(27s) == 1s);
  CHECK(detail::look_after(8s) == 1s);
  CHECK(detail::look_after(4s) == 500ms);
  CHECK(detail::look_after(100ms) == 100ms);
  CHECK(detail::look_after(-1s) == 100ms);
  CHECK(detail::look_after(Duration::max()) == Duration::max());
}

TEST_CASE("an answer is final unless its class is transient") {
  CHECK_FALSE(detail::is_final(Errc::busy));
  CHECK_FALSE(detail::is_final(Errc::outcome_unknown));
  CHECK_FALSE(detail::is_final(Errc::out_of_memory));
  CHECK(detail::is_final(Errc::lease_lost));
  CHECK(detail::is_final(Errc::forked_handle));
  CHECK(detail::is_final(Errc::store_corrupt));
}

TEST_CASE("every loss reason has a name of its own") {
  std::vector<std::string_view> names;
  for (int reason = 0; reason <= static_cast<int>(LossReason::max_hold); ++reason) {
    names.push_back(to_string(static_cast<LossReason>(reason)));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(std::count(names.begin(), names.end(), names[i]) == 1);
  }
}
