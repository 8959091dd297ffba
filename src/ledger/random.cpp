#include "ledger/random.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <climits>

namespace wallock::ledger {

bool fill_random(std::span<std::uint8_t> out) noexcept {
  while (!out.empty()) {
    const std::size_t length = std::min(out.size(), static_cast<std::size_t>(INT_MAX));
    if (RAND_bytes(out.data(), static_cast<int>(length)) != 1) return false;
    out = out.subspan(length);
  }
  return true;
}

bool RandomSource::fill(std::span<std::uint8_t> out) noexcept {
  if (out.size() > buffer_.size()) return fill_random(out);
  if (out.size() > buffer_.size() - used_) {
    used_ = buffer_.size();  // if the refill fails, nothing half-filled is ever handed out
    if (!fill_random(buffer_)) return false;
    used_ = 0;
  }
  const auto taken = std::span(buffer_).subspan(used_, out.size());
  std::copy(taken.begin(), taken.end(), out.begin());
  std::fill(taken.begin(), taken.end(), std::uint8_t{0});
  used_ += out.size();
  return true;
}

}  // namespace wallock::ledger
