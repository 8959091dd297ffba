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

  // The names of what was broken so far.
  [[nodiscard]] std::string broken() const {
    std::string names;
    for (const auto& violation : state_.violations())
      names += (names.empty() ? "" : " ") + std::string(to_string(violation.invariant));
    return names;
  }

 private:
  Telling& tell(LedgerEntry entry, bool of_resource = true) {
    if (of_resource) entry.resource = resource_;
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

}  // namespace wallock::test
