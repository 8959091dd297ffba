// Statistics of a round and over rounds: mean, percentiles, median.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace wallock::bench {

// The value that `hundredths` percent of the values do not exceed (nearest rank); 0 of nothing.
[[nodiscard]] inline double percentile(std::vector<double> values, std::size_t hundredths) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t rank = (values.size() * hundredths + 99) / 100;
  return values[std::max<std::size_t>(rank, 1) - 1];
}

[[nodiscard]] inline double median(const std::vector<double>& values) {
  return percentile(values, 50);
}

[[nodiscard]] inline double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace wallock::bench
