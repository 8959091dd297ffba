// What the tests of the SQLite store are written with: answers as words, and the ledger's news.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "temp_store.hpp"
#include "wallock/coordinator.hpp"

namespace wallock::test {

using namespace std::chrono_literals;

// "ok", or the name of the error: so that a failed check shows it.
template <class T>
[[nodiscard]] std::string answer(const Result<T>& result) {
  return result ? "ok" : std::string(to_string(result.error().code()));
}

// The word for what an operation did, or the name of its error.
template <class T>
[[nodiscard]] std::string effect(const Result<T>& result) {
  return result ? std::string(to_string(*result)) : answer(result);
}

// An action that is only recorded.
[[nodiscard]] inline ActionFields recorded(std::string_view id, std::string payload = "payload") {
  return {.id = id, .payload = std::move(payload)};
}

// An action that is to be delivered.
[[nodiscard]] inline ActionFields sent(std::string_view id, std::string payload = "payload",
                                       std::string_view destination = "bank") {
  return {.id = id, .destination = Given<Destination>(destination), .payload = std::move(payload)};
}

// A holder of that name.
[[nodiscard]] inline AcquireOptions by(std::string_view holder, Duration ttl = 30s) {
  AcquireOptions options;
  options.holder = Given<HolderId>(holder);
  options.ttl = ttl;
  return options;
}

// What the ledger gained since it was last asked: the kinds of the new records, in order, or "-".
class News {
 public:
  explicit News(Coordinator& store) : store_(store), seen_(store.root().value().size) {}

  [[nodiscard]] std::string operator()() {
    std::string kinds;
    const auto records = store_.audit({.from = seen_, .limit = 10'000}).value();
    for (const AuditRecord& record : records) {
      kinds += (kinds.empty() ? "" : " ") + std::string(to_string(record.entry().kind));
      ++seen_;
    }
    return kinds.empty() ? "-" : kinds;
  }

 private:
  Coordinator& store_;
  std::uint64_t seen_;
};

// The store is in order, seen from the front to the end.
[[nodiscard]] inline std::string verdict(Coordinator& store) {
  const auto report = store.verify();
  return report ? std::string(to_string(report->verdict)) : answer(report);
}

// A breaker that trips at the first timeout and may be probed ten seconds later.
[[nodiscard]] inline Options quick_to_trip(Options options) {
  options.breaker = {.trip_after = 1, .first_interval = 10s, .max_interval = 60s};
  return options;
}

// SQL that gives each resource that has none a row for its breaker, CLOSED.
inline constexpr const char* told_of_breakers =
    "UPDATE wallock_resources SET has_breaker = 1; "
    "INSERT OR IGNORE INTO wallock_breakers (resource, state, forced, timeouts, generation, "
    "failed_probes, interval_ns, since_at, epoch) "
    "SELECT resource, 0, 0, 0, 0, 0, 0, 0, 1 FROM wallock_resources";

}  // namespace wallock::test
