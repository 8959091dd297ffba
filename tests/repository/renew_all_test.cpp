// Leases renewed together: one transaction, one record, and each still stands alone.
#include <algorithm>

#include "ledger/sha256.hpp"
#include "repository_support.hpp"
#include "sqlite/invariants.hpp"
#include "sqlite/open_repository.hpp"
#include "wallock/ledger/bytes.hpp"

namespace wallock::test {
namespace {

// A store that is spoken to without a coordinator, and one more opening of it with one.
class Renewals {
 public:
  Renewals()
      : store_(at_.open()),
        repository_(
            sqlite::open_repository(at_.path(), at_.options(), InstanceId{7}, at_.clock).value()) {}

  [[nodiscard]] Coordinator& store() { return store_; }
  [[nodiscard]] LeaseRepository& repository() { return *repository_.repository; }
  [[nodiscard]] ManualClock& clock() { return *at_.clock; }
  [[nodiscard]] RawDatabase raw() const { return at_.raw(); }
  [[nodiscard]] std::string path() const { return at_.path(); }

  Lease acquire(std::string_view resource, Duration ttl = 30s) {
    return repository()
        .acquire({.resource = ResourceName::parse(resource).value(),
                  .holder = HolderId::parse("ann").value(),
                  .instance = InstanceId{7},
                  .ttl = ttl},
                 {}, deadline())
        .value();
  }
  [[nodiscard]] Result<std::vector<Result<Lease>>> renew(const std::vector<Lease>& leases,
                                                         Duration ttl = 60s) {
    std::vector<RenewRequest> requests;
    for (const Lease& lease : leases)
      requests.push_back({.lease = lease, .ttl = ttl});
    return repository().renew_all(requests, deadline());
  }
  // The answers as words.
  [[nodiscard]] std::string words(const Result<std::vector<Result<Lease>>>& answers) {
    if (!answers) return answer(answers);
    std::string all;
    for (const auto& one : *answers)
      all += (all.empty() ? "" : " ") + answer(one);
    return all;
  }
  [[nodiscard]] Instant deadline() const { return at_.clock->now() + 1s; }
  [[nodiscard]] Instant end_of(const std::string& resource) {
    return Instant(Duration(raw().integer(
        "SELECT expires_at FROM wallock_resources WHERE resource = '" + resource + "'")));
  }
  [[nodiscard]] LedgerEntry last_record() { return store().audit().value().back().entry(); }
  [[nodiscard]] std::size_t violations() const {
    return sqlite::check_invariants(path()).value().size();
  }

