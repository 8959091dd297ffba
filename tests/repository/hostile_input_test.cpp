// Hostile texts in every place where the library takes one: bound and given back, or refused, and
// never interpreted.
#include <map>

#include "repository_support.hpp"
#include "sqlite/invariants.hpp"
#include "wallock/lease_guard.hpp"

namespace wallock::test {
namespace {

// Texts that some layer might take for more than data.
std::vector<std::string> hostile_texts() {
  return {
      "'); DELETE FROM wallock_lease_queue_events; --",
      "x' UNION SELECT payload FROM wallock_payloads --",
      "?1 :resource @a $b [c] `d` \"e\"",
      "%s%n%08x {} {0} ${HOME} $(id) `id`",
      "../../etc/passwd",
      "file:///etc/passwd?mode=ro",
      "/dev/null",
      "C:\\windows\\system32",
      "{\"action_id\":\"forged\",\"token\":\"9223372036854775807\"}",
      "<script>alert(1)</script>",
      "\xe2\x80\xae"
      "drowssap",           // right-to-left override
      "admin\xe2\x80\x8b",  // a zero-width space
      "\xef\xbb\xbf"
      "bom",  // a byte order mark
      "\xf0\x9f\x94\x92\xf0\x9f\x94\x93",
      "wallock_resources",
      "sqlite_schema",
      std::string(255, '\''),
  };
}

// What no name may be.
std::vector<std::string> no_names() {
  return {"",
          std::string("a\0b", 3),
          "line\nbreak",
          "tab\t",
          "\x1b[2J",
          "\x7f",
          "\xff\xfe",
          "\xc0\xaf",
          "\xed\xa0\x80",
          std::string(256, 'n'),
          std::string(1024 * 1024, 'n')};
}

std::string schema_of(RawDatabase& raw) {
  return raw.text("SELECT group_concat(name || ' ' || coalesce(sql, ''), ';') FROM sqlite_schema");
}

}  // namespace

TEST_CASE("hostile texts come back byte for byte from every place that takes one") {
  TempStore at;
  auto store = at.open(quick_to_trip(at.options()));
  auto raw = at.raw();
  const std::string schema = schema_of(raw);
  for (const std::string& text : hostile_texts()) {
    CAPTURE(text);
    auto options = by(text);
    options.metadata = text;
    options.action_id = Given<ActionId>("acquire " + text.substr(0, 200));
    const auto lease = store.acquire(text, options).value();
    CHECK(lease.resource().str() == text);
    CHECK(lease.holder().str() == text);
    const auto listed = store.leases().value();
    REQUIRE(listed.size() == 1);
    CHECK(listed[0].metadata == text);
    REQUIRE(answer(store.commit(lease, sent(text, text, text))) == "ok");
    const auto claimed = store.claim({.destination = text}).value();
    REQUIRE(claimed.size() == 1);
    CHECK(claimed[0].payload() == text);
    CHECK(claimed[0].action_id().str() == text);
    CHECK(claimed[0].destination().str() == text);
    CHECK(answer(store.settle(claimed[0], DeliveryOutcome::delivered())) == "ok");
    CHECK(answer(store.revoke(text, lease.token(), text)) == "ok");
    CHECK(store.audit({.from = store.root().value().size - 1}).value()[0].entry().detail == text);
    CHECK(answer(store.force_open(text, text)) == "ok");
    CHECK(answer(store.clear_forced(text)) == "ok");
    at.clock->advance(10s);
    const auto probe = store.begin_recovery(text).value();
    CHECK(answer(store.complete_recovery(probe, {.recovered = true, .evidence = text})) == "ok");
  }
  CHECK(schema_of(raw) == schema);
  CHECK(raw.integer("SELECT count(*) FROM wallock_resources") ==
        static_cast<std::int64_t>(hostile_texts().size()));
  CHECK(raw.text("PRAGMA integrity_check") == "ok");
  CHECK(sqlite::check_invariants(at.path()).value().empty());
}

TEST_CASE("what is no name is refused in every call, unrepeated and unrecorded") {
  TempStore at;
  auto store = at.open();
  const auto lease = store.acquire("r", by("ann")).value();
  const auto size = store.root().value().size;
  for (const std::string& bad : no_names()) {
    CAPTURE(bad.substr(0, 20), bad.size());
    auto as_bad = by("ann");
    as_bad.action_id = Given<ActionId>(bad);
    const std::map<std::string, Error> refusals = {
        {"acquire", store.acquire(bad).error()},
        {"try_acquire", store.try_acquire(bad).error()},
        {"acquire_all", store.acquire_all({"fine", bad}).error()},
        {"holder", store.acquire("s", by(bad)).error()},
        {"request", store.acquire("s", as_bad).error()},
        {"guard", store.guard(bad).error()},
        {"action", store.commit(lease, recorded(bad)).error()},
        {"destination", store.commit(lease, sent("a", "p", bad)).error()},
        {"execute", store.execute(bad, recorded("a")).error()},
        {"breaker", store.breaker(bad).error()},
        {"begin_recovery", store.begin_recovery(bad).error()},
        {"force_open", store.force_open(bad, "why").error()},
        {"clear_forced", store.clear_forced(bad).error()},
        {"claim", store.claim({.destination = bad}).error()},
        {"revoke", store.revoke(bad, lease.token(), "why").error()},
    };
    for (const auto& [call, error] : refusals) {
      CAPTURE(call);
      CHECK(to_string(error.code()) == "invalid_name");
      CHECK(to_string(error).size() < 300);
      CHECK((bad.empty() || to_string(error).find(bad) == std::string::npos));
    }
  }
  CHECK(store.root().value().size == size);
  CHECK(store.leases().value().size() == 1);
}

TEST_CASE("names that look alike are different names, and each has its own fence") {
  // Latin and Cyrillic a; e with acute as one character and as two; ASCII and full-width; case.
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"account",
       "\xd0\xb0"
       "ccount"},
      {"caf\xc3\xa9", "cafe\xcc\x81"},
      {"A1",
       "\xef\xbc\xa1"
       "1"},
      {"stra\xc3\x9f"
       "e",
       "strasse"},
      {"Name", "name"},
      {"x", "x\xe2\x80\x8b"},
  };
  TempStore at;
  auto store = at.open();
  for (const auto& [one, other] : pairs) {
    CAPTURE(one, other);
    const auto first = store.acquire(one, by("ann")).value();
    const auto second = store.acquire(other, by("bob")).value();  // not held
    CHECK(answer(store.commit(first, recorded(one))) == "ok");
    CHECK(answer(store.commit(second, recorded(other))) == "ok");  // not the same action either
    CHECK(effect(store.release(first)) == "released");
    CHECK(effect(store.release(second)) == "released");
  }
}

