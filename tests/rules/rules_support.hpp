// What the tests of the rules are written with: short names for values, and a resource in each
// state.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "catch.hpp"
#include "wallock/rules/lease_rules.hpp"

namespace wallock::test {

using namespace std::chrono_literals;

inline constexpr std::uint64_t epoch = 7;

inline ResourceName resource(std::string_view name = "account-1") {
  return ResourceName::parse(name).value();
}
inline HolderId holder(std::string_view name = "ann") { return HolderId::parse(name).value(); }
inline ActionId action(std::string_view name = "acquire-1") {
  return ActionId::parse(name).value();
}

inline constexpr InstanceId first_instance{11};
inline constexpr InstanceId second_instance{22};

// A point on the boot clock.
inline Instant boot(Duration since_boot) { return Instant(since_boot); }

inline FencingToken token(std::uint64_t position, std::uint64_t of_epoch = epoch) {
  return FencingToken::of(of_epoch, position).value();
}

// The usual moment of a decision: 100 s after boot, before the record at position 1000.
inline rules::Moment at(Duration since_boot = 100s, std::uint64_t position = 1000,
                        std::uint64_t of_epoch = epoch) {
  return rules::Moment{boot(since_boot), of_epoch, position};
}

inline constexpr BreakerPolicy policy{.trip_after = 3, .first_interval = 10s, .max_interval = 60s};

// Granted to ann at 90 s until 120 s, under token 500.
inline rules::ResourceState held() {
  rules::ResourceState state = rules::fresh_resource();
  state.max_fence = token(499);
  state.issued = token(500);
  state.tenure = rules::Tenure{.holder = holder(),
                               .instance = first_instance,
                               .granted_at = boot(90s),
                               .expires_at = boot(120s)};
  return state;
}

inline rules::ResourceState with_breaker(rules::ResourceState state,
                                         std::optional<BreakerRow> row) {
  state.breaker = std::move(row);
  return state;
}

// Tripped once at 95 s; may be probed from 105 s on.
inline BreakerRow open_row() {
  return BreakerRow{.state = BreakerState::open,
                    .timeouts = 3,
                    .generation = 1,
                    .interval = 10s,
                    .since = boot(95s),
                    .epoch = epoch};
}

inline BreakerRow forced_row() {
  BreakerRow row = open_row();
  row.forced = true;
  return row;
}

// Probed by ann from 106 s until 116 s, under token 600.
inline BreakerRow probing_row() {
  BreakerRow row = open_row();
  row.state = BreakerState::probing;
  row.since = boot(106s);
  row.probe = ProbeGrant{token(600), holder(), first_instance, boot(116s)};
  return row;
}

// A resource whose lease a trip has ended, with that row.
inline rules::ResourceState tripped_with(BreakerRow row) {
  rules::ResourceState state = rules::fresh_resource();
  state.issued = row.probe ? row.probe->token : token(500);
  state.max_fence = state.issued;
  state.breaker = std::move(row);
  return state;
}

// Rows that must never be believed, each illegal for a reason of its own.
inline std::vector<std::optional<BreakerRow>> illegal_rows() {
  std::vector<std::optional<BreakerRow>> rows{std::nullopt};
  const auto add = [&rows](BreakerRow row, auto change) {
    change(row);
    rows.emplace_back(std::move(row));
  };
  add(BreakerRow{}, [](BreakerRow& row) { row.forced = true; });
  add(BreakerRow{}, [](BreakerRow& row) { row.probe = probing_row().probe; });
  add(BreakerRow{}, [](BreakerRow& row) { row.interval = 1s; });
  add(BreakerRow{}, [](BreakerRow& row) { row.failed_probes = 1; });
  add(BreakerRow{}, [](BreakerRow& row) { row.state = BreakerState{3}; });
  add(open_row(), [](BreakerRow& row) { row.probe = probing_row().probe; });
  add(open_row(), [](BreakerRow& row) { row.interval = 0s; });
  add(open_row(), [](BreakerRow& row) { row.interval = -1s; });
  add(open_row(), [](BreakerRow& row) { row.generation = 0; });
  add(probing_row(), [](BreakerRow& row) { row.probe.reset(); });
  add(probing_row(), [](BreakerRow& row) { row.forced = true; });
  add(probing_row(), [](BreakerRow& row) { row.interval = 0s; });
  add(probing_row(), [](BreakerRow& row) { row.generation = 0; });
  return rows;
}

// The code of a refusal; empty if there was none.
template <class T>
std::optional<Errc> refusal(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error().code());
}

// The kinds of the records that a change appends, in order.
inline std::vector<RecordKind> kinds(const rules::Change& change) {
  std::vector<RecordKind> found;
  for (const LedgerEntry& entry : change.entries)
    found.push_back(entry.kind);
  return found;
}

using Kinds = std::vector<RecordKind>;

}  // namespace wallock::test
