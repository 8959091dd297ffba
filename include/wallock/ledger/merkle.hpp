// Frontier: the right edge of an RFC 9162 Merkle tree, all that an append needs to know.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wallock/digest.hpp"
#include "wallock/ledger/bytes.hpp"

namespace wallock::ledger {

// Hashes as RFC 9162 section 2.1.1 says: leaf = SHA-256(0x00 || data),
// node = SHA-256(0x01 || left || right), empty tree = SHA-256().
template <class H>
concept TreeHasher = requires(H& hasher, std::span<const std::uint8_t> data, const Digest& digest) {
  { hasher.leaf(data) } -> std::same_as<Digest>;
  { hasher.node(digest, digest) } -> std::same_as<Digest>;
  { hasher.empty() } -> std::same_as<Digest>;
};

inline constexpr std::size_t max_tree_levels = 44;  // positions have 43 bits

// How the tree is stored without ever updating a row: the hash of each full subtree stands in the
// row of its last leaf, which is the leaf that completes it. Level 0 is the leaves; the subtree of
// index i at level k covers the leaves i * 2^k .. (i + 1) * 2^k - 1.

// How many subtrees the leaf at `position` completes, at the levels 1 to that number: as many as
// the position has trailing one bits.
[[nodiscard]] constexpr std::size_t completed_levels(std::uint64_t position) noexcept {
  return static_cast<std::size_t>(std::countr_one(position));
}

// The row that stores the hash of subtree `index` at `level`, where it is node number `level` of
// that row (counted from 1; the leaf hash for level 0). Every hash that an inclusion or
// consistency proof names (RFC 9162 sections 2.1.3 and 2.1.4) is found this way, or is folded from
// such hashes on the right edge.
[[nodiscard]] constexpr std::uint64_t subtree_row(std::size_t level, std::uint64_t index) noexcept {
  return ((index + 1) << level) - 1;
}

// True if a tree of `size` leaves has a peak at `level`: a full subtree that is no part of a larger
// full one.
[[nodiscard]] constexpr bool has_peak(std::uint64_t size, std::size_t level) noexcept {
  return level < max_tree_levels && ((size >> level) & 1) != 0;
}

// The row whose top hash is the peak at `level` of a tree of `size` leaves; only if has_peak.
[[nodiscard]] constexpr std::uint64_t peak_position(std::uint64_t size,
                                                    std::size_t level) noexcept {
  return ((size >> level) << level) - 1;
}

// The hash of the largest subtree that the row at `position` completes: its last node, or its leaf
// hash if it completes none. `nodes` is the row's stored column: 32 bytes for each level from 1 on.
// Empty if that has not the length that the position asks for.
[[nodiscard]] inline std::optional<Digest> top(std::uint64_t position, const Digest& leaf_hash,
                                               std::span<const std::uint8_t> nodes) noexcept {
  const std::size_t levels = completed_levels(position);
  if (nodes.size() != levels * Digest::size) return std::nullopt;
  return levels == 0 ? std::optional(leaf_hash) : to_digest(nodes.last(Digest::size));
}

// The hashes of the subtrees that one append completed, from level 1 up. Value of fixed capacity.
class CompletedNodes {
 public:
  static constexpr std::size_t capacity = max_tree_levels - 1;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::span<const Digest> digests() const noexcept {
    return std::span(nodes_).first(size_);
  }
  // The same as one byte string, 32 bytes each: what the row's `nodes` column stores. Lives as
  // long as this value.
  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept {
    static_assert(sizeof(Digest) == Digest::size, "digests stand side by side");
    return {reinterpret_cast<const std::uint8_t*>(nodes_.data()), size_ * Digest::size};
  }

  // Appends a hash. Precondition: size() < capacity.
  void push(const Digest& node) noexcept {
    assert(size_ < capacity);
    nodes_[size_++] = node;
  }

 private:
  std::array<Digest, capacity> nodes_{};
  std::size_t size_ = 0;
};

// The size of a tree and its peaks, at most one for each level: enough to append and to compute
// the root. A trivially copyable value: copy it before a transaction, and adopt the copy once the
// transaction has committed. One thread at a time.
class Frontier {
 public:
  // No more leaves fit: a position has 43 bits.
  static constexpr std::uint64_t max_size = std::uint64_t{1} << (max_tree_levels - 1);

  // The empty tree.
  constexpr Frontier() noexcept = default;
  // A tree of `size` leaves, at most max_size. Give it a peak for every level where has_peak,
  // from the top of the row at peak_position, before anything else.
  constexpr explicit Frontier(std::uint64_t size) noexcept : size_(size) {}

  void set_peak(std::size_t level, const Digest& hash) noexcept {
    assert(has_peak(size_, level));
    peaks_[level] = hash;
  }

  // The number of leaves, which is the position of the next one.
  [[nodiscard]] constexpr std::uint64_t size() const noexcept { return size_; }

  // What appending `leaf` would complete. Hashes once for each node.
  // Precondition, here and in append: size() < max_size.
  template <TreeHasher H>
  [[nodiscard]] CompletedNodes completed_by(const Digest& leaf, H& hasher) const {
    assert(size_ < max_size);
    CompletedNodes nodes;
    Digest hash = leaf;
    const std::size_t levels = completed_levels(size_);
    for (std::size_t level = 0; level < levels; ++level) {
      hash = hasher.node(peaks_[level], hash);
      nodes.push(hash);
    }
    return nodes;
  }

  // Appends a leaf with what completed_by answered for it.
  void adopt(const Digest& leaf, const CompletedNodes& nodes) noexcept {
    assert(size_ < max_size && nodes.size() == completed_levels(size_));
    peaks_[nodes.size()] = nodes.empty() ? leaf : nodes.digests().back();
    ++size_;
  }

  // Appends a leaf and answers the subtrees that it completes: one node hash on average, at most
  // 43.
  template <TreeHasher H>
  CompletedNodes append(const Digest& leaf, H& hasher) {
    const CompletedNodes nodes = completed_by(leaf, hasher);
    adopt(leaf, nodes);
    return nodes;
  }

  // The Merkle tree hash over all leaves (RFC 9162 section 2.1.1). At most 43 node hashes.
  template <TreeHasher H>
  [[nodiscard]] Digest root(H& hasher) const {
    if (size_ == 0) return hasher.empty();
    // The right edge, from the smallest peak up: all that is to its left is one larger peak.
    std::size_t level = static_cast<std::size_t>(std::countr_zero(size_));
    Digest hash = peaks_[level];
    for (++level; level < max_tree_levels; ++level) {
      if (has_peak(size_, level)) hash = hasher.node(peaks_[level], hash);
    }
    return hash;
  }

 private:
  std::uint64_t size_ = 0;
  std::array<Digest, max_tree_levels> peaks_{};
};

}  // namespace wallock::ledger
