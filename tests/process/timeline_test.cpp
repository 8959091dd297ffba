// The checker of timelines can fail: planted wrong answers, each found in a history that is good
// without it.
#include "timeline.hpp"

#include <string>

#include "catch.hpp"

using namespace wallock::test;
using Answer = TimedCall::Answer;
using Kind = TimedCall::Kind;
using Line = LedgerLine::Kind;

namespace {

constexpr std::uint64_t first = 101;
constexpr std::uint64_t second = 104;
constexpr std::uint64_t third = 106;

// Caller 1 commits and releases; caller 2 is refused meanwhile, then has its turn, and its lease
// runs out at 100; caller 1 is granted the resource again and executes something else besides.
struct Story {
  std::vector<LedgerLine> lines{
      {},
      {.kind = Line::grant, .caller = 1, .token = first, .until = 90},
      {.kind = Line::action, .token = first, .action = 7},
      {.kind = Line::ending, .token = first},
      {.kind = Line::grant, .caller = 2, .token = second, .until = 100},
      {.kind = Line::other},
      {.kind = Line::grant, .caller = 1, .token = third, .until = 300},
      {.kind = Line::grant, .resource = 1, .caller = 2, .token = 107, .until = 300},
      {.kind = Line::action, .resource = 1, .token = 107, .action = 8},
      {.kind = Line::ending, .resource = 1, .token = 107},
  };
  TimedCall grant{.kind = Kind::acquire,
                  .answer = Answer::done,
                  .caller = 1,
                  .begun = 10,
                  .answered = 11,
                  .token = first};
  TimedCall held{
      .kind = Kind::acquire, .answer = Answer::held, .caller = 2, .begun = 12, .answered = 13};
  TimedCall own{
      .kind = Kind::acquire, .answer = Answer::own, .caller = 1, .begun = 12, .answered = 13};
  TimedCall commit{.kind = Kind::commit,
                   .answer = Answer::done,
                   .caller = 1,
                   .begun = 14,
                   .answered = 16,
                   .token = first,
                   .position = 2,
                   .action = 7};
  TimedCall release{.kind = Kind::release,
                    .answer = Answer::done,
                    .caller = 1,
                    .begun = 17,
                    .answered = 18,
                    .token = first};
  TimedCall read{
      .kind = Kind::read, .answer = Answer::done, .begun = 19, .answered = 20, .position = 4};
  TimedCall next{.kind = Kind::acquire,
                 .answer = Answer::done,
                 .caller = 2,
                 .begun = 21,
                 .answered = 24,
                 .token = second};
  TimedCall in_line{
      .kind = Kind::acquire, .answer = Answer::in_line, .caller = 3, .begun = 22, .answered = 23};
  TimedCall stale{.kind = Kind::commit,
                  .answer = Answer::stale,
                  .caller = 1,
                  .begun = 25,
                  .answered = 26,
                  .token = first,
                  .action = 9};
  TimedCall replay{.kind = Kind::commit,
                   .answer = Answer::replayed,
                   .caller = 1,
                   .begun = 25,
                   .answered = 26,
                   .token = first,
                   .position = 2,
                   .action = 7};
  TimedCall again{.kind = Kind::acquire,
                  .answer = Answer::done,
                  .caller = 1,
                  .begun = 98,
                  .answered = 110,
                  .token = third};
  TimedCall ended{.kind = Kind::release,
                  .answer = Answer::ended,
                  .caller = 2,
                  .begun = 111,
                  .answered = 112,
                  .token = second};
  TimedCall execute{.kind = Kind::commit,
                    .answer = Answer::done,
                    .resource = 1,
                    .caller = 2,
                    .begun = 113,
                    .answered = 114,
                    .position = 8,
                    .action = 8};

  // What the checker says.
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const auto& one : unexplained({grant, held, own, commit, release, read, next, in_line,
                                        stale, replay, again, ended, execute},
                                       lines)) {
      all += one + "\n";
    }
    return all;
  }
  [[nodiscard]] bool says(const std::string& words) const {
    INFO(text());
    const bool found = text().find(words) != std::string::npos;
    CHECK(found);
    return found;
  }
};

}  // namespace

TEST_CASE("timeline: a good history is explained") { CHECK(Story().text().empty()); }

TEST_CASE("timeline: a refusal while nobody held the resource is found") {
  Story story;
  SECTION("before it was granted") {
    story.held.begun = 5;
    story.held.answered = 6;
  }
  SECTION("after it was released") {
    story.held.begun = 19;
    story.held.answered = 20;
  }
  SECTION("after the lease had run out") { story.lines[1].until = 11; }
  SECTION("by the caller itself") { story.held.caller = 1; }
  CHECK(story.says("held, but nobody had it"));
}

TEST_CASE("timeline: a refusal of a token that could still write is found") {
  Story story;
  story.stale.token = third;
  story.stale.begun = 120;
  story.stale.answered = 121;
  CHECK(story.says("stale, but the token could still write"));
}

TEST_CASE("timeline: a read that misses what was answered before is found") {
  Story story;
  story.read.position = 3;
  CHECK(story.says("did not see what was answered earlier"));
}

TEST_CASE("timeline: an answer that another order of the ledger would explain is found") {
  Story story;
  SECTION("a grant that was recorded before what was answered earlier") {
    story.grant.begun = 40;
    story.grant.answered = 41;
    CHECK(story.says("recorded before what was answered earlier"));
  }
  SECTION("a replay of what was recorded later") {
    story.replay.begun = 12;
    story.replay.answered = 13;
    CHECK(story.says("saw what was written later"));
  }
  SECTION("a read of what was written later") {
    story.read.position = 7;
    CHECK(story.says("saw what was written later"));
  }
}

TEST_CASE("timeline: a grant while another's lease lived is found") {
  Story story;
  SECTION("by acquire") { story.again.answered = 99; }
  SECTION("by acquire, of a lease that lasts longer") { story.lines[4].until = 200; }
  CHECK(story.says("granted while another's lease lived"));
}

TEST_CASE("timeline: answers without their record are found") {
  Story story;
  SECTION("a grant") {
    story.next.token = 999;
    CHECK(story.says("granted without a record"));
  }
  SECTION("a grant that the ledger gives somebody else") {
    story.lines[4].caller = 3;
    CHECK(story.says("granted without a record"));
  }
  SECTION("a commit") {
    story.lines[2].action = 70;
    CHECK(story.says("committed without a record"));
  }
  SECTION("a commit under a token that a later grant had fenced") {
    std::swap(story.lines[5], story.lines[2]);
    story.commit.position = 5;
    story.commit.begun = 60;
    story.commit.answered = 61;
    CHECK(story.says("committed without a record"));
  }
  SECTION("an execute of a resource that was not free") {
    story.lines[5] = {.kind = Line::grant, .resource = 1, .caller = 3, .token = 105, .until = 200};
    CHECK(story.says("committed without a record"));
  }
  SECTION("a release") {
    story.lines[3] = {};
    CHECK(story.says("released without a record"));
  }
  SECTION("a release that was too late for a lease that lived") {
    story.ended.begun = 50;
    story.ended.answered = 51;
    story.again.begun = 105;
    CHECK(story.says("ended, but the lease lived"));
  }
  SECTION("a line in which nobody waited") {
    story.in_line.begun = 50;
    story.in_line.answered = 51;
    CHECK(story.says("nobody was in line"));
  }
  SECTION("a lease that the caller did not have") {
    story.own.caller = 2;
    CHECK(story.says("the caller did not have it"));
  }
}
