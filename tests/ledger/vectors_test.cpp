// The Merkle tree against known answers for eight leaves (tests/data/rfc6962_8leaf.json).
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ledger_support.hpp"

namespace wallock::ledger {
namespace {

std::string vectors() {
  std::ifstream file(WALLOCK_TEST_DATA_DIR "/rfc6962_8leaf.json");
  return {std::istreambuf_iterator<char>(file), {}};
}

// The strings of the first array, or the one string, that stands under `key`.
std::vector<std::string> strings_of(const std::string& json, const std::string& key) {
  std::vector<std::string> found;
  std::size_t at = json.find('"' + key + "\": ");
  if (at == std::string::npos) return found;
  at += key.size() + 4;
  const std::size_t end = json[at] == '[' ? json.find(']', at) : json.find('\n', at);
  while ((at = json.find('"', at)) < end) {
    const std::size_t close = json.find('"', at + 1);
    found.push_back(json.substr(at + 1, close - at - 1));
    at = close + 1;
  }
  return found;
}

std::vector<std::uint8_t> unhex(const std::string& hex) {
  std::vector<std::uint8_t> bytes(hex.size() / 2);
  REQUIRE(decode_hex(hex, bytes));
  return bytes;
}

TEST_CASE("the Merkle tree gives the known leaf hashes and roots for the sizes 0 to 8") {
  const std::string json = vectors();
  const auto inputs = strings_of(json, "leaf_inputs");
  const auto leaf_hashes = strings_of(json, "leaf_hashes");
  const auto roots = strings_of(json, "roots");
  REQUIRE(inputs.size() == 8);
  REQUIRE(leaf_hashes.size() == 8);
  REQUIRE(roots.size() == 8);

  Sha256 hasher = make_hasher();
  Frontier frontier;
  CHECK(std::vector{to_string(frontier.root(hasher))} == strings_of(json, "empty_root"));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CAPTURE(i);
    const Digest leaf = hasher.leaf(unhex(inputs[i]));
    CHECK(to_string(leaf) == leaf_hashes[i]);
    frontier.append(leaf, hasher);
    CHECK(frontier.size() == i + 1);
    CHECK(to_string(frontier.root(hasher)) == roots[i]);
  }
}

}  // namespace
}  // namespace wallock::ledger