TEST_CASE("metadata, reasons and evidence of any size are bounded and leave nothing when refused") {
  TempStore at;
  auto store = at.open(quick_to_trip(at.options()));
  const std::string huge(1024 * 1024, 'x');
  auto options = by("ann");
  options.metadata = huge;
  const auto size = store.root().value().size;
  CHECK(answer(store.acquire("r", options)) == "too_large");
  CHECK(answer(store.force_open("r", huge)) == "too_large");
  CHECK(store.root().value().size == size);
  options.metadata = std::string("\0\x01\xff any bytes", 13);
  const auto lease = store.acquire("r", options).value();
  CHECK(store.leases().value()[0].metadata == options.metadata);
  CHECK(answer(store.revoke("r", lease.token(), huge)) == "too_large");
  REQUIRE(answer(store.report(lease, DownstreamOutcome::timeout)) == "ok");
  at.clock->advance(10s);
  const auto probe = store.begin_recovery("r").value();
  CHECK(answer(store.complete_recovery(probe, {.recovered = true, .evidence = huge})) ==
        "invalid_evidence");
  CHECK(answer(store.complete_recovery(probe, {.recovered = true, .evidence = "seen"})) == "ok");
  CHECK(sqlite::check_invariants(at.path()).value().empty());
}

}  // namespace wallock::test
