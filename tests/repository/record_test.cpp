// Each state change has its ledger record in the same transaction; what changes nothing has none.
#include "repository_support.hpp"

namespace wallock::test {
namespace {

// What is stored besides the ledger, as far as an operation could change it.
std::string rows_of(RawDatabase& raw) {
  std::string found;
  for (const char* rows :
       {"resource || '/' || max_fence || '/' || issued || '/' || ifnull(holder, '-') || '/' || "
        "ifnull(expires_at, '-') AS r FROM wallock_resources",
        "resource || '/' || state || '/' || forced || '/' || timeouts || '/' || "
        "ifnull(probe_token, '-') AS r FROM wallock_breakers",
        "position || '/' || state || '/' || attempt || '/' || due AS r FROM wallock_deliveries",
        "position AS r FROM wallock_payloads", "position AS r FROM wallock_dead_letters"})
    found += raw.text(std::string("SELECT group_concat(r) FROM (SELECT ") + rows + ")") + "|";
  return found;
}

// Holds what changed in the tables against what the ledger tells.
class Watch {
 public:
  Watch(Coordinator& store, RawDatabase& raw) : raw_(raw), news_(store), before_(rows_of(raw)) {}

  template <class T>
  void check(const Result<T>& result, const std::string& what, const std::string& kinds) {
    CHECK(answer(result) == what);
    CHECK(news_() == kinds);
    const auto after = rows_of(raw_);
    CAPTURE(kinds);
    CHECK((std::exchange(before_, after) != after) == (kinds != "-" && kinds != "outcome_late"));
  }

 private:
  RawDatabase& raw_;
  News news_;
  std::string before_;
};

}  // namespace

TEST_CASE("INV-08 every change leaves its record, and what changes nothing leaves none") {
  TempStore at;
  auto store = at.open(quick_to_trip(at.options()));
  auto raw = at.raw();
  Watch watch(store, raw);
  const auto lease = store.acquire("r", by("ann"));
  watch.check(lease, "ok", "lease_granted");
  watch.check(store.acquire("r", by("bob")), "lease_held", "-");
  at.clock->advance(1s);
  watch.check(store.renew(*lease, 30s), "ok", "lease_renewed");
  watch.check(store.report(*lease, DownstreamOutcome::success), "ok", "-");
  watch.check(store.commit(*lease, sent("a")), "ok", "action_recorded");
  watch.check(store.commit(*lease, sent("a")), "ok", "-");
  watch.check(store.commit(*lease, sent("b")), "stale_token", "-");
  watch.check(store.release(*lease), "ok", "lease_released");
  watch.check(store.release(*lease), "ok", "-");
  watch.check(store.report(*lease, DownstreamOutcome::timeout), "ok", "outcome_late");
  const auto claimed = store.claim({.destination = "bank"});
  watch.check(claimed, "ok", "delivery_claimed");
  watch.check(store.claim({.destination = "bank"}), "ok", "-");
  watch.check(store.settle(claimed->at(0), DeliveryOutcome::retry(1s)), "ok", "delivery_retried");
  watch.check(store.settle(claimed->at(0), DeliveryOutcome::delivered()), "claim_lost", "-");
  at.clock->advance(1s);
  const auto again = store.claim({.destination = "bank"});
  watch.check(again, "ok", "delivery_claimed");
  watch.check(store.settle(again->at(0), DeliveryOutcome::reject()), "ok", "delivery_dead");
  const auto tripping = store.acquire("r", by("ann"));
  watch.check(tripping, "ok", "lease_granted");
  watch.check(store.report(*tripping, DownstreamOutcome::timeout), "ok", "breaker_tripped");
  watch.check(store.acquire("r"), "breaker_open", "-");
  watch.check(store.begin_recovery("r"), "recovery_not_due", "-");
  at.clock->advance(10s);
  const auto probe = store.begin_recovery("r");
  watch.check(probe, "ok", "probe_granted");
  watch.check(store.complete_recovery(*probe, {true, "fine"}), "ok", "breaker_recovered");
  watch.check(store.force_open("r", "x"), "ok", "forced_open");
  watch.check(store.force_open("r", "x"), "ok", "-");
  watch.check(store.clear_forced("r"), "ok", "forced_cleared");
  watch.check(store.clear_forced("r"), "ok", "-");
  const auto last = store.acquire("s", by("ann"));
  watch.check(last, "ok", "lease_granted");
  watch.check(store.revoke("s", last->token(), "x"), "ok", "lease_revoked");
  watch.check(store.revoke("s", last->token(), "x"), "lease_lost", "-");
  CHECK(verdict(store) == "UNANCHORED");
}

}  // namespace wallock::test
