// How inputs of the JSON target are changed, by libFuzzer or by the plain driver: as any bytes, or
// by a new document that is changed where its parts meet. A reader's mistakes are there, and
// changes that know nothing of JSON mostly hit the middle of a name, and what is broken already.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/random_json.hpp"
#include "fuzz/target.hpp"

namespace wallock::fuzz {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view words[] = {
    "\0"sv,       " "sv,    "\n"sv,  "\v"sv,   "\xff"sv, "\xef\xbb\xbf"sv,
    "\xc2\x85"sv, "{"sv,    "}"sv,   "["sv,    "]"sv,    ","sv,
    ":"sv,        "\""sv,   "\\"sv,  "''"sv,   "\"\""sv, "null"sv,
    "{}"sv,       "[1]"sv,  "0"sv,   "-"sv,    "1e5"sv,  ".5"sv,
    "/**/"sv,     "\r\n"sv, "NaN"sv, "true"sv, "+1"sv,   "\\u0000"sv,
    "\\ud83d"sv};

// A document, and where its parts meet: its ends, and both sides of each mark.
class Parts {
 public:
  Parts(std::string text, std::mt19937_64& engine) : text_(std::move(text)), engine_(engine) {
    for (std::size_t at = 0; at <= text_.size(); ++at) {
      const bool after = at == 0 || is_mark(text_[at - 1]);
      if (after || at == text_.size() || is_mark(text_[at])) places_.push_back(at);
    }
  }

  // A word between two parts or for one, one part less, or one more that stands elsewhere too.
  [[nodiscard]] std::string changed() {
    const std::size_t at = place();
    std::string text = text_;
    switch (engine_() % 4) {
      case 0:
        return text.insert(at, word());
      case 1:
        return text.replace(at, length(at), word());
      case 2:
        return text.erase(at, length(at));
      default: {
        const std::size_t from = place();
        return text.insert(at, text_.substr(from, length(from)));
      }
    }
  }

 private:
  static bool is_mark(char byte) { return "{}[],:\""sv.find(byte) != std::string_view::npos; }

  // One of the ends more often than any other.
  std::size_t place() {
    switch (engine_() % 8) {
      case 0:
        return 0;
      case 1:
        return text_.size();
      default:
        return places_[engine_() % places_.size()];
    }
  }
  std::string_view word() { return words[engine_() % std::size(words)]; }
  // From one place to the next.
  [[nodiscard]] std::size_t length(std::size_t at) const {
    const auto next = std::ranges::upper_bound(places_, at);
    return next == places_.end() ? 0 : *next - at;
  }

  std::string text_;
  std::mt19937_64& engine_;
  std::vector<std::size_t> places_;
};

// In the order of the target's documents.
constexpr std::array contracts = {&action_request_contract, &action_result_contract,
                                  &audit_record_contract,   &lease_contract,
                                  &delivery_contract,       &tree_head_contract};

}  // namespace
}  // namespace wallock::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  using namespace wallock::fuzz;
  std::mt19937_64 engine(seed);
  if (most < 2 || engine() % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::size_t which = engine() % contracts.size();
  std::string text = random_json(*contracts[which], engine);
  for (std::uint64_t changes = engine() % 3; changes > 0; --changes)
    text = Parts(std::move(text), engine).changed();
  const std::size_t length = std::min(text.size(), most - 1);
  data[0] = static_cast<std::uint8_t>(which);
  std::copy_n(text.begin(), length, reinterpret_cast<char*>(data) + 1);
  return length + 1;
}
