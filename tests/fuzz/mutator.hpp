// Mutator: small seeded changes to inputs of a corpus, for builds without libFuzzer.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace wallock::fuzz {

// The same inputs from the same seed on every platform.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : engine_(seed) {}

  // From zero to n - 1; zero for zero.
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : engine_() % n; }

  // Changes the input in one to eight places.
  void change_some(std::string& input, const std::vector<std::string>& corpus) {
    for (std::uint64_t n = below(8) + 1; n > 0; --n)
      change(input, corpus[below(corpus.size())]);
  }

 private:
  static std::string_view word(std::uint64_t which) {
    using std::string_view_literals::operator""sv;
    constexpr std::string_view words[] = {"\""sv,          "\\"sv,
                                          "{"sv,           "}"sv,
                                          "["sv,           ","sv,
                                          ":"sv,           " "sv,
                                          "-0"sv,          "1e9"sv,
                                          "0.5"sv,         "null"sv,
                                          "\\u0000"sv,     "\\ud83d"sv,
                                          "\\udd12"sv,     "\\u0061"sv,
                                          "\0\0"sv,        "\xff\xff"sv,
                                          "\xc3\xa9"sv,    "\xef\xbb\xbf"sv,
                                          "_hex\":\"00"sv, "\x7f\xff\xff\xff"sv,
                                          "\x80\0\0\0"sv};
    return words[which % std::size(words)];
  }

  void change(std::string& input, const std::string& other) {
    const std::size_t at = below(input.size() + 1);
    switch (below(8)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(below(256));
        return;
      case 1:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        return;
      case 2:
        input.erase(at, below(16) + 1);
        return;
      case 3:
        input.insert(at, word(engine_()));
        return;
      case 4:
        input.insert(at, other.substr(below(other.size()), below(32)));
        return;
      case 5:
        input.replace(at, below(32), other.substr(below(other.size()), below(32)));
        return;
      case 6:
        for (std::uint64_t n = below(24); n > 0; --n)
          input += static_cast<char>(below(256));
        return;
      default:
        input.resize(at);
    }
  }

  std::mt19937_64 engine_;
};

}  // namespace wallock::fuzz
