// What the verifier says about whole ledgers: cut, rewritten, reordered, and against a trusted
// head.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ledger_support.hpp"

namespace wallock::ledger {
namespace {

constexpr std::uint64_t seed = 71;

std::vector<Row> first(const std::vector<Row>& rows, std::size_t count) {
  return {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count)};
}

TEST_CASE("INV-08 a sound ledger is unanchored by itself and anchored by any head of its past") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(200, seed, hasher);
  const TreeHead head = head_of(rows, 200, hasher);
  CHECK(verify(rows, hasher) == VerifyReport{VerifyVerdict::unanchored, head, {}, {}});
  for (std::size_t size = 1; size <= rows.size(); ++size) {
    CAPTURE(size);
    CHECK(verify(rows, hasher, head_of(rows, size, hasher)) ==
          VerifyReport{VerifyVerdict::anchored, head, {}, {}});
  }
}

TEST_CASE("INV-08 a cut tail is truncated against a trusted head and never OK without (case G1)") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(200, seed, hasher);
  const TreeHead trusted = head_of(rows, 200, hasher);
  for (std::size_t kept = 0; kept < rows.size(); ++kept) {
    CAPTURE(kept);
    const auto cut = first(rows, kept);
    const TreeHead left = head_of(rows, kept, hasher);
    CHECK(verify(cut, hasher, trusted) == VerifyReport{VerifyVerdict::truncated, left, {}, {}});
    CHECK(verify(cut, hasher) == VerifyReport{VerifyVerdict::unanchored, left, {}, {}});
  }
}

TEST_CASE(
    "INV-08 a suffix rewritten with hashes that fit is forked from a trusted head (case G2)") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(100, seed, hasher);
  for (std::size_t from = 0; from < rows.size(); from += 9) {
    auto rewritten = rows;
    for (std::size_t n = from; n < rows.size(); ++n)
      rewritten[n].entry.detail = "rewritten";
    rehash(rewritten, hasher);
    for (std::size_t size = 1; size <= rows.size(); size += 3) {
      CAPTURE(from, size);
      const VerifyReport report = verify(rewritten, hasher, head_of(rows, size, hasher));
      CHECK(report.verdict == (size > from ? VerifyVerdict::forked : VerifyVerdict::anchored));
      CHECK(report.damage == DamageKind::none);
    }
    CHECK(verify(rewritten, hasher).verdict == VerifyVerdict::unanchored);
  }
}

TEST_CASE("INV-08 a rewritten ledger that grew past the trusted head is forked, not OK") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(64, seed, hasher);
  const auto other = make_ledger(90, seed + 1, hasher);
  CHECK(verify(other, hasher, head_of(rows, 64, hasher)).verdict == VerifyVerdict::forked);
}

TEST_CASE("a trusted head with one bit wrong is forked, and one of size 0 vouches for nothing") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(10, seed, hasher);
  const TreeHead head = head_of(rows, 7, hasher);
  for (std::size_t bit = 0; bit < 256; ++bit) {
    Digest::Bytes bytes = head.root.bytes();
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1 << (bit % 8)));
    CHECK(verify(rows, hasher, TreeHead{7, Digest(bytes)}).verdict == VerifyVerdict::forked);
  }
  CHECK(verify(rows, hasher, TreeHead{0, hasher.empty()}).verdict == VerifyVerdict::unanchored);
  CHECK(verify({}, hasher, TreeHead{0, hasher.empty()}).verdict == VerifyVerdict::unanchored);
  CHECK(verify(rows, hasher, TreeHead{0, Digest()}).verdict == VerifyVerdict::forked);
}

TEST_CASE("INV-08 a row missing, doubled or out of order is a gap at its position") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(40, seed, hasher);
  for (std::size_t n = 0; n + 1 < rows.size(); ++n) {
    CAPTURE(n);
    const auto at = [n](auto& list) { return list.begin() + static_cast<std::ptrdiff_t>(n); };
    const auto expect = [&](const std::vector<Row>& bad, std::size_t good) {
      CHECK(verify(bad, hasher) ==
            VerifyReport{VerifyVerdict::damaged, head_of(rows, good, hasher), n, DamageKind::gap});
    };
    auto missing = rows;
    missing.erase(at(missing));
    expect(missing, n);
    auto doubled = rows;
    doubled.insert(at(doubled), rows[n]);
    expect(doubled, n + 1);
    auto swapped = rows;
    std::swap(swapped[n], swapped[n + 1]);
    expect(swapped, n);
  }
}

