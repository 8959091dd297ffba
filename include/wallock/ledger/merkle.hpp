// Frontier: the right edge of an RFC 9162 Merkle tree, all that an append needs to know.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wallock/digest.hpp"

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

}  // namespace wallock::ledger
