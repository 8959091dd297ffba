// The frontier against the recursive definition of RFC 9162 section 2.1.1.
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "ledger_support.hpp"

namespace wallock::ledger {
namespace {

using Leaves = std::span<const Digest>;

// MTH as the RFC writes it, on digest() alone: split at the largest power of two below n.
Digest tree_hash(Leaves leaves, Sha256& hasher) {
  if (leaves.empty()) return hasher.digest({});
  if (leaves.size() == 1) return leaves[0];
  std::size_t split = 1;
  while (split * 2 < leaves.size())
    split *= 2;
  std::string pair(1, '\x01');
  put_raw(pair, tree_hash(leaves.first(split), hasher).bytes());
  put_raw(pair, tree_hash(leaves.subspan(split), hasher).bytes());
  return hasher.digest(as_bytes(pair));
}

std::vector<Digest> random_leaves(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Digest> leaves;
  for (std::size_t i = 0; i < count; ++i)
    leaves.push_back(random.digest());
  return leaves;
}

TEST_CASE("the frontier has the root of RFC 9162 at every size from 0 to 300") {
  Sha256 hasher = make_hasher();
  const auto leaves = random_leaves(300, 1);
  Frontier frontier;
  for (std::size_t size = 0; size <= leaves.size(); ++size) {
    CAPTURE(size);
    CHECK(frontier.root(hasher) == tree_hash(Leaves(leaves).first(size), hasher));
    if (size < leaves.size()) frontier.append(leaves[size], hasher);
  }
}

TEST_CASE("the frontier has the root of RFC 9162 at seeded larger sizes") {
  constexpr std::uint64_t seed = 20260101;
  CAPTURE(seed);
  Sha256 hasher = make_hasher();
  Random random(seed);
  for (int round = 0; round < 8; ++round) {
    const std::size_t size = 301 + random.below(10'000);
    CAPTURE(size);
    const auto leaves = random_leaves(size, seed + size);
    Frontier frontier;
    for (const Digest& leaf : leaves)
      frontier.append(leaf, hasher);
    CHECK(frontier.root(hasher) == tree_hash(leaves, hasher));
  }
}

TEST_CASE("an append answers the hashes of exactly the subtrees that its leaf completes") {
  Sha256 hasher = make_hasher();
  const auto leaves = random_leaves(1025, 2);
  Frontier frontier;
  for (std::size_t n = 0; n < leaves.size(); ++n) {
    CAPTURE(n);
    const CompletedNodes nodes = frontier.append(leaves[n], hasher);
    std::vector<Digest> expected;
    for (std::size_t width = 2; (n + 1) % width == 0; width *= 2)
      expected.push_back(tree_hash(Leaves(leaves).subspan(n + 1 - width, width), hasher));
    CHECK(std::vector(nodes.digests().begin(), nodes.digests().end()) == expected);
    CHECK(nodes.size() == completed_levels(n));
    std::string bytes;
    for (const Digest& digest : expected)
      put_raw(bytes, digest.bytes());
    CHECK(copy_of(nodes.bytes()) == copy_of(as_bytes(bytes)));
  }
}

// A frontier as a store makes it after opening: from one row for each peak.
Frontier load(const std::vector<Row>& rows, std::uint64_t size) {
  Frontier frontier(size);
  for (std::size_t level = 0; level < max_tree_levels; ++level) {
    if (!has_peak(size, level)) continue;
    const Row& row = rows.at(peak_position(size, level));
    const Digest leaf = to_digest(row.leaf_hash).value();
    frontier.set_peak(level, top(row.position, leaf, row.nodes).value());
  }
  return frontier;
}

TEST_CASE("a frontier loaded from the rows of its peaks goes on as the one that never stopped") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(130, 3, hasher);
  Frontier frontier;
  for (std::uint64_t size = 0; size < rows.size(); ++size) {
    CAPTURE(size);
    Frontier loaded = load(rows, size);
    CHECK(loaded.size() == size);
    CHECK(loaded.root(hasher) == frontier.root(hasher));
    const Digest leaf = to_digest(rows[size].leaf_hash).value();
    CHECK(copy_of(loaded.append(leaf, hasher).bytes()) == rows[size].nodes);
    frontier.append(leaf, hasher);
    CHECK(loaded.root(hasher) == frontier.root(hasher));
  }
}

TEST_CASE("the hash of every full subtree stands in the row of its last leaf") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(128, 4, hasher);
  std::vector<Digest> leaves;
  for (const Row& row : rows)
    leaves.push_back(to_digest(row.leaf_hash).value());
  for (std::size_t level = 1; level <= 7; ++level) {
    const std::size_t width = std::size_t{1} << level;
    for (std::uint64_t index = 0; (index + 1) * width <= rows.size(); ++index) {
      CAPTURE(level, index);
      const Row& row = rows.at(subtree_row(level, index));
      const auto node = std::span(row.nodes).subspan((level - 1) * Digest::size, Digest::size);
      CHECK(to_digest(node) == tree_hash(Leaves(leaves).subspan(index * width, width), hasher));
    }
  }
}

TEST_CASE("the left sibling of an append at n on level k is the top hash of row n - 2^k") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(300, 5, hasher);
  for (std::uint64_t n = 0; n < rows.size(); ++n) {
    Digest hash = to_digest(rows[n].leaf_hash).value();
    for (std::size_t level = 0; level < completed_levels(n); ++level) {
      CAPTURE(n, level);
      const Row& left = rows.at(n - (std::uint64_t{1} << level));
      const Digest leaf = to_digest(left.leaf_hash).value();
      hash = hasher.node(top(left.position, leaf, left.nodes).value(), hash);
      const auto node = std::span(rows[n].nodes).subspan(level * Digest::size, Digest::size);
      CHECK(to_digest(node) == hash);
    }
  }
}

