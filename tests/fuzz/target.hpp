// What a fuzz target is: one function that takes any bytes, and one way to say what it found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// The driver's own way to change an input in place: how long it is then, at most `most` bytes.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
// A target may have a better one, which both drivers take then: the same from the same seed.
extern "C" [[gnu::weak]] std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                             std::size_t most, unsigned seed);

namespace wallock::fuzz {

// Ends the run: something happened on this input that must not happen, `what` in a sentence.
// libFuzzer then keeps the input as a crash; the plain driver prints it.
[[noreturn]] void found(std::string_view what);

// found() unless `holds`.
inline void require(bool holds, std::string_view what) {
  if (!holds) found(what);
}

[[nodiscard]] inline std::string_view as_text(std::span<const std::uint8_t> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Takes an input apart from its front: zeros once it is used up.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) noexcept : rest_(bytes) {}

  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }
  [[nodiscard]] std::uint8_t byte() noexcept {
    if (rest_.empty()) return 0;
    const std::uint8_t value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  [[nodiscard]] std::uint32_t number(int bytes) noexcept {
    std::uint32_t value = 0;
    for (int i = 0; i < bytes; ++i)
      value = value << 8 | byte();
    return value;
  }
  [[nodiscard]] std::string_view text(std::size_t most) noexcept {
    const auto taken = rest_.first(most < rest_.size() ? most : rest_.size());
    rest_ = rest_.subspan(taken.size());
    return as_text(taken);
  }

 private:
  std::span<const std::uint8_t> rest_;
};

}  // namespace wallock::fuzz
