#include "expectation.hpp"

#include <algorithm>
#include <utility>

namespace wallock::test {

Expectation::Expectation(StoreState first) { past_.push_back(std::move(first)); }

void Expectation::happened(StoreState next) {
  if (next.rows == now().rows && next.boot == now().boot) {
    past_.back().model = std::move(next.model);
    return;
  }
  past_.push_back(std::move(next));
}

void Expectation::may_have_happened(StoreState next) {
  if (next.rows == now().rows) return;
  open_.push_back({past_.size() - 1, std::move(next)});
}

void Expectation::keep_from(std::size_t floor) {
  past_.erase(past_.begin(), past_.begin() + static_cast<std::ptrdiff_t>(floor));
  std::erase_if(open_, [floor](const Possible& possible) { return possible.base < floor; });
  for (Possible& possible : open_)
    possible.base -= floor;
}

void Expectation::answered_from_now() {
  for (std::size_t i = past_.size() - 1; i > 0; --i) {
    if (past_[i].must_last) return keep_from(i);
  }
}

void Expectation::lasts() { keep_from(past_.size() - 1); }

void Expectation::died(int instance) {
  for (StoreState& state : past_)
    state.model.gone.insert(instance);
  for (Possible& possible : open_)
    possible.state.model.gone.insert(instance);
}

void Expectation::power_cut() { is_cut_ = true; }

StoreState Expectation::after_opening(const StoreState& state, std::uint64_t boot, Nanos moment) {
  StoreState next = state;
  next.model.now = moment;
  if (!next.exists) {
    next = StoreState{};
    next.model.now = moment;
  } else if (next.boot != boot) {
    next.model.reboot(moment);
    next.model.gone.clear();
  }
  next.boot = boot;
  next.must_last = true;
  next.rows = next.model.rows();
  return next;
}

// Everything that may be there was opened.
void Expectation::opened(std::uint64_t boot, Nanos moment) {
  if (!is_cut_) {
    const bool raises = !now().exists || now().boot != boot;
    for (Possible& possible : open_) {
      if (possible.base + 1 == past_.size())
        possible.state = after_opening(possible.state, boot, moment);
    }
    if (raises) {
      // What was possible before it is, with the epoch raised, possible after it.
      past_.push_back(after_opening(now(), boot, moment));
      for (Possible& possible : open_)
        if (possible.base + 2 == past_.size()) ++possible.base;
    }
    return;
  }
  for (StoreState& state : past_)
    state = after_opening(state, boot, moment);
  for (Possible& possible : open_)
    possible.state = after_opening(possible.state, boot, moment);
}

void Expectation::may_have_opened(std::uint64_t boot, Nanos moment) {
  std::vector<Possible> more;
  for (std::size_t i = is_cut_ ? 0 : past_.size() - 1; i < past_.size(); ++i)
    more.push_back({i, after_opening(past_[i], boot, moment)});
  for (const Possible& possible : open_) {
    if (!is_cut_ && possible.base + 1 != past_.size()) continue;
    more.push_back({possible.base, after_opening(possible.state, boot, moment)});
  }
  for (Possible& possible : more) {
    const auto same = [&](const Possible& other) {
      return other.base == possible.base && other.state.rows == possible.state.rows;
    };
    if (possible.state.rows == past_[possible.base].rows) continue;
    if (std::ranges::none_of(open_, same)) open_.push_back(std::move(possible));
  }
}

bool Expectation::seen(const std::string& rows) {
  outcome_.reset();
  const bool was_open = !open_.empty() && open_.back().base + 1 == past_.size();
  if (is_cut_) {
    const auto found = std::find_if(past_.rbegin(), past_.rend(),
                                    [&](const StoreState& state) { return state.rows == rows; });
    if (found != past_.rend()) {
      past_.erase(found.base(), past_.end());
      std::swap(past_.front(), past_.back());
      past_.resize(1);
      open_.clear();
      is_cut_ = false;
      return true;
    }
  } else if (now().rows == rows) {
    if (was_open) outcome_ = false;
    return true;
  }
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const Possible& possible) {
    return (is_cut_ || possible.base + 1 == past_.size()) && possible.state.rows == rows;
  });
  if (found == open_.rend()) return false;
  StoreState state = found->state;
  open_.erase(std::next(found).base());
  if (is_cut_) {
    past_.clear();
    open_.clear();
    is_cut_ = false;
  }
  past_.push_back(std::move(state));
  outcome_ = true;
  return true;
}

std::optional<bool> Expectation::take_outcome() { return std::exchange(outcome_, std::nullopt); }

std::string Expectation::describe() const {
  std::string words;
  for (std::size_t i = is_cut_ ? 0 : past_.size() - 1; i < past_.size(); ++i)
    words += "\n  " + past_[i].rows;
  for (const Possible& possible : open_)
    if (is_cut_ || possible.base + 1 == past_.size()) words += "\n  or " + possible.state.rows;
  return words;
}

}  // namespace wallock::test
