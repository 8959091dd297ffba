#include "timeline.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace wallock::test {
namespace {

using Kind = TimedCall::Kind;
using Answer = TimedCall::Answer;
using Position = std::uint64_t;
using Time = std::int64_t;

constexpr Position never = std::numeric_limits<Position>::max();

// One grant, from its record to the record that ended it or fenced its token.
struct Spell {
  Position from = 0;
  Position to = never;      // the lease ends: released, or granted to the next
  Position fenced = never;  // its token may not write any more
  Position ended = never;   // the record of its release
  Time until = 0;
  std::uint32_t caller = 0;
  std::uint64_t token = 0;
};

// The ledger, told resource by resource.
struct Spells {
  std::vector<std::vector<Spell>> of;  // of each resource, in order
  std::unordered_map<std::uint64_t, std::pair<std::uint16_t, std::size_t>> by_token;

  [[nodiscard]] const Spell* find(std::uint64_t token) const {
    const auto found = by_token.find(token);
    if (found == by_token.end()) return nullptr;
    return &of[found->second.first][found->second.second];
  }
};

void begin_spell(Spells& spells, const LedgerLine& line, Position at) {
  auto& own = spells.of[line.resource];
  if (!own.empty()) {
    own.back().to = std::min(own.back().to, at);
    own.back().fenced = std::min(own.back().fenced, at);
  }
  spells.by_token[line.token] = {line.resource, own.size()};
  own.push_back({.from = at, .until = line.until, .caller = line.caller, .token = line.token});
}

Spells tell(const std::vector<LedgerLine>& lines) {
  Spells spells;
  for (Position at = 0; at < lines.size(); ++at) {
    const LedgerLine& line = lines[at];
    if (line.resource >= spells.of.size()) spells.of.resize(line.resource + 1U);
    if (line.kind == LedgerLine::Kind::grant) begin_spell(spells, line, at);
    auto& own = spells.of[line.resource];
    if (own.empty() || own.back().token != line.token) continue;
    Spell& spell = own.back();
    if (line.kind == LedgerLine::Kind::action) spell.fenced = std::min(spell.fenced, at);
    if (line.kind == LedgerLine::Kind::ending) {
      spell.fenced = std::min(spell.fenced, at);
      spell.to = at;
      spell.ended = at;
    }
  }
  return spells;
}

// A call whose answer has a place in the ledger.
struct Placed {
  Time begun = 0;
  Time answered = 0;
  Position position = 0;
  bool wrote = false;  // the record is its own
};

std::optional<Placed> place(const TimedCall& call, const Spells& spells) {
  const auto at = [&call](Position position, bool wrote) {
    return Placed{call.begun, call.answered, position, wrote};
  };
  if (call.answer == Answer::replayed) return at(call.position, false);
  if (call.answer != Answer::done) return std::nullopt;
  if (call.kind == Kind::commit) return at(call.position, true);
  if (call.kind == Kind::read && call.position > 0) return at(call.position - 1, false);
  if (const Spell* spell = spells.find(call.token)) {
    if (call.kind == Kind::acquire) return at(spell->from, true);
    if (call.kind == Kind::release && spell->ended != never) return at(spell->ended, true);
  }
  return std::nullopt;
}

// What the store must have contained, and cannot have contained, at moments of real time.
class RealTime {
 public:
  explicit RealTime(std::vector<Placed> placed) {
    std::ranges::sort(placed, {}, &Placed::answered);
    Position highest = 0;
    for (const Placed& one : placed) {
      highest = std::max(highest, one.position);
      answered_.emplace_back(one.answered, highest);
    }
    std::ranges::sort(placed, std::ranges::greater(), &Placed::begun);
    Position lowest = never;
    for (const Placed& one : placed) {
      if (!one.wrote) continue;
      lowest = std::min(lowest, one.position);
      begun_.emplace_back(one.begun, lowest);
    }
    std::ranges::reverse(begun_);
  }

