// The bounds of every option: the first and last value accepted, and those just outside.
#include "wallock/options.hpp"

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/values_support.hpp"

using namespace wallock;
using namespace std::chrono_literals;
using wallock::test::code_of;
using wallock::test::field_of;
using wallock::test::no_error;

namespace {

struct Case {
  std::string field;
  Errc expected;
  std::function<void(Options&)> change;
};

// The value just inside is accepted, the one just outside refused.
std::vector<Case> duration_cases() {
  const Errc bad = Errc::invalid_duration;
  return {
      {"operation_timeout", no_error, [](Options& o) { o.operation_timeout = 1ms; }},
      {"operation_timeout", bad, [](Options& o) { o.operation_timeout = 1ms - 1ns; }},
      {"operation_timeout", bad, [](Options& o) { o.operation_timeout = -1s; }},
      {"operation_timeout", no_error, [](Options& o) { o.operation_timeout = 1h; }},
      {"operation_timeout", bad, [](Options& o) { o.operation_timeout = 1h + 1ns; }},
      {"breaker.first_interval", no_error, [](Options& o) { o.breaker.first_interval = 1ms; }},
      {"breaker.first_interval", bad, [](Options& o) { o.breaker.first_interval = 1ms - 1ns; }},
      {"breaker.first_interval", bad, [](Options& o) { o.breaker.first_interval = 24h + 1ns; }},
      {"breaker.max_interval", no_error, [](Options& o) { o.breaker.max_interval = 30s; }},
      {"breaker.max_interval", bad, [](Options& o) { o.breaker.max_interval = 30s - 1ns; }},
      {"breaker.max_interval", bad, [](Options& o) { o.breaker.max_interval = 24h + 1ns; }},
      {"delivery.max_age", no_error, [](Options& o) { o.delivery.max_age = 1s; }},
      {"delivery.max_age", bad, [](Options& o) { o.delivery.max_age = 1s - 1ns; }},
      {"delivery.max_age", no_error, [](Options& o) { o.delivery.max_age = 30 * 24h; }},
      {"delivery.max_age", bad, [](Options& o) { o.delivery.max_age = 30 * 24h + 1ns; }},
      {"delivery.first_backoff", bad, [](Options& o) { o.delivery.first_backoff = 0s; }},
      {"delivery.first_backoff", bad, [](Options& o) { o.delivery.first_backoff = 25h; }},
      {"delivery.max_backoff", no_error, [](Options& o) { o.delivery.max_backoff = 1s; }},
      {"delivery.max_backoff", bad, [](Options& o) { o.delivery.max_backoff = 1s - 1ns; }},
      {"delivery.max_backoff", bad, [](Options& o) { o.delivery.max_backoff = 24h + 1ns; }},
  };
}

std::vector<Case> other_cases() {
  const Errc bad = Errc::invalid_option;
  return {
      {"durability", bad, [](Options& o) { o.durability = static_cast<Durability>(3); }},
      {"durability", no_error, [](Options& o) { o.durability = Durability::relaxed; }},
      {"max_payload", bad, [](Options& o) { o.max_payload = 0; }},
      {"max_payload", no_error, [](Options& o) { o.max_payload = 1; }},
      {"max_payload", no_error, [](Options& o) { o.max_payload = max_payload_bytes; }},
      {"max_payload", bad, [](Options& o) { o.max_payload = max_payload_bytes + 1; }},
      {"holder", Errc::invalid_name, [](Options& o) { o.holder = ""; }},
      {"holder", no_error, [](Options& o) { o.holder = "worker-1"; }},
      {"breaker.trip_after", bad, [](Options& o) { o.breaker.trip_after = 0; }},
      {"breaker.trip_after", no_error, [](Options& o) { o.breaker.trip_after = 1'000'000; }},
      {"breaker.trip_after", bad, [](Options& o) { o.breaker.trip_after = 1'000'001; }},
      {"delivery.max_attempts", bad, [](Options& o) { o.delivery.max_attempts = 0; }},
      {"delivery.max_attempts", no_error, [](Options& o) { o.delivery.max_attempts = 1000; }},
      {"delivery.max_attempts", bad, [](Options& o) { o.delivery.max_attempts = 1001; }},
  };
}

void check_cases(const std::vector<Case>& cases) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    CAPTURE(i, c.field);
    Options options;
    c.change(options);
    const Status status = check(options);
    CHECK(code_of(status) == c.expected);
    if (c.expected != no_error) CHECK(field_of(status) == c.field);
  }
}

}  // namespace

TEST_CASE("the default options are within their bounds") { CHECK(check(Options())); }

TEST_CASE("every duration of the options has bounds that are checked") {
  check_cases(duration_cases());
}

TEST_CASE("every other option has bounds that are checked") { check_cases(other_cases()); }

// Case L41: nothing rolls over, nothing is taken for another unit, zero is no ttl.
TEST_CASE("a ttl is 1 ms to 30 days") {
  const std::array refused{Duration(0),         Duration(-1),         Duration::min(),
                           Duration(1ms) - 1ns, Duration(720h) + 1ns, Duration::max()};
  for (const Duration ttl : refused) {
    CAPTURE(ttl.count());
    CHECK(code_of(check_ttl(ttl)) == Errc::invalid_duration);
    CHECK(field_of(check_ttl(ttl, "probe_ttl")) == "probe_ttl");
  }
  CHECK(check_ttl(1ms));
  CHECK(check_ttl(720h));
  CHECK(check_ttl(Duration::max()).error() ==
        Error(Errc::invalid_duration, {.field = "ttl",
                                       .limit = Duration(720h).count(),
                                       .bound = Bound::at_most,
                                       .unit = Unit::nanoseconds}));
  CHECK(check_ttl(Duration::zero()).error() ==
        Error(Errc::invalid_duration, {.field = "ttl",
                                       .limit = Duration(1ms).count(),
                                       .bound = Bound::at_least,
                                       .unit = Unit::nanoseconds}));
}

TEST_CASE("a wait is anything from nothing to for ever") {
  CHECK(check_wait(Duration::zero()));
  CHECK(check_wait(Duration::max()));
  CHECK(code_of(check_wait(Duration(-1))) == Errc::invalid_duration);
  CHECK(code_of(check_wait(Duration::min())) == Errc::invalid_duration);
}

TEST_CASE("the choices of the options have names") {
  CHECK(to_string(Durability::every_answer) == "every_answer");
  CHECK(to_string(Durability::commits) == "commits");
  CHECK(to_string(Durability::relaxed) == "relaxed");
  CHECK(to_string(AfterCommit::nothing) == "nothing");
  CHECK(to_string(AfterCommit::keep) == "keep");
  CHECK(to_string(AfterCommit::release) == "release");
}
