// Random bytes from OpenSSL's generator: salts, the store's identity, jitter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace wallock::ledger {

// Fills `out` from RAND_bytes, a cryptographic generator that reseeds itself in a forked child.
// False, with `out` unspecified, if it cannot be seeded. Any thread.
[[nodiscard]] bool fill_random(std::span<std::uint8_t> out) noexcept;

// Small draws at a fraction of fill_random's cost: takes 1 KiB at a time and hands each byte out
// once, wiping it here.
//
// A forked child inherits the bytes that are left, and would hand out the same ones as its parent.
// So a source must never be used across a fork; the store that owns it refuses to work in a
// forked child before it comes to draw a byte. Neither copyable nor movable. Not thread-safe.
class RandomSource {
 public:
  RandomSource() = default;
  RandomSource(const RandomSource&) = delete;
  RandomSource& operator=(const RandomSource&) = delete;
  ~RandomSource() = default;

  // False, with `out` unspecified, if the generator cannot be seeded.
  [[nodiscard]] bool fill(std::span<std::uint8_t> out) noexcept;

 private:
  std::array<std::uint8_t, 1024> buffer_{};
  std::size_t used_ = 1024;
};

}  // namespace wallock::ledger
