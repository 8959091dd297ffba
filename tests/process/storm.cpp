#include "storm.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "child_process.hpp"
#include "storm_ground.hpp"

namespace wallock::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

// Waits until `is_so`, looking again and again.
template <class Predicate>
bool await(SteadyClock::duration bound, Predicate is_so) {
  const auto end = SteadyClock::now() + bound;
  while (!is_so()) {
    if (SteadyClock::now() >= end) return false;
    std::this_thread::sleep_for(microseconds(50));
  }
  return true;
}

}  // namespace

std::string_view to_string(Phase phase) noexcept {
  constexpr std::array<std::string_view, phases> names{
      "starting",   "migrate", "open",  "acquire", "commit", "turnstile",
      "checkpoint", "release", "claim", "settle",  "rest"};
  return names[static_cast<std::size_t>(phase)];
}

Storm::Storm(const StormSettings& settings, unsigned seed) : settings_(settings), random_(seed) {}

Storm::~Storm() = default;

Fork Storm::start(std::size_t slot) {
  const std::uint32_t life = lives_++;
  const unsigned seed = static_cast<unsigned>(random_());
  ground_->places[slot].phase = Phase::starting;
  return Fork([this, slot, life, seed] {
    return live_in_storm(*ground_, database(), settings_, slot, life, seed);
  });
}

bool Storm::is_in(std::size_t slot, Phase wanted) {
  const Phase phase = ground_->places[slot].phase;
  if (wanted == Phase::turnstile) return phase == Phase::commit && workers_[slot].is_asleep();
  return phase == wanted;
}

// Somebody in the phase that it is the turn of, or anybody where nobody comes there soon.
std::size_t Storm::find_victim() {
  constexpr std::array<Phase, 12> wanted{Phase::open,      Phase::open,      Phase::acquire,
                                         Phase::acquire,   Phase::commit,    Phase::commit,
                                         Phase::turnstile, Phase::turnstile, Phase::release,
                                         Phase::claim,     Phase::settle,    Phase::checkpoint};
  const Phase phase = wanted[random(wanted.size())];
  const std::size_t first = random(static_cast<unsigned>(workers_.size()));
  const bool has_large = phase == Phase::checkpoint && random(3) == 0;
  if (has_large) ground_->places[first].shall_checkpoint = true;
  std::size_t found = first;
  static_cast<void>(await(milliseconds(has_large ? 200 : 3), [&] {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const std::size_t slot = (first + i) % workers_.size();
      if (!is_in(slot, phase)) continue;
      found = slot;
      return true;
    }
    return false;
  }));
  return found;
}

void Storm::kill(std::size_t slot) {
  const bool asleep = is_in(slot, Phase::turnstile);
  workers_[slot].kill();
  const Phase phase = ground_->places[slot].phase;
  const bool waited = asleep && phase == Phase::commit;
  ++killed_[static_cast<std::size_t>(waited ? Phase::turnstile : phase)];
}

// An operation that somebody else begins from now on comes to its end.
bool Storm::others_go_on(std::size_t dead) {
  std::array<std::uint32_t, storm_processes> begun{};
  for (std::size_t i = 0; i < workers_.size(); ++i)
    begun[i] = ground_->places[i].begun;
  return await(patience, [&] {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (i != dead && ground_->places[i].done > begun[i]) return true;
    }
    return ground_->broken != 0;
  });
}

std::vector<std::string> Storm::rage() {
  std::vector<std::string> wrong;
  for (std::size_t i = 0; i < settings_.processes; ++i)
    workers_.push_back(start(i));
  // The first ones die before there is a store.
  const std::uint64_t early = random(8);
  for (std::uint64_t i = 0; i < settings_.kills && wrong.empty(); ++i) {
    const bool is_early = i < early && !ground_->has_schema;
    const std::size_t victim =
        is_early ? random(static_cast<unsigned>(workers_.size())) : find_victim();
    std::this_thread::sleep_for(microseconds(random(is_early ? 4000 : 250)));
    kill(victim);
    workers_[victim] = start(victim);
    if (!is_early && !others_go_on(victim)) wrong.emplace_back("others do not go on");
  }
  end_all();
  if (ground_->broken != 0) wrong.push_back(std::string("answered: ") + ground_->answer.data());
  return wrong;
}

void Storm::end_all() {
  const bool kills = random(2) == 0;
  if (!kills) ground_->over = true;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (kills) {
      kill(i);
    } else if (workers_[i].wait() != 0 && ground_->broken == 0) {
      ++ground_->broken;
    }
  }
  workers_.clear();
}

std::uint64_t Storm::commits() const {
  std::uint64_t sum = 0;
  for (std::uint32_t life = 0; life < lives_; ++life)
    sum += ground_->lives[life].acknowledged;
  return sum;
}

}  // namespace wallock::test