 private:
  TempStore at_;
  Coordinator store_;
  sqlite::OpenedRepository repository_;
};

}  // namespace

TEST_CASE("leases are renewed together in one transaction, with one record") {
  Renewals at;
  const std::vector<Lease> leases{at.acquire("c"), at.acquire("a"), at.acquire("b")};
  at.clock().advance(10s);
  News news(at.store());
  const auto before = at.repository().health().value().transactions;
  const auto answers = at.renew(leases);
  REQUIRE(at.words(answers) == "ok ok ok");
  CHECK(at.repository().health().value().transactions == before + 1);
  CHECK(news() == "lease_renewed");
  const Instant end = at.clock().now() + 60s;
  for (std::size_t n = 0; n < leases.size(); ++n) {
    const Lease& renewed = *(*answers)[n];
    CHECK(renewed.resource() == leases[n].resource());
    CHECK(renewed.token() == leases[n].token());
    CHECK(renewed.holder() == leases[n].holder());
    CHECK(renewed.instance() == leases[n].instance());
    CHECK(renewed.requested_at() == at.clock().now());
    CHECK(renewed.granted_at() == at.clock().now());
    CHECK(renewed.expires_at() == end);
    CHECK(at.end_of(renewed.resource().str()) == end);
  }
  CHECK(verdict(at.store()) == "UNANCHORED");
  CHECK(at.violations() == 0);
}

TEST_CASE("the record of several renewals holds the hash of who was renewed until when") {
  Renewals at;
  const std::vector<Lease> leases{at.acquire("b"), at.acquire("a c")};
  REQUIRE(at.words(at.renew(leases)) == "ok ok");
  std::string list;
  const auto end = std::to_string((at.clock().now() + 60s).time_since_epoch().count());
  for (const Lease& lease : leases) {  // granted in the order of their tokens
    list += std::to_string(lease.token().value()) + " " + end + " " + lease.resource().str() + "\n";
  }
  auto hasher = ledger::Sha256::create().value();
  const Digest digest = hasher.digest(ledger::as_bytes(list));
  CHECK(at.last_record() == LedgerEntry{.kind = RecordKind::lease_renewed,
                                        .until = at.clock().now() + 60s,
                                        .detail = "count=2 sha256=" + to_string(digest)});
}

TEST_CASE("one lease renewed alone has the record that it always had") {
  Renewals at;
  const Lease ann = at.acquire("r");
  const LedgerEntry expected{.kind = RecordKind::lease_renewed,
                             .resource = ann.resource(),
                             .token = ann.token(),
                             .until = at.clock().now() + 60s,
                             .actor = "ann"};
  SECTION("asked for alone") {
    REQUIRE(at.words(at.renew({ann})) == "ok");
    CHECK(at.last_record() == expected);
  }
  SECTION("among others that are refused") {
    const Lease lost = at.acquire("s");
    REQUIRE(at.store().revoke("s", lost.token(), "test"));
    REQUIRE(at.words(at.renew({lost, ann})) == "lease_lost ok");
    CHECK(at.last_record() == expected);
  }
}

TEST_CASE("a lease that is refused harms none of those renewed with it") {
  Renewals at;
  const Lease one = at.acquire("one");
  const Lease revoked = at.acquire("revoked");
  const Lease expired = at.acquire("expired", 5s);
  const Lease open = at.acquire("open");
  const Lease two = at.acquire("two");
  REQUIRE(at.store().revoke("revoked", revoked.token(), "test"));
  REQUIRE(at.store().force_open("open", "test"));
  at.clock().advance(5s);
  News news(at.store());
  CHECK(at.words(at.renew({one, revoked, expired, open, two})) ==
        "ok lease_lost lease_expired lease_lost ok");
  CHECK(news() == "lease_renewed");
  CHECK(at.end_of("one") == at.clock().now() + 60s);
  CHECK(at.end_of("two") == at.clock().now() + 60s);
  CHECK(at.end_of("expired") == at.clock().now());
  CHECK(at.last_record().detail.starts_with("count=2 "));
  CHECK(at.violations() == 0);
}

TEST_CASE("renewals that are all refused, and none at all, leave no record") {
  Renewals at;
  const Lease lost = at.acquire("s");
  REQUIRE(at.store().revoke("s", lost.token(), "test"));
  News news(at.store());
  CHECK(at.words(at.renew({lost, lost})) == "lease_lost lease_lost");
  CHECK(at.words(at.renew({})).empty());
  CHECK(news() == "-");
}

TEST_CASE("a store that is locked renews nothing, and says so once for all") {
  Renewals at;
  const std::vector<Lease> leases{at.acquire("a"), at.acquire("b")};
  auto raw = at.raw();
  raw.must("BEGIN IMMEDIATE");
  CHECK(at.words(at.renew(leases)) == "busy");
  raw.must("ROLLBACK");
  CHECK(at.words(at.renew(leases)) == "ok ok");
}

TEST_CASE("a row that cannot be read costs its own lease, not those renewed with it") {
  Renewals at;
  const std::vector<Lease> leases{at.acquire("a"), at.acquire("b"), at.acquire("c")};
  at.raw().must("UPDATE wallock_resources SET holder = char(7) WHERE resource = 'b'");
  News news(at.store());
  CHECK(at.words(at.renew(leases)) == "ok store_corrupt ok");
  CHECK(news() == "lease_renewed lease_renewed");
  CHECK(at.end_of("c") == at.clock().now() + 60s);
}

TEST_CASE("two hundred and fifty-six leases share a record as two do, over pages of rows") {
  Renewals at;
  std::vector<Lease> leases;
  for (int i = 0; i < 256; ++i)
    leases.push_back(at.acquire("resource-" + std::to_string(i * 7919 % 1000)));
  News news(at.store());
  const auto answers = at.renew(leases);
  REQUIRE(answers);
  CHECK(std::ranges::all_of(*answers, [](const auto& one) { return one.has_value(); }));
  CHECK(news() == "lease_renewed");
  CHECK(at.last_record().detail.starts_with("count=256 "));
  // Granted again, released and lost, they are what the ledger tells: all but the ends.
  CHECK(effect(at.repository().release(leases[0], at.deadline())) == "released");
  at.clock().advance(2min);
  static_cast<void>(at.acquire(leases[1].resource().str()));
  CHECK(at.violations() == 0);
}

TEST_CASE("leases are renewed together whatever lies between them, in any order and number") {
  Renewals at;
  std::vector<Lease> leases;
  for (int i = 0; i < 600; ++i) {
    const int number = i * 7919 % 5000;
    leases.push_back(at.acquire("resource-" + std::to_string(number)));
    if (i % 3 == 0) static_cast<void>(at.acquire("resource-" + std::to_string(number) + "x"));
  }
  const bool sorted = GENERATE(false, true);
  if (sorted) std::ranges::sort(leases, {}, [](const Lease& one) { return one.resource().str(); });
  leases.push_back(leases.front());
  at.clock().advance(10s);
  const auto answers = at.renew(leases);
  REQUIRE(answers);
  CHECK(std::ranges::all_of(*answers, [](const auto& one) { return one.has_value(); }));
  const auto text = std::to_string((at.clock().now() + 60s).time_since_epoch().count());
  CHECK(at.raw().integer("SELECT count(*) FROM wallock_resources WHERE expires_at = " + text) ==
        600);
  CHECK(at.violations() == 0);
}

TEST_CASE("of leases renewed together each has the breaker that the file has, or none") {
  Renewals at;
  std::vector<Lease> leases;
  for (const char* const name : {"a", "b", "c", "d", "e"})
    leases.push_back(at.acquire(name));
  // Of "b" it is told and not there, of "c" it is there and not told, of "d" it is not legal.
  auto raw = at.raw();
  const std::string breaker =
      "INSERT INTO wallock_breakers (resource, state, forced, timeouts, generation, "
      "failed_probes, interval_ns, since_at, epoch) VALUES ";
  raw.must("UPDATE wallock_resources SET has_breaker = 1 WHERE resource IN ('b', 'd', 'e')");
  raw.must(breaker + "('c', 0, 0, 0, 0, 0, 0, 0, 0), ('e', 0, 0, 1, 0, 0, 0, 0, 0)");
  raw.must("PRAGMA ignore_check_constraints=1; " + breaker + "('d', 7, 0, 0, 0, 0, 0, 0, 0)");
  CHECK(at.words(at.renew(leases)) == "ok breaker_illegal breaker_illegal breaker_illegal ok");
}

TEST_CASE("a lease whose row is gone is not renewed by its neighbour's") {
  Renewals at;
  const std::vector<Lease> leases{at.acquire("a"), at.acquire("b"), at.acquire("c")};
  at.raw().must("DELETE FROM wallock_resources WHERE resource = 'b'");
  CHECK(at.words(at.renew(leases)) == "ok unknown_token ok");
}

TEST_CASE("what another process wrote between two renewals is seen by the second") {
  Renewals at;
  const std::vector<Lease> leases{at.acquire("a"), at.acquire("b"), at.acquire("c")};
  REQUIRE(at.words(at.renew(leases)) == "ok ok ok");
  REQUIRE(at.store().revoke("b", leases[1].token(), "test"));
  CHECK(at.words(at.renew(leases)) == "ok lease_lost ok");
}

}  // namespace wallock::test