  // The highest position that somebody had been answered before.
  [[nodiscard]] Position known_before(Time time) const {
    const auto end = std::ranges::lower_bound(answered_, time, {}, &Entry::first);
    return end == answered_.begin() ? 0 : std::prev(end)->second;
  }
  // The lowest position that was written by somebody who began after.
  [[nodiscard]] Position written_after(Time time) const {
    const auto found = std::ranges::upper_bound(begun_, time, {}, &Entry::first);
    return found == begun_.end() ? never : found->second;
  }

 private:
  using Entry = std::pair<Time, Position>;
  std::vector<Entry> answered_;  // by time; the highest position so far
  std::vector<Entry> begun_;     // by time; the lowest position from there on
};

// Who asked for a resource while somebody else did.
class Askers {
 public:
  explicit Askers(const std::vector<TimedCall>& calls) {
    for (const TimedCall& call : calls) {
      if (call.kind != Kind::acquire && call.kind != Kind::commit) continue;
      if (call.resource >= of_.size()) of_.resize(call.resource + 1U);
      of_[call.resource].push_back({call.begun, call.answered});
    }
    for (auto& list : of_) {
      std::ranges::sort(list, {}, &Asked::begun);
      Time latest = 0;
      Time second = 0;
      for (Asked& asked : list) {
        second = std::max(second, std::min(latest, asked.answered));
        latest = std::max(latest, asked.answered);
        asked.second_latest = second;
      }
    }
  }

  // Of all who began before it was answered, two had not been answered when it began: itself, and
  // another.
  [[nodiscard]] bool is_not_alone(const TimedCall& call) const {
    const auto& list = of_[call.resource];
    const auto end = std::ranges::upper_bound(list, call.answered, {}, &Asked::begun);
    return end != list.begin() && std::prev(end)->second_latest >= call.begun;
  }

 private:
  struct Asked {
    Time begun = 0;
    Time answered = 0;
    Time second_latest = 0;  // answer, of those up to here
  };
  std::vector<std::vector<Asked>> of_;
};

class Judge {
 public:
  Judge(const std::vector<TimedCall>& calls, const std::vector<LedgerLine>& lines)
      : lines_(lines), spells_(tell(lines)), times_(placed(calls)), askers_(calls) {}

  // Why the answer cannot be; empty if it can.
  [[nodiscard]] std::string objection(const TimedCall& call) const {
    if (call.answer == Answer::none) return {};
    const Position known = times_.known_before(call.begun);
    const Position beyond = times_.written_after(call.answered);
    if (const auto own = place(call, spells_)) {
      if (own->wrote && own->position <= known) return "recorded before what was answered earlier";
      if (!own->wrote && own->position >= beyond) return "saw what was written later";
    }
    switch (call.kind) {
      case Kind::acquire:
        return objection_to_acquire(call, known, beyond);
      case Kind::commit:
        return objection_to_commit(call, beyond);
      case Kind::release:
        return objection_to_release(call, beyond);
      case Kind::read:
        return call.position <= known ? "did not see what was answered earlier" : std::string();
    }
    return "unknown";
  }

 private:
  [[nodiscard]] std::vector<Placed> placed(const std::vector<TimedCall>& calls) const {
    std::vector<Placed> found;
    for (const TimedCall& call : calls) {
      if (auto one = place(call, spells_)) found.push_back(*one);
    }
    return found;
  }

  // Somebody for whom `fits` had the resource at some moment of the call.
  template <class Fits>
  [[nodiscard]] bool was_held(const TimedCall& call, Position known, Position beyond,
                              Fits fits) const {
    if (call.resource >= spells_.of.size()) return false;
    const auto& own = spells_.of[call.resource];
    auto spell = std::ranges::lower_bound(own, known, {}, [](const Spell& s) { return s.to; });
    for (; spell != own.end() && spell->from < beyond; ++spell) {
      if (spell->to > known && spell->until > call.begun && fits(*spell)) return true;
    }
    return false;
  }

