// Turns: peers measured by turns, in rounds, each figure the median of the rounds.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "peer.hpp"
#include "support/crowd.hpp"
#include "support/rows.hpp"

namespace wallock::bench {

// What one turn of one peer yields.
struct Reading {
  const char* figure;
  const char* unit;
  double value;
};

// Times that a child process takes for its parent; what does not fit is left out.
class SharedTimes {
 public:
  explicit SharedTimes(std::size_t most) : times_(most) {}
  void add(std::int64_t nanoseconds) {
    if (*count_ < times_.size()) times_[(*count_)++] = nanoseconds;
  }
  [[nodiscard]] std::vector<double> microseconds() const {
    std::vector<double> all;
    for (std::size_t i = 0; i < count_[0]; ++i)
      all.push_back(static_cast<double>(times_[i]) / 1000);
    return all;
  }

 private:
  Shared<std::int64_t> times_;
  Shared<std::size_t> count_;
};

// Every peer that `takes_part` has a turn per round, and one more at first that is not counted.
[[nodiscard]] inline std::vector<Row> take_turns(
    const std::string& name, const std::vector<Peer>& peers, std::size_t rounds,
    const std::function<bool(const Peer&)>& takes_part,
    const std::function<std::vector<Reading>(const Peer&)>& turn) {
  struct Figure {
    std::string unit;
    std::vector<double> values;
  };
  std::map<std::pair<std::string, std::string>, Figure> figures;
  std::vector<std::string> order;
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (const Peer& peer : peers) {
      if (!peer.skipped.empty() || !takes_part(peer)) continue;
      for (const Reading& reading : turn(peer)) {
        if (round == 0) {
          if (peer.name == peers.front().name) order.emplace_back(reading.figure);
          continue;
        }
        Figure& figure = figures[{reading.figure, peer.name}];
        figure.unit = reading.unit;
        figure.values.push_back(reading.value);
      }
    }
  }
  std::vector<Row> rows;
  for (const std::string& figure : order)
    for (const Peer& peer : peers)
      if (const auto found = figures.find({figure, peer.name}); found != figures.end())
        rows.push_back(row_of_rounds(name + "/" + figure + "/" + peer.name, found->second.values,
                                     found->second.unit));
  return rows;
}

}  // namespace wallock::bench
