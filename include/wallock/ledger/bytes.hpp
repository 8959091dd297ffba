// Big-endian integers in byte strings: the alphabet of the record frame and the content encoding.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "wallock/digest.hpp"

namespace wallock::ledger {

// The bytes of a text, in place. Lives as long as the text does.
[[nodiscard]] inline std::span<const std::uint8_t> as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// A digest from the 32 raw bytes of a column; empty if there are not exactly 32.
[[nodiscard]] inline std::optional<Digest> to_digest(std::span<const std::uint8_t> bytes) noexcept {
  if (bytes.size() != Digest::size) return std::nullopt;
  Digest::Bytes copy{};
  std::copy(bytes.begin(), bytes.end(), copy.begin());
  return Digest(copy);
}

// Appends an integer, most significant byte first. Throws std::bad_alloc only if `out` must grow
// and cannot; so do the other put functions.
template <std::unsigned_integral Int>
void put(std::string& out, Int value) {
  char bytes[sizeof(Int)];
  for (std::size_t i = 0; i < sizeof(Int); ++i)
    bytes[i] = static_cast<char>(value >> (8 * (sizeof(Int) - 1 - i)));
  out.append(bytes, sizeof(Int));
}

// Appends a signed number in two's complement, most significant byte first.
inline void put_signed(std::string& out, std::int64_t value) {
  put(out, static_cast<std::uint64_t>(value));
}

// Appends bytes as they are.
inline void put_raw(std::string& out, std::span<const std::uint8_t> bytes) {
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Appends a 16-bit length and the text. The text has at most 65'535 bytes.
inline void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint16_t>(text.size()));
  out.append(text);
}

// Reads from the front of a byte string what the put functions wrote. Reading past the end yields
// zeros and empty texts and is remembered: ask ok() once, after the last read. Does not own the
// bytes. One thread at a time.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) noexcept : rest_(bytes) {}

  template <std::unsigned_integral Int>
  [[nodiscard]] Int get() noexcept {
    std::uint64_t value = 0;
    for (const std::uint8_t byte : take(sizeof(Int)))
      value = (value << 8) | byte;
    return static_cast<Int>(value);
  }

  [[nodiscard]] std::int64_t get_signed() noexcept {
    return static_cast<std::int64_t>(get<std::uint64_t>());
  }

  [[nodiscard]] std::span<const std::uint8_t> get_raw(std::size_t length) noexcept {
    return take(length);
  }

  // A text of at most `limit` bytes; a longer one counts as reading past the end.
  [[nodiscard]] std::string_view get_text(std::size_t limit) noexcept {
    const std::size_t length = get<std::uint16_t>();
    if (length > limit) ok_ = false;
    const auto bytes = take(length);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  // False once a read went past the end or a text past its limit.
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

 private:
  std::span<const std::uint8_t> take(std::size_t length) noexcept {
    if (!ok_ || length > rest_.size()) {
      ok_ = false;
      return {};
    }
    const auto bytes = rest_.first(length);
    rest_ = rest_.subspan(length);
    return bytes;
  }

  std::span<const std::uint8_t> rest_;
  bool ok_ = true;
};

}  // namespace wallock::ledger
