#include "rules_support.hpp"
#include "wallock/rules/breaker_rules.hpp"

using namespace wallock;
using namespace wallock::test;
using rules::effective;
using rules::open_interval;
using rules::probe_due;

namespace {

constexpr auto most_probes = std::numeric_limits<std::uint32_t>::max();

}  // namespace

TEST_CASE("case B19: the interval doubles with each failed probe, up to its cap") {
  const BreakerPolicy odd{.first_interval = 30s, .max_interval = 10min};
  const BreakerPolicy even{.first_interval = 30s, .max_interval = 4min};
  struct Case {
    BreakerPolicy policy;
    std::uint32_t failed_probes;
    Duration expected;
  };
  const Case cases[] = {
      {odd, 0, 30s},   {odd, 1, 60s},
      {odd, 2, 2min},  {odd, 3, 4min},
      {odd, 4, 8min},  {odd, 5, 10min},
      {odd, 6, 10min}, {odd, 1000, 10min},
      {even, 3, 4min}, {odd, most_probes, 10min},
      {even, 4, 4min}, {BreakerPolicy{.first_interval = 24h, .max_interval = 24h}, 40, 24h},
  };
  for (const Case& c : cases) {
    CAPTURE(c.failed_probes);
    CHECK(open_interval(c.policy, c.failed_probes) == c.expected);
  }
}

TEST_CASE("cases B13 and B14: an open row may be probed one interval after it opened") {
  CHECK(probe_due(open_row(), at()) == boot(105s));
  CHECK(probe_due(open_row(), at(1h)) == boot(105s));
  // A restart of the machine starts the interval anew, on its own clock.
  CHECK(probe_due(open_row(), at(1s, 1000, epoch + 1)) == boot(10s));
  BreakerRow endless = open_row();
  endless.interval = Duration::max();
  CHECK(probe_due(endless, at()) == Instant::max());
}

TEST_CASE("case B1: a probe whose time ran out has fallen back to open for longer") {
  CHECK(effective(probing_row(), policy, at(116s - 1ns)) == probing_row());
  BreakerRow expected = open_row();
  expected.failed_probes = 1;
  expected.interval = 20s;
  expected.since = boot(116s);
  CHECK(effective(probing_row(), policy, at(116s)) == expected);
  CHECK(effective(probing_row(), policy, at(1h)) == expected);
  CHECK(probe_due(expected, at(1h)) == boot(136s));
}

TEST_CASE("case L16: a probe of an earlier epoch has fallen back when this boot started") {
  BreakerRow expected = open_row();
  expected.failed_probes = 1;
  expected.interval = 20s;
  expected.since = Instant{};
  expected.epoch = epoch + 1;
  for (const Duration now : {1s, 107s, 1000s})
    CHECK(effective(probing_row(), policy, at(now, 1000, epoch + 1)) == expected);
}

TEST_CASE("case B20: the interval goes on growing from the count in the row") {
  BreakerRow row = probing_row();
  row.failed_probes = 1;
  CHECK(effective(row, policy, at(116s)).failed_probes == 2);
  CHECK(effective(row, policy, at(116s)).interval == 40s);
  row.failed_probes = 2;
  CHECK(effective(row, policy, at(116s)).interval == 60s);
  row.failed_probes = most_probes;
  CHECK(effective(row, policy, at(116s)).failed_probes == most_probes);
  CHECK(effective(row, policy, at(116s)).interval == 60s);
}

TEST_CASE("cases B8 and B11: no other row changes by being looked at, however late") {
  BreakerRow counting;
  counting.timeouts = 2;
  for (const BreakerRow& row : {BreakerRow{}, counting, open_row(), forced_row()}) {
    for (const auto now : {at(0s), at(), at(100h), at(1s, 1000, epoch + 1)})
      CHECK(effective(row, policy, now) == row);
  }
}

TEST_CASE("INV-05 an illegal row is not made legal by being looked at") {
  for (const auto& row : illegal_rows()) {
    if (!row) continue;
    for (const auto now : {at(), at(100h), at(1s, 1000, epoch + 1)})
      CHECK_FALSE(is_legal(effective(*row, policy, now)));
  }
}

TEST_CASE("INV-05 only a legal closed row allows work") {
  CHECK(rules::check_closed(rules::fresh_resource(), resource(), at()));
  BreakerRow counting;
  counting.timeouts = 2;
  CHECK(rules::check_closed(with_breaker(held(), counting), resource(), at()));
  for (const auto& row : illegal_rows()) {
    CHECK(refusal(rules::check_closed(with_breaker(held(), row), resource(), at())) ==
          Errc::breaker_illegal);
  }
  for (const BreakerRow& row : {open_row(), forced_row(), probing_row()}) {
    for (const auto now : {at(0s), at(), at(100h), at(1s, 1000, epoch + 1)}) {
      CHECK(refusal(rules::check_closed(with_breaker(held(), row), resource(), now)) ==
            Errc::breaker_open);
    }
  }
}

TEST_CASE("a refusal by an open breaker tells when to ask again, if that can be known") {
  const auto facts = [](const BreakerRow& row, const rules::Moment& now) {
    return rules::check_closed(tripped_with(row), resource(), now).error().facts();
  };
  CHECK(facts(open_row(), at()).retry_at == boot(105s));
  CHECK(facts(probing_row(), at(107s)).retry_at == boot(116s));
  CHECK_FALSE(facts(probing_row(), at(116s)).retry_at);
  CHECK_FALSE(facts(probing_row(), at(107s, 1000, epoch + 1)).retry_at);
  CHECK_FALSE(facts(forced_row(), at()).retry_at);
}
