// Verifier: reads a ledger once from the front and says whether it is what it claims to be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "wallock/audit.hpp"
#include "wallock/ledger/bytes.hpp"
#include "wallock/ledger/frame.hpp"
#include "wallock/ledger/merkle.hpp"

namespace wallock::ledger {

// A ledger row as its columns say; nothing in it has been checked. The two spans must live until
// feed() returns.
struct StoredRow {
  std::uint64_t position = 0;
  WallTime recorded_at = {};
  LedgerEntry entry = {};
  std::span<const std::uint8_t> leaf_hash = {};
  std::span<const std::uint8_t> nodes = {};  // empty also for NULL
  // False if the reader found that the row's payload and salt do not give entry.digest.
  bool payload_matches = true;
};

// Takes the rows in ascending order of position and recomputes all that is stored about them. The
// tree is built from recomputed hashes only, so that a false hash is never the ground that a later
// one stands on. Memory does not grow with the ledger.
//
//     Verifier verifier(hasher, trusted);
//     for (each row) if (verifier.feed(row) != DamageKind::none) break;
//     const VerifyReport report = verifier.finish();
//
// The first damage found is final; rows fed after it are not looked at. A hasher that can fail must
// be asked for its failure before the report is believed. One thread at a time; the hasher must
// outlive the verifier.
template <TreeHasher H>
class Verifier {
 public:
  // `trusted` is a head that the caller kept out of reach of whoever can write the file, never one
  // that was read back from it. May throw std::bad_alloc.
  explicit Verifier(H& hasher, std::optional<TreeHead> trusted = std::nullopt)
      : hasher_(hasher), trusted_(trusted) {
    frame_.reserve(max_frame_bytes);
    note_trusted_root();
  }

  // Checks the next row: none to go on, or what is wrong. The record is checked before the payload,
  // so that an altered digest is not taken for an altered payload.
  DamageKind feed(const StoredRow& row) {
    if (damage_ != DamageKind::none) return damage_;
    if (row.position != frontier_.size()) return gap(row.position);
    frame_.clear();
    if (!append_frame(frame_, row.position, row.recorded_at, row.entry)) {
      return damaged(row.position, DamageKind::record);
    }
    const Digest leaf = hasher_.leaf(as_bytes(frame_));
    if (!std::ranges::equal(row.leaf_hash, leaf.bytes())) {
      return damaged(row.position, DamageKind::record);
    }
    const CompletedNodes nodes = frontier_.completed_by(leaf, hasher_);
    if (!std::ranges::equal(row.nodes, nodes.bytes())) {
      return damaged(row.position, DamageKind::subtree);
    }
    if (!row.payload_matches) return damaged(row.position, DamageKind::payload);
    frontier_.adopt(leaf, nodes);
    note_trusted_root();
    return DamageKind::none;
  }

  // In place of feed() for a row whose columns are no LedgerEntry at all, such as an unknown kind
  // or a name that is none: a damaged record, or a gap if it is not even the next position.
  DamageKind feed_unreadable(std::uint64_t position) noexcept {
    if (damage_ != DamageKind::none) return damage_;
    if (position != frontier_.size()) return gap(position);
    return damaged(position, DamageKind::record);
  }

  // The verdict on all that was fed: damaged, or truncated if the trusted head has more rows, or
  // forked if the tree at its size has another root, or anchored. Unanchored without a trusted
  // head, and with one of size 0, which vouches for no row.
  [[nodiscard]] VerifyReport finish() {
    return {.verdict = verdict(),
            .head = {.size = frontier_.size(), .root = frontier_.root(hasher_)},
            .first_bad = first_bad_,
            .damage = damage_};
  }

 private:
  DamageKind damaged(std::uint64_t position, DamageKind damage) noexcept {
    first_bad_ = position;
    damage_ = damage;
    return damage;
  }

  // Of a hole, the first missing position is named; of a repetition, the one that stands twice.
  DamageKind gap(std::uint64_t position) noexcept {
    return damaged(std::min(position, frontier_.size()), DamageKind::gap);
  }

  [[nodiscard]] VerifyVerdict verdict() const noexcept {
    if (damage_ != DamageKind::none) return VerifyVerdict::damaged;
    if (!trusted_) return VerifyVerdict::unanchored;
    if (!root_then_) return VerifyVerdict::truncated;
    if (*root_then_ != trusted_->root) return VerifyVerdict::forked;
    return trusted_->size == 0 ? VerifyVerdict::unanchored : VerifyVerdict::anchored;
  }

  void note_trusted_root() {
    if (trusted_ && trusted_->size == frontier_.size()) root_then_ = frontier_.root(hasher_);
  }

  H& hasher_;
  std::optional<TreeHead> trusted_;
  std::optional<Digest> root_then_;  // recomputed, at the size of the trusted head
  Frontier frontier_;
  std::string frame_;
  std::optional<std::uint64_t> first_bad_;
  DamageKind damage_ = DamageKind::none;
};

}  // namespace wallock::ledger