  [[nodiscard]] std::string objection_to_acquire(const TimedCall& call, Position known,
                                                 Position beyond) const {
    const auto is_own = [&call](const Spell& spell) { return spell.caller == call.caller; };
    switch (call.answer) {
      case Answer::done:
        return objection_to_grant(call);
      case Answer::held:
        return was_held(call, known, beyond, [&](const Spell& s) { return !is_own(s); })
                   ? ""
                   : "held, but nobody had it";
      case Answer::own:
        return was_held(call, known, beyond, is_own) ? "" : "the caller did not have it";
      case Answer::in_line:
        return askers_.is_not_alone(call) ? "" : "nobody was in line";
      default:
        return "no answer of an acquire";
    }
  }

  [[nodiscard]] std::string objection_to_grant(const TimedCall& call) const {
    const Spell* const spell = spells_.find(call.token);
    if (spell == nullptr || spell->caller != call.caller) return "granted without a record";
    return was_free(call, *spell) ? "" : "granted while another's lease lived";
  }

  // Before the call was answered, the lease before was over: by a record or by its time.
  [[nodiscard]] bool was_free(const TimedCall& call, const Spell& spell) const {
    if (call.resource >= spells_.of.size()) return false;
    const auto& own = spells_.of[call.resource];
    const auto here = std::ranges::lower_bound(own, spell.from, {}, &Spell::from);
    if (here == own.end() || here->token != spell.token) return false;  // another resource's
    if (here == own.begin()) return true;
    const Spell& before = *std::prev(here);
    return before.to < here->from || before.until <= call.answered;
  }

  [[nodiscard]] std::string objection_to_commit(const TimedCall& call, Position beyond) const {
    switch (call.answer) {
      case Answer::done:
      case Answer::replayed:
        return is_recorded(call) ? "" : "committed without a record";
      case Answer::stale: {
        const Spell* const spell = spells_.find(call.token);
        if (spell == nullptr) return "stale, but never granted";
        return spell->fenced < beyond ? "" : "stale, but the token could still write";
      }
      case Answer::held:
      case Answer::own:
      case Answer::in_line:
        return objection_to_acquire(call, times_.known_before(call.begun), beyond);
      default:
        return "no answer of a commit";
    }
  }

  // In its place, and under a token that could write.
  [[nodiscard]] bool is_recorded(const TimedCall& call) const {
    if (call.position >= lines_.size()) return false;
    const LedgerLine& line = lines_[call.position];
    const Spell* const spell = spells_.find(line.token);
    const bool is_its_token =
        call.token == 0 || call.answer == Answer::replayed || line.token == call.token;
    return line.kind == LedgerLine::Kind::action && line.action == call.action && is_its_token &&
           spell != nullptr && spell->from < call.position && spell->fenced == call.position &&
           (call.token != 0 || call.answer == Answer::replayed || was_free(call, *spell));
  }

  [[nodiscard]] std::string objection_to_release(const TimedCall& call, Position beyond) const {
    const Spell* const spell = spells_.find(call.token);
    if (spell == nullptr) return "released what was never granted";
    if (call.answer == Answer::done) {
      return spell->ended != never ? "" : "released without a record";
    }
    const bool was_over = spell->to < beyond || spell->until <= call.answered;
    return was_over ? "" : "ended, but the lease lived";
  }

  const std::vector<LedgerLine>& lines_;
  const Spells spells_;
  const RealTime times_;
  const Askers askers_;
};

std::string name_of(const TimedCall& call, std::size_t index) {
  constexpr std::string_view kinds[] = {"acquire", "commit", "release", "read"};
  return "call " + std::to_string(index) + ", " +
         std::string(kinds[static_cast<std::size_t>(call.kind)]) + " of r" +
         std::to_string(call.resource) + " by " + std::to_string(call.caller);
}

}  // namespace

std::vector<std::string> unexplained(const std::vector<TimedCall>& calls,
                                     const std::vector<LedgerLine>& lines, std::size_t most) {
  const Judge judge(calls, lines);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < calls.size() && found.size() < most; ++i) {
    const std::string objection = judge.objection(calls[i]);
    if (!objection.empty()) found.push_back(name_of(calls[i], i) + ": " + objection);
  }
  return found;
}

}  // namespace wallock::test
