// DerivedState: single records that must not stand where they stand, told to it one after another.
#include "sqlite/derived_state.hpp"

#include "catch.hpp"

namespace wallock::test {
namespace {

using sqlite::DerivedState;

// A ledger of one resource, told record by record. Nothing in it is hashed or stored.
class Telling {
 public:
  Telling() { tell({.kind = RecordKind::genesis}, false); }

  // The number that a grant told now has.
  [[nodiscard]] FencingToken here() const { return FencingToken::of(1, position_).value(); }

  Telling& grant(std::int64_t until = 1, std::string_view detail = {}) {
    return tell({.kind = RecordKind::lease_granted,
                 .token = latest_ = here(),
                 .until = Instant(Duration(until)),
                 .actor = "ann",
                 .detail = std::string(detail)});
  }
  Telling& renew() {
    return tell({.kind = RecordKind::lease_renewed,
                 .token = latest_,
                 .until = Instant(Duration(1)),
                 .actor = "ann"});
  }
  Telling& action(ActionState state = ActionState::validated) {
    subject_ = position_;
    return tell({.kind = RecordKind::action_recorded,
                 .action_id = ActionId::parse("a").value(),
                 .token = latest_,
                 .state = state,
                 .score = Score(),
                 .digest = Digest(),
                 .actor = "ann"});
  }
  Telling& claim() {
    return tell({.kind = RecordKind::delivery_claimed,
                 .token = here(),
                 .state = ActionState::executing,
                 .subject = subject_,
                 .until = Instant(Duration(static_cast<std::int64_t>(position_)))});
  }
  // A record of the latest token: of the breaker.
  Telling& breaker(RecordKind kind) { return tell({.kind = kind, .token = latest_}); }
  Telling& probe() {
    return tell({.kind = RecordKind::probe_granted,
                 .token = latest_ = here(),
                 .until = Instant(Duration(1))});
  }

  // A record as it is given, of the resource unless it says otherwise.
  Telling& record(LedgerEntry entry, bool of_resource = true) {
    return tell(std::move(entry), of_resource);
  }
  [[nodiscard]] FencingToken latest() const { return latest_; }
  [[nodiscard]] std::uint64_t subject() const { return subject_; }
  [[nodiscard]] const DerivedState& state() const { return state_; }

  // The names of what was broken so far.
  [[nodiscard]] std::string broken() const {
    std::string names;
    for (const auto& violation : state_.violations())
      names += (names.empty() ? "" : " ") + std::string(to_string(violation.invariant));
    return names;
  }

 private:
  Telling& tell(LedgerEntry entry, bool of_resource = true) {
    if (of_resource && !entry.resource) entry.resource = resource_;
    state_.feed(position_++, WallTime(), entry);
    return *this;
  }