TEST_CASE("the top hash is refused if the nodes have another length than the position asks for") {
  Random random(6);
  const Digest leaf = random.digest();
  const std::string bytes = random.bytes(5 * Digest::size);
  const auto all = as_bytes(bytes);
  for (const std::uint64_t position : {0U, 1U, 2U, 3U, 6U, 7U, 8U, 15U}) {
    const std::size_t right = completed_levels(position) * Digest::size;
    for (std::size_t length = 0; length <= all.size(); ++length) {
      CAPTURE(position, length);
      CHECK(top(position, leaf, all.first(length)).has_value() == (length == right));
    }
  }
  CHECK(top(0, leaf, {}) == leaf);
  CHECK(top(3, leaf, all.first(64)) == to_digest(all.subspan(32, 32)));
}

TEST_CASE("the frontier takes the last leaf that a 43-bit position allows") {
  Sha256 hasher = make_hasher();
  Random random(7);
  Frontier frontier(Frontier::max_size - 1);
  Digest expected = random.digest();
  const Digest leaf = expected;
  for (std::size_t level = 0; level < CompletedNodes::capacity; ++level) {
    REQUIRE(has_peak(frontier.size(), level));
    const Digest peak = random.digest();
    frontier.set_peak(level, peak);
    expected = hasher.node(peak, expected);
  }
  const CompletedNodes nodes = frontier.append(leaf, hasher);
  CHECK(nodes.size() == 43);
  CHECK(nodes.digests().back() == expected);
  CHECK(frontier.size() == FencingToken::max_position + 1);
  CHECK(frontier.root(hasher) == expected);
}

TEST_CASE("completed_by changes nothing until its answer is adopted") {
  static_assert(std::is_trivially_copyable_v<Frontier>);
  Sha256 hasher = make_hasher();
  const auto leaves = random_leaves(8, 8);
  Frontier frontier;
  for (std::size_t i = 0; i < 7; ++i)
    frontier.append(leaves[i], hasher);
  const Digest before = frontier.root(hasher);
  const CompletedNodes nodes = frontier.completed_by(leaves[7], hasher);
  CHECK(frontier.size() == 7);
  CHECK(frontier.root(hasher) == before);
  frontier.adopt(leaves[7], nodes);
  CHECK(frontier.size() == 8);
  CHECK(frontier.root(hasher) == tree_hash(leaves, hasher));
}

}  // namespace
}  // namespace wallock::ledger
