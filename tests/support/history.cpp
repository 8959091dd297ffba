#include "history.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "wallock/token.hpp"

namespace wallock::test {
namespace {

using Answer = Attempt::Answer;
using Found = std::vector<Violation>;
using Kind = Violation::Kind;

bool is_commit(const Attempt& attempt) {
  return attempt.kind == Attempt::Kind::commit || attempt.kind == Attempt::Kind::execute;
}

std::string name_of(const Attempt& attempt) {
  return attempt.worker + " " + attempt.resource + " " + attempt.action + " token " +
         std::to_string(attempt.token);
}

std::string name_of(const Record& record) {
  return "record " + std::to_string(record.position) + " " + record.resource + " " + record.action +
         " token " + std::to_string(record.token);
}

// What the records so far say about a resource.
struct Fence {
  std::uint64_t granted = 0;  // the latest grant
  std::uint64_t closed = 0;   // the highest token committed or ended
};

// The ledger alone: positions, tokens, and that every action was recorded under a token that could
// still write.
void check_records(const History& history, Found& found) {
  std::map<std::string, Fence> fences;
  std::uint64_t highest = 0;
  std::uint64_t next = 0;
  for (const Record& record : history.records) {
    if (record.position != next) found.push_back({Kind::gap, name_of(record)});
    next = record.position + 1;
    Fence& fence = fences[record.resource];
    if (record.kind == Record::Kind::grant) {
      const bool rises = record.token > highest;
      const bool names_its_place = (record.token & FencingToken::max_position) == record.position;
      if (!rises || !names_its_place) found.push_back({Kind::token, name_of(record)});
      highest = std::max(highest, record.token);
      fence.granted = record.token;
    } else if (record.kind == Record::Kind::action) {
      if (record.token != fence.granted || record.token <= fence.closed) {
        found.push_back({Kind::stale, name_of(record)});
      }
      fence.closed = std::max(fence.closed, record.token);
    } else if (record.kind == Record::Kind::ending) {
      fence.closed = std::max(fence.closed, record.token);
    }
  }
}

// Every token answered to a worker was answered once, and is a grant in the ledger.
void check_grants(const History& history, Found& found) {
  std::set<std::pair<std::uint64_t, std::string>> granted;
  for (const Record& record : history.records) {
    if (record.kind == Record::Kind::grant) granted.emplace(record.token, record.resource);
  }
  std::set<std::uint64_t> answered;
  for (const Attempt& attempt : history.attempts) {
    if (attempt.granted == 0) continue;
    const bool first = answered.insert(attempt.granted).second;
    if (!first || !granted.contains({attempt.granted, attempt.resource})) {
      found.push_back(
          {Kind::token, name_of(attempt) + " was granted " + std::to_string(attempt.granted)});
    }
  }
}

// All that is known about one action.
struct ActionStory {
  std::vector<const Attempt*> attempts = {};
  std::vector<const Record*> records = {};
  std::vector<const Increment*> increments = {};
};

std::map<std::string, ActionStory> stories(const History& history) {
  std::map<std::string, ActionStory> found;
  for (const Attempt& attempt : history.attempts) {
    if (is_commit(attempt)) found[attempt.action].attempts.push_back(&attempt);
  }
  for (const Record& record : history.records) {
    if (record.kind == Record::Kind::action) found[record.action].records.push_back(&record);
  }
  for (const Increment& increment : history.increments)
    found[increment.action].increments.push_back(&increment);
  for (auto& [id, story] : found) {
    std::ranges::stable_sort(story.attempts, {}, [](const Attempt* a) { return a->begun; });
  }
  return found;
}

// True if this answer is what the ledger has.
bool matches(const Attempt& attempt, const Record& record) {
  return record.position == attempt.position && record.resource == attempt.resource &&
         (attempt.kind == Attempt::Kind::execute || attempt.answer == Answer::replayed ||
          record.token == attempt.token);
}

void check_answers(const std::string& id, const ActionStory& story, Found& found) {
  for (const Attempt* attempt : story.attempts) {
    if (attempt->answer != Answer::done && attempt->answer != Answer::replayed) continue;
    const auto here = [&](const Record* record) { return matches(*attempt, *record); };
    if (std::ranges::none_of(story.records, here)) {
      found.push_back({Kind::missing_record, name_of(*attempt)});
    }
  }
  if (story.records.empty()) return;
  // A refusal is final: had the action been recorded before, it would have been a replay.
  if (story.attempts.empty() || story.attempts.back()->answer == Answer::refused) {
    found.push_back({Kind::false_record, id + ": " + name_of(*story.records.front())});
  }
}

void check_story(const std::string& id, const ActionStory& story, Found& found) {
  if (story.records.size() > 1) found.push_back({Kind::repeated_action, id});
  check_answers(id, story, found);
  if (story.increments.size() != story.records.size()) {
    found.push_back({Kind::increments, id + ": " + std::to_string(story.increments.size()) +
                                           " increments, " + std::to_string(story.records.size()) +
                                           " records"});
  } else if (!story.records.empty() &&
             story.increments.front()->token != story.records.front()->token) {
    found.push_back({Kind::increments, id + ": written under another token than recorded"});
  }
}

// Each increment read the value that the one before it wrote: 1, 2, 3, ... up to the counter.
void check_counters(const History& history, Found& found) {
  std::map<std::string, std::int64_t> values;
  for (const Increment& increment : history.increments) {
    std::int64_t& value = values[increment.resource];
    ++value;
    if (increment.value != value) {
      found.push_back({Kind::lost_update, increment.resource + ": increment " +
                                              std::to_string(value) + " wrote " +
                                              std::to_string(increment.value)});
      value = increment.value;
    }
  }
  for (const auto& [resource, counter] : history.counters) {
    const auto mine = [&](const Increment& increment) { return increment.resource == resource; };
    const auto rows = std::ranges::count_if(history.increments, mine);
    if (rows != counter) {
      found.push_back({Kind::lost_update, resource + ": " + std::to_string(rows) +
                                              " increments, counter " + std::to_string(counter)});
    }
  }
}

// A change that a worker was told of, or that the ledger shows it made.
struct Event {
  std::int64_t begun = 0;
  std::int64_t answered = 0;
  std::uint64_t position = 0;
  const Attempt* attempt = nullptr;
};

std::vector<Event> events(const History& history) {
  std::map<std::string, std::uint64_t> recorded;
  for (const Record& record : history.records) {
    if (record.kind == Record::Kind::action) recorded[record.action] = record.position;
  }
  std::map<std::string, std::int64_t> first_begun;
  for (const Attempt& attempt : history.attempts) {
    const auto [first, is_new] = first_begun.try_emplace(attempt.action, attempt.begun);
    if (!is_new) first->second = std::min(first->second, attempt.begun);
  }
  std::vector<Event> found;
  for (const Attempt& attempt : history.attempts) {
    Event event{.begun = attempt.begun, .answered = attempt.answered, .attempt = &attempt};
    if (attempt.answer == Answer::done && attempt.kind == Attempt::Kind::acquire) {
      event.position = attempt.granted & FencingToken::max_position;
    } else if (attempt.answer == Answer::done && is_commit(attempt)) {
      event.position = attempt.position;
    } else if (attempt.answer == Answer::none && recorded.contains(attempt.action) &&
               attempt.begun == first_begun[attempt.action]) {
      // It did it, or one that repeated it later.
      event.position = recorded[attempt.action];
      event.answered = std::numeric_limits<std::int64_t>::max();
    } else {
      continue;
    }
    found.push_back(event);
  }
  return found;
}

// Linear in real time: what begins after an answer is recorded after what was answered.
void check_order(const History& history, Found& found) {
  std::vector<Event> by_begin = events(history);
  std::vector<Event> by_answer = by_begin;
  std::ranges::sort(by_begin, {}, &Event::begun);
  std::ranges::sort(by_answer, {}, &Event::answered);
  std::uint64_t latest = 0;
  auto answered = by_answer.begin();
  for (const Event& event : by_begin) {
    for (; answered != by_answer.end() && answered->answered < event.begun; ++answered)
      latest = std::max(latest, answered->position);
    if (event.position <= latest) {
      found.push_back({Kind::order, name_of(*event.attempt) + ": recorded at " +
                                        std::to_string(event.position) + ", begun after " +
                                        std::to_string(latest) + " was answered"});
    }
  }
}

}  // namespace

std::string_view to_string(Violation::Kind kind) noexcept {
  switch (kind) {
    case Kind::gap:
      return "gap";
    case Kind::token:
      return "token";
    case Kind::stale:
      return "stale commit accepted";
    case Kind::repeated_action:
      return "repeated action";
    case Kind::missing_record:
      return "missing record";
    case Kind::false_record:
      return "false record";
    case Kind::increments:
      return "increments";
    case Kind::lost_update:
      return "lost update";
    case Kind::order:
      return "order";
    case Kind::broken:
      return "broken";
  }
  return "unknown";
}

std::vector<Violation> violations(const History& history) {
  Found found;
  for (const Attempt& attempt : history.attempts) {
    if (attempt.answer == Answer::broken) {
      found.push_back({Kind::broken, name_of(attempt) + ": " + attempt.error});
    }
  }
  check_records(history, found);
  check_grants(history, found);
  for (const auto& [id, story] : stories(history))
    check_story(id, story, found);
  check_counters(history, found);
  check_order(history, found);
  return found;
}

}  // namespace wallock::test