  const ResourceName resource_ = ResourceName::parse("r").value();
  DerivedState state_;
  std::uint64_t position_ = 0;
  std::uint64_t subject_ = 0;
  FencingToken latest_;
};

constexpr auto trips = RecordKind::breaker_tripped;
constexpr auto counts = RecordKind::timeout_reported;
constexpr auto clears = RecordKind::timeouts_cleared;
constexpr auto is_late = RecordKind::outcome_late;
constexpr auto forces = RecordKind::forced_open;
constexpr auto unforces = RecordKind::forced_cleared;

const auto other_resource = ResourceName::parse("other").value();

// Right in all but what a test takes from it or adds to it.
LedgerEntry action_of(const Telling& telling) {
  return {.kind = RecordKind::action_recorded,
          .action_id = ActionId::parse("a").value(),
          .token = telling.latest(),
          .state = ActionState::sealed,
          .score = Score(),
          .digest = Digest(),
          .actor = "ann"};
}
LedgerEntry grant_of(const Telling& telling) {
  return {.kind = RecordKind::lease_granted,
          .token = telling.here(),
          .until = Instant(Duration(1)),
          .actor = "ann"};
}
LedgerEntry claim_of(const Telling& telling) {
  return {.kind = RecordKind::delivery_claimed,
          .token = telling.here(),
          .state = ActionState::executing,
          .subject = telling.subject(),
          .until = Instant(Duration(9))};
}

}  // namespace

TEST_CASE("what the library records one after another breaks no invariant") {
  CHECK(Telling().grant().renew().action().claim().claim().broken().empty());
  CHECK(Telling().grant().breaker(counts).breaker(clears).action().broken().empty());
  CHECK(Telling().grant().breaker(trips).breaker(is_late).probe().broken().empty());
  CHECK(Telling().grant().breaker(forces).breaker(unforces).probe().broken().empty());
}

TEST_CASE("nothing is granted, renewed, accepted or claimed while the breaker is not CLOSED") {
  CHECK(Telling().breaker(forces).grant().broken() == "breaker_closed");
  CHECK(Telling().grant().breaker(forces).renew().broken() == "lease_held breaker_closed");
  CHECK(Telling().grant().breaker(forces).action().broken() == "breaker_closed commit_fence");
  CHECK(Telling().grant().action().breaker(forces).claim().broken() == "breaker_closed");
}

TEST_CASE("an action is SEALED or VALIDATED by its commit, and nothing else") {
  CHECK(Telling().grant().action(ActionState::sealed).broken().empty());
  CHECK(Telling().grant().action(ActionState::executing).broken() == "action_moves");
  CHECK(Telling().grant().action(ActionState::quarantined).broken() == "action_moves");
}

TEST_CASE("a report counts exactly while its token may write and the breaker is CLOSED") {
  CHECK(Telling().grant().breaker(is_late).broken() == "report_effect");
  CHECK(Telling().grant().action().breaker(is_late).broken().empty());
  CHECK(Telling().grant().action().breaker(counts).broken() == "report_effect");
  CHECK(Telling().grant().action().breaker(trips).broken() == "report_effect");
  CHECK(Telling().grant().breaker(forces).breaker(trips).broken() == "report_effect");
  CHECK(Telling().grant().breaker(clears).broken() == "report_effect");
}

TEST_CASE("force is put on what is not forced, and taken from what is") {
  CHECK(Telling().grant().breaker(forces).breaker(forces).broken() == "breaker_moves");
  CHECK(Telling().grant().breaker(trips).breaker(forces).broken().empty());
  CHECK(Telling().grant().breaker(trips).breaker(unforces).broken() == "breaker_moves");
  CHECK(Telling().breaker(forces).probe().broken() == "breaker_moves");
}

TEST_CASE("a lease is granted while another lives only if its holder was found dead") {
  CHECK(Telling().grant(9).grant(10).broken().empty());
  CHECK(Telling().grant(9).grant(9).broken() == "lease_overlap");
  CHECK(Telling().grant(9).grant(3, holder_gone).broken().empty());
  CHECK(Telling().grant(9, holder_gone).broken() == "record_shape");
  CHECK(Telling().grant(9).grant(10, "because").broken() == "record_shape");
}

TEST_CASE("no delivery is claimed more often than any policy allows") {
  Telling telling;
  telling.grant().action();
  for (int i = 0; i < 1000; ++i)
    telling.claim();
  CHECK(telling.broken().empty());
  CHECK(telling.claim().broken() == "claim_attempts");
}

TEST_CASE("a record has what its kind has, and nothing else") {
  const auto broken = [](auto make, auto spoil) {
    Telling telling;
    telling.grant(-1);
    LedgerEntry entry = make(telling);
    spoil(entry);
    return telling.record(std::move(entry)).broken();
  };
  const auto grant = [&](auto spoil) { return broken(grant_of, spoil); };
  const auto action = [&](auto spoil) { return broken(action_of, spoil); };
  CHECK(grant([](LedgerEntry&) {}).empty());
  CHECK(action([](LedgerEntry&) {}).empty());
  CHECK(grant([](LedgerEntry& entry) { entry.subject = 1; }) == "record_shape");
  CHECK(grant([](LedgerEntry& entry) { entry.state = ActionState::sealed; }) == "record_shape");
  CHECK(grant([](LedgerEntry& entry) { entry.until.reset(); }) == "record_shape");
  CHECK(action([](LedgerEntry& entry) { entry.digest.reset(); }) == "record_shape");
  CHECK(action([](LedgerEntry& entry) { entry.score.reset(); }) == "record_shape");
  CHECK(action([](LedgerEntry& entry) { entry.action_id.reset(); }) == "record_shape");
}

TEST_CASE("an epoch begins at its own position 0, and no lease goes on in it") {
  const auto raised = [](std::uint64_t epoch, std::uint64_t position) {
    return LedgerEntry{.kind = RecordKind::epoch_raised,
                       .token = FencingToken::of(epoch, position).value()};
  };
  CHECK(Telling().record(raised(2, 0), false).broken().empty());
  CHECK(Telling().record(raised(2, 1), false).broken() == "epoch");
  CHECK(Telling().record(raised(3, 0), false).broken() == "epoch");
  CHECK(Telling().grant().record(raised(2, 0), false).renew().broken() == "lease_held");
}

TEST_CASE("only the holder's own commit lets its next grant end no later than the one before") {
  const auto broken = [](auto spoil) {
    Telling telling;
    telling.grant(9).record(action_of(telling));
    LedgerEntry next = grant_of(telling);
    spoil(next);
    return telling.record(std::move(next)).broken();
  };
  CHECK(broken([](LedgerEntry&) {}).empty());
  CHECK(broken([](LedgerEntry& next) { next.actor = "bob"; }) == "lease_overlap");
  Telling of_another;
  of_another.grant(9).record(grant_of(of_another));
  CHECK(of_another.broken() == "lease_overlap");
  Telling between;
  between.grant(9);
  LedgerEntry elsewhere = grant_of(between);
  elsewhere.resource = other_resource;
  LedgerEntry there = action_of(between);
  there.resource = other_resource;
  there.token = elsewhere.token;
  between.record(std::move(elsewhere)).record(std::move(there)).record(grant_of(between));
  CHECK(between.broken() == "lease_overlap");
}

TEST_CASE("a report under a token that nobody was given, and a lease that nobody has, are broken") {
  const auto ahead = [](RecordKind kind) {
    Telling telling;
    telling.grant();
    return telling.record({.kind = kind, .token = FencingToken::of(1, 99).value()}).broken();
  };
  CHECK(ahead(counts) == "report_effect");
  CHECK(ahead(is_late) == "report_effect");
  CHECK(Telling().grant().breaker(counts).action().breaker(clears).broken() == "report_effect");
  CHECK(Telling().grant().breaker(RecordKind::probe_failed).broken() == "breaker_moves");
  Telling free;
  free.grant().breaker(trips);
  CHECK_FALSE(free.state().may_end_at(free.state().resources().at("r"), Instant()));
}

TEST_CASE("a delivery is claimed and settled as one of its own resource, and sealed by its claim") {
  const auto claim = [](auto spoil) {
    Telling telling;
    telling.grant().action();
    LedgerEntry entry = claim_of(telling);
    spoil(entry);
    const bool of_resource = entry.actor.empty();
    return telling.record(std::move(entry), of_resource).broken();
  };
  CHECK(claim([](LedgerEntry&) {}).empty());
  CHECK(claim([](LedgerEntry& entry) { entry.resource = other_resource; }) == "action_moves");
  CHECK(claim([](LedgerEntry& entry) { entry.actor = "of no resource"; }) ==
        "record_shape action_moves");
  const auto settle = [](RecordKind kind, ActionState state) {
    Telling telling;
    telling.grant().action();
    return telling.record({.kind = kind, .state = state, .subject = telling.subject()}).broken();
  };
  // One that nobody has claimed can only die.
  CHECK(settle(RecordKind::delivery_dead, ActionState::quarantined).empty());
  CHECK(settle(RecordKind::delivery_sealed, ActionState::sealed) == "claim_fence action_moves");
}

}  // namespace wallock::test
