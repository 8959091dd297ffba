// ActionRequest, Batch, ActionResult and Committed.
#include "wallock/action.hpp"

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "unit/values_support.hpp"
#include "wallock/committed.hpp"

using namespace wallock;
using wallock::test::bytes;
using wallock::test::code_of;
using wallock::test::field_of;

namespace {

std::vector<ActionFields> numbered(std::size_t count) {
  std::vector<ActionFields> fields;
  for (std::size_t i = 0; i < count; ++i)
    fields.push_back({.id = "pay-" + std::to_string(i)});
  return fields;
}

Batch batch_of(std::size_t count) {
  std::vector<ActionRequest> actions;
  for (ActionFields& fields : numbered(count))
    actions.push_back(ActionRequest::create(std::move(fields)).value());
  return actions;
}

ActionResult result(ActionState state = ActionState::sealed, std::uint64_t position = 7) {
  return ActionResult({.id = test::action_id("pay-17"),
                       .position = position,
                       .token = test::token(5),
                       .digest = Digest(),
                       .state = state});
}

}  // namespace

TEST_CASE("an action keeps what it was made of") {
  const auto action = ActionRequest::create({.id = "pay-17",
                                             .destination = "bank",
                                             .payload = bytes("\0\xFF\n"),
                                             .security_score = Score::parse("0.75").value(),
                                             .amount = Decimal::parse("-12.50").value()});
  REQUIRE(action);
  CHECK(action->id().str() == "pay-17");
  CHECK(action->destination()->str() == "bank");
  CHECK(action->payload() == bytes("\0\xFF\n"));
  CHECK(action->security_score().millionths() == 750'000);
  CHECK(to_string(*action->amount()) == "-12.5");
}

TEST_CASE("an action that is only an id has the defaults") {
  const auto action = ActionRequest::create({.id = "pay-17"});
  REQUIRE(action);
  CHECK_FALSE(action->destination());
  CHECK(action->payload().empty());
  CHECK(action->security_score() == Score());
  CHECK_FALSE(action->amount());
}

TEST_CASE("an action with a bad name or too large a payload is refused") {
  CHECK(field_of(ActionRequest::create({.id = ""})) == "action_id");
  CHECK(code_of(ActionRequest::create({.id = "a\n"})) == Errc::invalid_name);
  const auto nowhere = ActionRequest::create({.id = "a", .destination = ""});
  CHECK(code_of(nowhere) == Errc::invalid_name);
  CHECK(field_of(nowhere) == "destination");
  CHECK(ActionRequest::create({.id = "a", .payload = std::string(max_payload_bytes, 'x')}));
  const auto large =
      ActionRequest::create({.id = "a", .payload = std::string(max_payload_bytes + 1, 'x')});
  CHECK(code_of(large) == Errc::too_large);
  CHECK(large.error().facts() == ErrorFacts{.field = "payload",
                                            .action = "a",
                                            .limit = 16 * 1024 * 1024,
                                            .bound = Bound::at_most,
                                            .unit = Unit::bytes});
}

TEST_CASE("actions are equal if and only if every member is") {
  const ActionFields base{.id = "a", .destination = "b", .payload = "c"};
  const auto changed = [&base](auto change) {
    ActionFields fields = base;
    change(fields);
    return ActionRequest::create(fields).value();
  };
  const ActionRequest same = changed([](ActionFields&) {});
  CHECK(same == changed([](ActionFields&) {}));
  CHECK(same != changed([](ActionFields& f) { f.id = "x"; }));
  CHECK(same != changed([](ActionFields& f) { f.destination = "x"; }));
  CHECK(same != changed([](ActionFields& f) { f.destination.reset(); }));
  CHECK(same != changed([](ActionFields& f) { f.payload = "x"; }));
  CHECK(same != changed([](ActionFields& f) { f.security_score = Score::parse("1").value(); }));
  CHECK(same != changed([](ActionFields& f) { f.amount = Decimal(); }));
}

TEST_CASE("INV-02 a value gives out nothing through which it could be changed") {
  STATIC_REQUIRE(
      std::is_const_v<std::remove_reference_t<decltype(std::declval<ActionRequest&>().payload())>>);
  STATIC_REQUIRE(
      std::is_const_v<std::remove_reference_t<decltype(std::declval<ActionRequest&>().id())>>);
  STATIC_REQUIRE(
      std::is_const_v<std::remove_reference_t<decltype(std::declval<ActionRequest&>().amount())>>);
  STATIC_REQUIRE(
      std::is_const_v<std::remove_reference_t<decltype(std::declval<ActionResult&>().digest())>>);
  STATIC_REQUIRE(
      std::is_const_v<std::remove_reference_t<decltype(std::declval<Committed&>().results())>>);
  STATIC_REQUIRE(
      std::is_const_v<std::remove_reference_t<decltype(std::declval<Lease&>().resource())>>);
  STATIC_REQUIRE_FALSE(std::is_default_constructible_v<ActionRequest>);
  STATIC_REQUIRE_FALSE(std::is_aggregate_v<ActionRequest>);
}

TEST_CASE("INV-09 an action shows its id and size, never its payload") {
  const auto action =
      ActionRequest::create({.id = "pay-17", .payload = "card 4111 1111 1111 1111"}).value();
  CHECK(to_string(action) == "pay-17 (24 bytes)");
}

TEST_CASE("a batch holds 1 to 1000 actions") {
  CHECK(Batch(std::vector<ActionRequest>{}).check().error() ==
        invalid(Errc::batch_size, "actions", 1, Bound::at_least));
  CHECK(batch_of(max_batch_actions + 1).check().error() ==
        invalid(Errc::batch_size, "actions", max_batch_actions, Bound::at_most));
  const Batch one = batch_of(1);
  CHECK(one.check()->size() == 1);
  const Batch full = batch_of(max_batch_actions);
  REQUIRE(full.check());
  CHECK(full.check()->size() == max_batch_actions);
  CHECK(full.check()->back().id().str() == "pay-999");
}

TEST_CASE("a batch may be written as a list of fields, as one action, or as requests") {
  const Batch list{{.id = "a"}, {.id = "b", .payload = "x"}};
  CHECK(list.check()->size() == 2);
  const Batch doubly = {{.id = "a", .payload = "x"}};
  CHECK(doubly.check()->size() == 1);
  const Batch one = ActionFields{.id = "a"};
  CHECK(one.check()->front().id().str() == "a");
  const Batch request = ActionRequest::create({.id = "a"}).value();
  CHECK(request.check()->size() == 1);
  const Batch none = {};
  CHECK(code_of(none.check()) == Errc::batch_size);
}

TEST_CASE("a batch names one id only once") {
  CHECK(Batch{{.id = "b"}, {.id = "a"}, {.id = "c"}, {.id = "a"}}.check().error() ==
        Error(Errc::duplicate_action, {.field = "action_id", .action = "a"}));
  CHECK(Batch{{.id = "a"}, {.id = "A"}, {.id = "a "}}.check());
}

TEST_CASE("a bad member is the error of its batch, the first of them") {
  const Batch batch{{.id = "a"}, {.id = "b", .destination = "\n"}, {.id = ""}, {.id = "a"}};
  CHECK(code_of(batch.check()) == Errc::invalid_name);
  CHECK(field_of(batch.check()) == "destination");
}

TEST_CASE("results are equal if and only if every member is") {
  CHECK(result() == result());
  CHECK(result() != result(ActionState::validated));
  CHECK(result() != result(ActionState::sealed, 8));
  CHECK(to_string(result()) == "pay-17 at 7 SEALED");
}

TEST_CASE("a receipt keeps its results in order and says whether it is a replay") {
  const Committed committed({result(), result(ActionState::validated, 8)}, true);
  CHECK(committed.results()[1].position() == 8);
  CHECK(committed.replayed());
  CHECK_FALSE(committed.lease());
  CHECK(to_string(committed) == "2 actions, replayed");
  CHECK(to_string(Committed({result()}, false)) == "1 action");
  CHECK(committed != Committed({result(), result(ActionState::validated, 8)}, false));
}
