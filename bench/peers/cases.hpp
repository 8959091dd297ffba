// Cases: what the peers are compared in.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "peer.hpp"
#include "support/rows.hpp"

namespace wallock::bench {

struct Settings {
  std::size_t rounds = 3;
  // How long each peer is measured in each round.
  std::chrono::milliseconds length{500};
  std::size_t processes = 8;
  std::chrono::milliseconds hold{1};
  // Of claim and acknowledge: so many one by one, and so many batches of a hundred.
  std::size_t singles = 500;
  std::size_t batches = 10;
};

// Each case: all peers take turns, in each round, on a place of the case's own; the first round is
// not counted. Rows are named case/figure/peer; a value is the median of the rounds'.
[[nodiscard]] std::vector<Row> uncontended_pair(const std::vector<Peer>& peers,
                                                const Settings& settings);
[[nodiscard]] std::vector<Row> one_key(const std::vector<Peer>& peers, const Settings& settings);
[[nodiscard]] std::vector<Row> own_keys(const std::vector<Peer>& peers, const Settings& settings);
[[nodiscard]] std::vector<Row> enqueue(const std::vector<Peer>& peers, const Settings& settings,
                                       std::size_t messages);
[[nodiscard]] std::vector<Row> claim_and_acknowledge(const std::vector<Peer>& peers,
                                                     const Settings& settings,
                                                     std::size_t messages);

}  // namespace wallock::bench
