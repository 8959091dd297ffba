// What the tests of the values share: the code of a result, texts with NUL bytes, seeded numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "wallock/action.hpp"
#include "wallock/name.hpp"
#include "wallock/result.hpp"

namespace wallock::test {

// The error's code, or a code that no enumerator has if there is a value.
template <class T>
Errc code_of(const Result<T>& result) {
  return result ? Errc{0} : result.error().code();
}
inline constexpr Errc no_error{0};

template <class T>
std::string field_of(const Result<T>& result) {
  return result ? std::string("(no error)") : result.error().facts().field;
}

// A literal with its NUL bytes.
template <std::size_t N>
std::string bytes(const char (&literal)[N]) {
  return std::string(literal, N - 1);
}

inline ResourceName resource(std::string_view text) { return ResourceName::parse(text).value(); }
inline HolderId holder(std::string_view text) { return HolderId::parse(text).value(); }
inline ActionId action_id(std::string_view text) { return ActionId::parse(text).value(); }
inline Destination destination(std::string_view text) { return Destination::parse(text).value(); }
inline FencingToken token(std::uint64_t value) { return FencingToken::from_value(value).value(); }

// Seeded numbers that are the same on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next() { return engine_(); }
  // 0 to n - 1.
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  // As many bits as chance will have it, so that small and large numbers are equally likely.
  std::uint64_t any_size() { return next() >> below(64); }
  std::string text(std::string_view alphabet, std::size_t length) {
    std::string out;
    for (std::size_t i = 0; i < length; ++i)
      out += alphabet[below(alphabet.size())];
    return out;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace wallock::test
