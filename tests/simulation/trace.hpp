// Trace: what a run did, as one number that is the same if and only if it did the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <string_view>

namespace wallock::test {

// Every call of the workers with its answer, and every call of theirs on the disk's files with its
// bytes. One thread.
class Trace {
 public:
  // With `out`, which outlives it, the calls are told there too. Without `bytes` what is written
  // and read counts by its length alone, which is quicker.
  explicit Trace(std::ostream* out = nullptr, bool bytes = true) noexcept
      : out_(out), bytes_(bytes) {}

  void number(std::uint64_t value) noexcept {
    hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15;
    hash_ ^= hash_ >> 29;
  }
  void bytes(const void* data, std::size_t size) noexcept {
    number(size);
    if (!bytes_) return;
    const auto* at = static_cast<const char*>(data);
    for (; size >= sizeof(std::uint64_t); size -= sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, at, sizeof word);
      number(word);
      at += sizeof word;
    }
    for (; size > 0; --size)
      number(static_cast<unsigned char>(*at++));
  }
  // A line of the story.
  void tell(std::string_view words) {
    for (const char c : words)
      number(static_cast<unsigned char>(c));
    show(words);
  }
  // For the reader of the story only.
  void show(std::string_view words) const {
    if (out_ != nullptr) *out_ << words << '\n';
  }
  [[nodiscard]] bool is_told() const noexcept { return out_ != nullptr; }

  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }

 private:
  std::ostream* out_;
  bool bytes_;
  std::uint64_t hash_ = 0;
};

}  // namespace wallock::test
