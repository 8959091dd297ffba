// The checker of histories can fail: one planted fault each, in a history that is good without it.
#include <string>

#include "catch.hpp"
#include "history.hpp"
#include "wallock/token.hpp"

using namespace wallock::test;
using Answer = Attempt::Answer;
using Kind = Violation::Kind;

namespace {

constexpr std::uint64_t token_at(std::uint64_t position) {
  return wallock::FencingToken::of(1, position)->value();
}

constexpr std::uint64_t first = token_at(1);
constexpr std::uint64_t second = token_at(3);
constexpr std::uint64_t third = token_at(7);

// length-ok: one call after the other
std::vector<Attempt> good_attempts() {
  using K = Attempt::Kind;
  return {
      {.worker = "a",
       .kind = K::acquire,
       .resource = "r",
       .begun = 1,
       .answered = 2,
       .answer = Answer::done,
       .granted = first},
      {.worker = "a",
       .kind = K::commit,
       .resource = "r",
       .action = "a1",
       .token = first,
       .begun = 3,
       .answered = 4,
       .answer = Answer::done,
       .position = 2},
      {.worker = "a",
       .kind = K::commit,
       .resource = "r",
       .action = "a2",
       .token = first,
       .begun = 9,
       .answered = 10,
       .answer = Answer::refused,
       .error = "stale_token"},
      {.worker = "b",
       .kind = K::acquire,
       .resource = "r",
       .begun = 5,
       .answered = 6,
       .answer = Answer::done,
       .granted = second},
      {.worker = "b",
       .kind = K::commit,
       .resource = "r",
       .action = "b1",
       .token = second,
       .begun = 7,
       .answered = 8,
       .answer = Answer::done,
       .position = 4},
      {.worker = "b",
       .kind = K::release,
       .resource = "r",
       .token = second,
       .begun = 11,
       .answered = 12,
       .answer = Answer::done},
      {.worker = "b",
       .kind = K::acquire,
       .resource = "s",
       .begun = 13,
       .answered = 14,
       .answer = Answer::done,
       .granted = token_at(6)},
      {.worker = "c",
       .kind = K::acquire,
       .resource = "r",
       .begun = 15,
       .answered = 16,
       .answer = Answer::done,
       .granted = third},
      // Killed before it was answered; it did land.
      {.worker = "c",
       .kind = K::commit,
       .resource = "r",
       .action = "c1",
       .token = third,
       .begun = 17},
  };
}

// Workers a and b take turns: grants at 1, 3, 7, actions at 2, 4, 8, endings at 5, 9, and at 6 the
// grant of another resource. A commit of a's under its first token is refused.
History good() {
  History history{.attempts = good_attempts()};
  using R = Record::Kind;
  history.records = {{.position = 0},
                     {1, R::grant, "r", "", first},
                     {2, R::action, "r", "a1", first},
                     {3, R::grant, "r", "", second},
                     {4, R::action, "r", "b1", second},
                     {5, R::ending, "r", "", second},
                     {6, R::grant, "s", "", token_at(6)},
                     {7, R::grant, "r", "", third},
                     {8, R::action, "r", "c1", third},
                     {9, R::ending, "r", "", third}};
  history.increments = {{"a1", "r", 1, first}, {"b1", "r", 2, second}, {"c1", "r", 3, third}};
  history.counters = {{"r", 3}, {"s", 0}};
  return history;
}

bool finds(const History& history, Kind kind) {
  for (const Violation& violation : violations(history)) {
    if (violation.kind == kind) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("history checker: a good history has no violation") {
  for (const Violation& violation : violations(good()))
    FAIL_CHECK(to_string(violation.kind) << ": " << violation.text);
}

TEST_CASE("history checker: a repetition that was never answered is no violation") {
  History history = good();
  Attempt late = history.attempts[1];
  late.begun = 20;
  late.answered = 0;
  late.answer = Answer::none;
  history.attempts.push_back(late);
  for (const Violation& violation : violations(history))
    FAIL_CHECK(to_string(violation.kind) << ": " << violation.text);
}

TEST_CASE("history checker: a planted fault in the ledger is found") {
  History history = good();
  SECTION("a token that repeats") {
    history.records[3].token = history.records[1].token;
    CHECK(finds(history, Kind::token));
  }
  SECTION("a token that falls") {
    std::swap(history.records[1].token, history.records[3].token);
    CHECK(finds(history, Kind::token));
  }
  SECTION("a grant that is not at its token's position") {
    history.records[6].token += 1;
    CHECK(finds(history, Kind::token));
  }
  SECTION("a commit under a token that a newer grant fenced") {
    history.records[4].token = history.records[1].token;
    CHECK(finds(history, Kind::stale));
  }
  SECTION("a second commit under one token") {
    history.records[5] = {5, Record::Kind::action, "r", "b2", history.records[4].token};
    CHECK(finds(history, Kind::stale));
  }
  SECTION("a commit after the release of its token") {
    std::swap(history.records[8].kind, history.records[9].kind);
    CHECK(finds(history, Kind::stale));
  }
  SECTION("an action that is recorded twice") {
    history.records[8].action = "b1";
    CHECK(finds(history, Kind::repeated_action));
  }
  SECTION("a record that is gone") {
    history.records.erase(history.records.begin() + 5);
    CHECK(finds(history, Kind::gap));
  }
}

TEST_CASE("history checker: a planted fault between answers and the ledger is found") {
  History history = good();
  SECTION("a token that two workers were granted") {
    history.attempts[3].granted = history.attempts[0].granted;
    CHECK(finds(history, Kind::token));
  }
  SECTION("a token that the ledger does not have") {
    history.attempts[6].granted = token_at(10);
    CHECK(finds(history, Kind::token));
  }
  SECTION("an acknowledged commit without a record") {
    history.records[4].kind = Record::Kind::other;
    CHECK(finds(history, Kind::missing_record));
  }
  SECTION("an acknowledged commit that is recorded elsewhere") {
    history.attempts[4].position = 8;
    CHECK(finds(history, Kind::missing_record));
  }
  SECTION("an acknowledged commit that is recorded under another token") {
    history.attempts[4].token = token_at(1);
    CHECK(finds(history, Kind::missing_record));
  }
  SECTION("a record for an action that was refused") {
    history.attempts[4].answer = Answer::refused;
    CHECK(finds(history, Kind::false_record));
  }
  SECTION("a record for an action that nobody asked for") {
    history.records[8].action = "d1";
    CHECK(finds(history, Kind::false_record));
  }
  SECTION("a replay that answers another receipt") {
    history.attempts[8].answer = Answer::replayed;
    history.attempts[8].position = 4;
    CHECK(finds(history, Kind::missing_record));
  }
  SECTION("a commit that began after a later record was answered") {
    history.attempts[1].begun = 20;
    history.attempts[1].answered = 21;
    CHECK(finds(history, Kind::order));
  }
  SECTION("an error that a healthy store never gives") {
    history.attempts[2].answer = Answer::broken;
    CHECK(finds(history, Kind::broken));
  }
}

TEST_CASE("history checker: a planted fault in the application's rows is found") {
  History history = good();
  SECTION("work that ran twice") {
    history.increments.push_back(history.increments[2]);
    CHECK(finds(history, Kind::increments));
  }
  SECTION("work of an acknowledged commit that is gone") {
    history.increments.erase(history.increments.begin() + 1);
    CHECK(finds(history, Kind::increments));
  }
  SECTION("work of a refused commit that stayed") {
    history.increments.push_back({"a2", "r", 4, token_at(1)});
    CHECK(finds(history, Kind::increments));
  }
  SECTION("work that saw another token than was recorded") {
    history.increments[0].token = token_at(3);
    CHECK(finds(history, Kind::increments));
  }
  SECTION("a counter that fell behind its increments") {
    history.counters["r"] = 2;
    CHECK(finds(history, Kind::lost_update));
  }
  SECTION("an increment that overwrote another") {
    history.increments[1].value = 1;
    CHECK(finds(history, Kind::lost_update));
  }
}

TEST_CASE("history log: what is written is read again, but for a last line that was cut short") {
  const Attempt begun{.worker = "w",
                      .kind = Attempt::Kind::commit,
                      .resource = "r",
                      .action = "a",
                      .token = 7,
                      .holder = "v",
                      .instance = 18446744073709551615u,
                      .value = -3,
                      .begun = 11};
  Attempt done = begun;
  done.answered = 12;
  done.answer = Answer::refused;
  done.position = 5;
  done.granted = 9;
  done.error = "stale_token";
  const std::string text = log_line(begun) + log_line(done) + log_line(begun) + "1 r";
  std::vector<Attempt> attempts;
  read_log("w", text, attempts);
  REQUIRE(attempts.size() == 2);
  CHECK(log_line(attempts[0]) == log_line(done));
  CHECK(log_line(attempts[1]) == log_line(begun));
  CHECK(attempts[0].worker == "w");
}
