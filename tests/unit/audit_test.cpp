// AuditRecord, and the names of what the ledger tells.
#include "wallock/audit.hpp"

#include <chrono>
#include <set>
#include <type_traits>

#include "catch.hpp"
#include "unit/values_support.hpp"

using namespace wallock;

TEST_CASE("every kind of record has a name and a number of its own") {
  std::set<std::string_view> names;
  std::set<int> numbers;
  for (const RecordKind kind : all_record_kinds) {
    names.insert(to_string(kind));
    numbers.insert(static_cast<int>(kind));
  }
  CHECK(names.size() == all_record_kinds.size());
  CHECK(numbers.size() == all_record_kinds.size());
  CHECK(names.count("unknown") == 0);
  CHECK(to_string(static_cast<RecordKind>(255)) == "unknown");
}

TEST_CASE("the list of record kinds is complete") {
  std::size_t named = 0;
  for (int number = 0; number < 256; ++number)
    named += to_string(static_cast<RecordKind>(number)) != "unknown" ? 1 : 0;
  CHECK(named == all_record_kinds.size());
}

TEST_CASE("INV-02 an audit record gives out nothing through which it could be changed") {
  using Record = AuditRecord;
  STATIC_REQUIRE(
      std::is_const_v<std::remove_reference_t<decltype(std::declval<Record&>().entry())>>);
  STATIC_REQUIRE(
      std::is_const_v<std::remove_reference_t<decltype(std::declval<Record&>().leaf_hash())>>);
  STATIC_REQUIRE_FALSE(std::is_aggregate_v<Record>);
}

TEST_CASE("a record reads as position, kind, resource and token") {
  const WallTime at{std::chrono::microseconds(1)};
  const AuditRecord record(7, at,
                           {.kind = RecordKind::lease_granted,
                            .resource = test::resource("account/17"),
                            .token = test::token(7)},
                           Digest());
  CHECK(to_string(record) == "7 lease_granted account/17 0.7");
  CHECK(to_string(AuditRecord(0, at, {}, Digest())) == "0 genesis - 0.0");
  CHECK(record == AuditRecord(7, at, record.entry(), Digest()));
  CHECK(record != AuditRecord(8, at, record.entry(), Digest()));
}

TEST_CASE("a tree head reads as its size and root") {
  CHECK(to_string(TreeHead{.size = 3}) == "3 " + std::string(64, '0'));
  CHECK(TreeHead{.size = 3} != TreeHead{.size = 4});
}

TEST_CASE("what a verification found has a name of its own") {
  using V = VerifyVerdict;
  using D = DamageKind;
  std::set<std::string_view> verdicts;
  for (const V v : {V::unanchored, V::anchored, V::truncated, V::forked, V::damaged})
    verdicts.insert(to_string(v));
  CHECK(verdicts.size() == 5);
  CHECK(to_string(V::unanchored) != "OK");
  std::set<std::string_view> kinds;
  for (const D d : {D::none, D::gap, D::record, D::subtree, D::payload})
    kinds.insert(to_string(d));
  CHECK(kinds.size() == 5);
}