TEST_CASE("INV-08 two rows whose contents changed places are a damaged record at the first") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(40, seed, hasher);
  for (std::size_t n = 0; n + 1 < rows.size(); ++n) {
    CAPTURE(n);
    auto bad = rows;
    std::swap(bad[n], bad[n + 1]);
    std::swap(bad[n].position, bad[n + 1].position);
    const VerifyReport report = verify(bad, hasher);
    CHECK(report.damage == DamageKind::record);
    CHECK(report.first_bad == n);
  }
}

TEST_CASE("INV-08 a false hash is no ground for the hashes after it (case G7)") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(64, seed, hasher);
  const Digest false_leaf = hasher.leaf(as_bytes("another record"));
  for (std::size_t n = 0; n < rows.size(); ++n) {
    CAPTURE(n);
    // The columns of row n stay as they are; its leaf hash and every later hash tell another story.
    auto bad = rows;
    Frontier frontier;
    for (Row& row : bad) {
      const Digest leaf = row.position == n ? false_leaf : to_digest(row.leaf_hash).value();
      row.leaf_hash = copy_of(leaf.bytes());
      row.nodes = copy_of(frontier.append(leaf, hasher).bytes());
    }
    const TreeHead attackers{64, frontier.root(hasher)};
    const VerifyReport expected{VerifyVerdict::damaged, head_of(rows, n, hasher), n,
                                DamageKind::record};
    CHECK(verify(bad, hasher) == expected);
    CHECK(verify(bad, hasher, attackers) == expected);
  }
}

TEST_CASE("INV-08 only the first damage is reported and nothing after it is believed") {
  Sha256 hasher = make_hasher();
  auto rows = make_ledger(50, seed, hasher);
  const TreeHead trusted = head_of(rows, 5, hasher);
  const TreeHead good = head_of(rows, 20, hasher);
  rows[20].nodes.push_back(0);
  rows[30].leaf_hash[0] ^= 1;
  rows.erase(rows.begin() + 40);
  const VerifyReport expected{VerifyVerdict::damaged, good, 20, DamageKind::subtree};
  CHECK(verify(rows, hasher) == expected);
  CHECK(verify(rows, hasher, trusted) == expected);
  CHECK(verify(rows, hasher, TreeHead{500, trusted.root}) == expected);
}

TEST_CASE("INV-08 a payload that does not match is named, unless its record is damaged itself") {
  Sha256 hasher = make_hasher();
  auto rows = make_ledger(20, seed, hasher);
  const TreeHead good = head_of(rows, 11, hasher);
  rows[11].payload_matches = false;
  CHECK(verify(rows, hasher) ==
        VerifyReport{VerifyVerdict::damaged, good, 11, DamageKind::payload});
  rows[11].entry.digest = hasher.empty();
  CHECK(verify(rows, hasher).damage == DamageKind::record);
}

TEST_CASE("a row that cannot be read is a damaged record, or a gap if it is not the next") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(6, seed, hasher);
  const TreeHead good = head_of(rows, 6, hasher);
  Verifier before(hasher);
  for (const Row& row : rows)
    before.feed(row.stored());
  for (const std::uint64_t position : {5U, 6U, 9U}) {
    CAPTURE(position);
    Verifier verifier = before;
    const auto damage = position == 6 ? DamageKind::record : DamageKind::gap;
    CHECK(verifier.feed_unreadable(position) == damage);
    CHECK(verifier.feed_unreadable(100) == damage);
    CHECK(verifier.feed(rows[0].stored()) == damage);
    CHECK(verifier.finish() ==
          VerifyReport{VerifyVerdict::damaged, good, std::min<std::uint64_t>(position, 6), damage});
  }
}

TEST_CASE("INV-08 a record that no frame can hold is a damaged record") {
  Sha256 hasher = make_hasher();
  auto rows = make_ledger(4, seed, hasher);
  rows[2].entry.detail.assign(1025, 'd');
  CHECK(verify(rows, hasher).first_bad == 2);
  CHECK(verify(rows, hasher).damage == DamageKind::record);
}

}  // namespace
}  // namespace wallock::ledger
