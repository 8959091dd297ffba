// What the tests of the JSON perimeter share: limits on a clock that stands still, random values.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "unit/values_support.hpp"
#include "wallock/json.hpp"
#include "wallock/manual_clock.hpp"

namespace wallock::test {

// The default limits, on a clock that stands still: no test depends on the machine's speed.
inline JsonLimits frozen_limits() {
  JsonLimits limits;
  limits.clock = std::make_shared<ManualClock>();
  return limits;
}

// Random values of every type that has a JSON form; each member takes its whole range.
class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : random_(seed) {}

  Random& numbers() { return random_; }

  std::string utf8(std::size_t most_bytes) {
    static const std::string pieces[] = {"a",
                                         "Z",
                                         "0",
                                         " ",
                                         "/",
                                         "\"",
                                         "\\",
                                         "{",
                                         "}",
                                         ":",
                                         ",",
                                         "\xC3\xA4",
                                         "\xE2\x82\xAC",
                                         "\xF0\x9F\x94\x92",
                                         "\xEF\xBF\xBF",
                                         "\xF4\x8F\xBF\xBF",
                                         "\xC2\x80",
                                         "\\u0000"};
    std::string text;
    for (std::uint64_t n = random_.below(40); n > 0; --n) {
      const std::string& piece = pieces[random_.below(std::size(pieces))];
      if (text.size() + piece.size() <= most_bytes) text += piece;
    }
    return text;
  }
  std::string name() {
    const std::string text = utf8(254);
    return random_.below(50) == 0 ? std::string(255, 'n') : "n" + text;
  }
  std::string bytes(std::size_t most) {
    switch (random_.below(4)) {
      case 0:
        return {};
      case 1:
        return utf8(most);
      case 2:
        return utf8(most - 1) + "\n";
      default: {
        std::string out;
        for (std::uint64_t n = random_.below(std::min<std::size_t>(most, 60)); n > 0; --n)
          out += static_cast<char>(random_.below(256));
        return out;
      }
    }
  }

  bool coin() { return random_.below(2) == 0; }
  Score score() {
    return Score::from_millionths(static_cast<std::int64_t>(random_.below(1'000'001))).value();
  }
  Decimal amount() {
    const auto units = static_cast<std::int64_t>(random_.any_size() >> 1);
    return Decimal::of(coin() ? units : -units, static_cast<int>(random_.below(19))).value();
  }
  Digest digest() { return Digest::parse(random_.text("0123456789abcdef", 64)).value(); }
  FencingToken token() { return test::token(random_.any_size() >> 1); }
  Instant instant() {
    const auto count = static_cast<std::int64_t>(random_.any_size());
    return Instant(Duration(count));
  }
  ActionState state() { return all_action_states[random_.below(all_action_states.size())]; }

  ActionRequest action_request() {
    return ActionRequest::create(
               {.id = name(),
                .destination = coin() ? std::optional<Given<Destination>>(name()) : std::nullopt,
                .payload = bytes(500),
                .security_score = score(),
                .amount = coin() ? std::optional(amount()) : std::nullopt})
        .value();
  }
  ActionResult action_result() {
    return ActionResult({.id = action_id(name()),
                         .position = random_.any_size(),
                         .token = token(),
                         .digest = digest(),
                         .state = state()});
  }
  Lease lease() {
    const Instant requested = instant();
    const Instant granted = saturating_add(requested, Duration(random_.below(1'000'000)));
    const Instant before_end = std::min(granted, Instant::max() - Duration(1));
    return Lease::create({.resource = resource(name()),
                          .token = test::token(1 + (random_.any_size() >> 2)),
                          .holder = holder(name()),
                          .instance = InstanceId{random_.any_size()},
                          .requested_at = std::min(requested, before_end),
                          .granted_at = before_end,
                          .expires_at = coin() ? Instant::max() : before_end + Duration(1)})
        .value();
  }
  Delivery delivery() {
    return Delivery({.action_id = action_id(name()),
                     .position = random_.any_size(),
                     .resource = resource(name()),
                     .destination = destination(name()),
                     .payload = bytes(500),
                     .attempt = static_cast<std::uint32_t>(random_.any_size()),
                     .claim_token = token(),
                     .claim_expires_at = instant()});
  }
  AuditRecord audit_record() {
    LedgerEntry entry{.kind = all_record_kinds[random_.below(all_record_kinds.size())],
                      .token = token(),
                      .actor = bytes(max_name_bytes),
                      .detail = bytes(max_detail_bytes)};
    if (coin()) entry.resource = resource(name());
    if (coin()) entry.action_id = action_id(name());
    if (coin()) entry.state = state();
    if (coin()) entry.subject = random_.any_size();
    if (coin()) entry.until = instant();
    if (coin()) entry.score = score();
    if (coin()) entry.digest = digest();
    const WallTime at{std::chrono::microseconds(static_cast<std::int64_t>(random_.any_size()))};
    return AuditRecord(random_.any_size(), at, std::move(entry), digest());
  }
  TreeHead tree_head() { return {.size = random_.any_size(), .root = digest()}; }

 private:
  Random random_;
};

}  // namespace wallock::test
