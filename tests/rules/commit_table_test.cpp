// The decision of a commit in every combination of what it depends on, told twice: by the rule, and
// by the table below in words of its own.
#include <string>
#include <utility>
#include <vector>

#include "rules_support.hpp"
#include "wallock/rules/lease_rules.hpp"

using namespace wallock;
using namespace wallock::test;
using rules::CommitCommand;
using rules::Moment;
using rules::ResourceState;
using rules::Tenure;

namespace {

// What a factor of the table is in one combination: for the rule, and for the table.
template <class T, class Meaning>
struct Case {
  std::string name;
  T value;
  Meaning meaning;
};

enum class Row : std::uint8_t { illegal, closed, not_closed };
enum class Owner : std::uint8_t { nobody, committer, somebody_else };
enum class Room : std::uint8_t { enough, used_up, gone_back };

// The resource's latest token is 500.
const std::vector<Case<FencingToken, std::uint64_t>> tokens{
    {"no token", FencingToken(), 0},
    {"token 498", token(498), 498},
    {"token 499", token(499), 499},
    {"token 500", token(500), 500},
    {"token 501, never issued", token(501), 501}};
const std::vector<Case<FencingToken, std::uint64_t>> fences{
    {"fence 0", FencingToken(), 0}, {"fence 499", token(499), 499}, {"fence 500", token(500), 500}};
const std::vector<Case<std::uint64_t, bool>> epochs{{"same epoch", epoch, false},
                                                    {"later epoch", epoch + 1, true}};
// Where the next record lies; three actions come before a kept lease's grant.
const std::vector<Case<std::uint64_t, Room>> positions{
    {"room", 1000, Room::enough},
    {"number line used up", FencingToken::max_position - 2, Room::used_up},
    {"number line gone back", 497, Room::gone_back}};

std::vector<Case<std::optional<BreakerRow>, Row>> breakers() {
  std::vector<Case<std::optional<BreakerRow>, Row>> all{
      {"closed", BreakerRow{}, Row::closed},
      {"open", open_row(), Row::not_closed},
      {"forced", forced_row(), Row::not_closed},
      {"probing", probing_row(), Row::not_closed}};
  for (const auto& row : illegal_rows())
    all.push_back({"illegal " + std::to_string(all.size()), row, Row::illegal});
  return all;
}

std::vector<Case<std::optional<Tenure>, Owner>> tenures() {
  const Tenure mine{holder(), first_instance, boot(90s), boot(120s)};
  Tenure expired = mine;
  expired.expires_at = boot(95s);
  Tenure other_holder = mine;
  other_holder.holder = holder("ben");
  Tenure other_instance = mine;
  other_instance.instance = second_instance;
  Tenure other_expired = other_holder;
  other_expired.expires_at = boot(95s);
  return {{"no lease", std::nullopt, Owner::nobody},
          {"my lease", mine, Owner::committer},
          {"my lease, expired", expired, Owner::committer},
          {"another holder's lease", other_holder, Owner::somebody_else},
          {"another instance's lease", other_instance, Owner::somebody_else},
          {"another holder's lease, expired", other_expired, Owner::somebody_else}};
}

struct Combination {
  Case<FencingToken, std::uint64_t> token;
  Case<FencingToken, std::uint64_t> fence;
  Case<std::uint64_t, bool> epoch;
  Case<std::uint64_t, Room> position;
  Case<std::optional<BreakerRow>, Row> breaker;
  Case<std::optional<Tenure>, Owner> tenure;
  AfterCommit after;
};

// The table, from the top: the first row that fits answers. Empty: ALLOW.
std::optional<Errc> expected(const Combination& in) {
  if (in.token.meaning == 0) return Errc::invalid_token;
  if (in.token.meaning > 500) return Errc::unknown_token;
  if (in.breaker.meaning == Row::illegal) return Errc::breaker_illegal;
  if (in.breaker.meaning == Row::not_closed) return Errc::breaker_open;
  if (in.epoch.meaning || in.token.meaning <= in.fence.meaning) return Errc::stale_token;
  if (in.tenure.meaning == Owner::somebody_else) return Errc::unknown_token;
  if (in.after != AfterCommit::keep || in.position.meaning == Room::enough) return std::nullopt;
  return in.position.meaning == Room::used_up ? Errc::invalid_token : Errc::invariant_violated;
}

std::string told(std::optional<Errc> refused) {
  return refused ? std::string(to_string(*refused)) : "ALLOW";
}

std::string name(const Combination& in) {
  return in.token.name + ", " + in.fence.name + ", " + in.epoch.name + ", " + in.position.name +
         ", " + in.breaker.name + ", " + in.tenure.name + ", after " +
         std::to_string(static_cast<int>(in.after));
}

// What is wrong with the decision; empty if nothing is.
std::string fault(const Combination& in) {
  const ResourceState state{.max_fence = in.fence.value,
                            .issued = token(500),
                            .tenure = in.tenure.value,
                            .breaker = in.breaker.value};
  const CommitCommand command{.resource = resource(),
                              .token = in.token.value,
                              .holder = holder(),
                              .instance = first_instance,
                              .after = in.after,
                              .ttl = 40s,
                              .actions = 3};
  const Moment moment{boot(100s), in.epoch.value, in.position.value};
  const auto decision = rules::decide_commit(state, command, moment);
  if (refusal(decision) != expected(in)) {
    return name(in) + ": " + told(refusal(decision)) + " instead of " + told(expected(in));
  }
  if (!decision) return {};
  const ResourceState& next = decision->change.next;
  if (next.max_fence < command.token) return name(in) + ": may write again";
  if (next.breaker != state.breaker) return name(in) + ": moved the breaker";
  if (decision->next_token.has_value() != (in.after == AfterCommit::keep)) {
    return name(in) + ": a token that was not asked for, or none";
  }
  return {};
}

template <class Visit>
void for_each_combination(const Visit& visit) {
  const auto all_breakers = breakers();
  const auto all_tenures = tenures();
  for (const auto& token : tokens)
    for (const auto& fence : fences)
      for (const auto& of_epoch : epochs)
        for (const auto& position : positions)
          for (const auto& breaker : all_breakers)
            for (const auto& tenure : all_tenures)
              for (const auto after :
                   {AfterCommit::nothing, AfterCommit::keep, AfterCommit::release})
                visit({token, fence, of_epoch, position, breaker, tenure, after});
}

}  // namespace

TEST_CASE("INV-01 INV-05 every combination of a commit is decided as the table says") {
  std::vector<std::string> faults;
  std::size_t seen = 0;
  std::size_t allowed = 0;
  for_each_combination([&](const Combination& combination) {
    ++seen;
    if (!expected(combination)) ++allowed;
    if (auto found = fault(combination); !found.empty() && faults.size() < 10) {
      faults.push_back(std::move(found));
    }
  });
  CHECK(faults == std::vector<std::string>());
  CHECK(seen == std::size_t{5} * 3 * 2 * 3 * 18 * 6 * 3);
  // Tokens 498, 499 and 500 above the fence 0 and 500 above 499, closed, same epoch, three tenures:
  // with keep where there is room, without at all three positions.
  CHECK(allowed == std::size_t{4} * 3 * (1 + 2 * 3));
}
