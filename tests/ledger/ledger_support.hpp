// What the ledger tests share: a hasher, seeded records, and a ledger held in memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ledger/sha256.hpp"
#include "wallock/ledger/frame.hpp"
#include "wallock/ledger/verifier.hpp"

namespace wallock::ledger {

inline Sha256 make_hasher() { return Sha256::create().value(); }

// Seeded, and the same on every platform, unlike the std distributions.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  bool coin() { return below(2) == 0; }

  // Bytes of any value.
  std::string bytes(std::size_t length) {
    std::string text;
    while (text.size() < length)
      text.push_back(static_cast<char>(below(256)));
    return text;
  }

  // A legal name of at most `limit` bytes, with two-byte characters in it.
  std::string name(std::size_t limit = 255) {
    std::string text(1 + below(limit), 'x');
    for (std::size_t i = 0; i < text.size(); ++i) {
      text[i] = static_cast<char>(0x20 + below(0x5f));
      if (i > 0 && below(8) == 0 && text[i - 1] >= 0) {
        text[i - 1] = '\xc3';
        text[i] = static_cast<char>(0x80 + below(0x40));
      }
    }
    return text;
  }

  Digest digest() {
    Digest::Bytes value{};
    for (std::uint8_t& byte : value)
      byte = static_cast<std::uint8_t>(below(256));
    return Digest(value);
  }

 private:
  std::mt19937_64 engine_;
};

// A record with each optional field as often there as not, of any legal length and value.
inline LedgerEntry random_entry(Random& random) {
  LedgerEntry entry;
  entry.kind = all_record_kinds[random.below(all_record_kinds.size())];
  if (random.coin()) entry.resource = ResourceName::parse(random.name()).value();
  if (random.coin()) entry.action_id = ActionId::parse(random.name()).value();
  entry.token = FencingToken::from_value(random.bits() >> 1).value();
  if (random.coin()) entry.state = static_cast<ActionState>(random.below(5));
  if (random.coin()) entry.subject = random.bits();
  if (random.coin()) entry.until = Instant(Duration(static_cast<std::int64_t>(random.bits())));
  if (random.coin()) {
    entry.score =
        Score::from_millionths(static_cast<std::int64_t>(random.below(1'000'001))).value();
  }
  if (random.coin()) entry.digest = random.digest();
  if (random.coin()) entry.actor = random.name();
  if (random.coin()) entry.detail = random.bytes(random.below(max_detail_bytes + 1));
  return entry;
}

inline WallTime random_time(Random& random) {
  return WallTime(std::chrono::microseconds(static_cast<std::int64_t>(random.bits())));
}

inline std::string frame_of(std::uint64_t position, WallTime at, const LedgerEntry& entry) {
  std::string out;
  if (!append_frame(out, position, at, entry)) out = "does not fit";
  return out;
}

// A row as a store would keep it, open to be tampered with.
struct Row {
  std::uint64_t position = 0;
  WallTime recorded_at = {};
  LedgerEntry entry = {};
  std::vector<std::uint8_t> leaf_hash = {};
  std::vector<std::uint8_t> nodes = {};
  bool payload_matches = true;

  [[nodiscard]] StoredRow stored() const {
    return {position, recorded_at, entry, leaf_hash, nodes, payload_matches};
  }
};

inline std::vector<std::uint8_t> copy_of(std::span<const std::uint8_t> bytes) {
  return {bytes.begin(), bytes.end()};
}

// Gives the rows positions and hashes that fit their entries, as whoever can write the file may.
inline void rehash(std::vector<Row>& rows, Sha256& hasher) {
  Frontier frontier;
  for (Row& row : rows) {
    row.position = frontier.size();
    const std::string frame = frame_of(row.position, row.recorded_at, row.entry);
    const Digest leaf = hasher.leaf(as_bytes(frame));
    row.leaf_hash = copy_of(leaf.bytes());
    row.nodes = copy_of(frontier.append(leaf, hasher).bytes());
  }
}

inline std::vector<Row> make_ledger(std::size_t count, std::uint64_t seed, Sha256& hasher) {
  Random random(seed);
  std::vector<Row> rows(count);
  for (Row& row : rows) {
    row.recorded_at = random_time(random);
    row.entry = random_entry(random);
  }
  rehash(rows, hasher);
  return rows;
}

inline VerifyReport verify(const std::vector<Row>& rows, Sha256& hasher,
                           std::optional<TreeHead> trusted = std::nullopt) {
  Verifier verifier(hasher, trusted);
  for (const Row& row : rows)
    verifier.feed(row.stored());
  return verifier.finish();
}

// The head of the first `size` rows.
inline TreeHead head_of(const std::vector<Row>& rows, std::size_t size, Sha256& hasher) {
  Frontier frontier;
  for (std::size_t i = 0; i < size; ++i)
    frontier.append(to_digest(rows[i].leaf_hash).value(), hasher);
  return {.size = size, .root = frontier.root(hasher)};
}

}  // namespace wallock::ledger
