// The verifier names the damaged row: every bit of every column and hash is flipped once.
#include <string>
#include <vector>

#include "catch.hpp"
#include "ledger_support.hpp"

namespace wallock::ledger {
namespace {

constexpr std::uint64_t seed = 61;
constexpr std::size_t rows_in_test = 200;

// Feeds `row` to a copy of a verifier that has seen the good rows before it, and the good rows
// after it, and expects the damage to be named, with the head of what was good.
void expect_damage(const Verifier<Sha256>& before, const Row& row, DamageKind damage,
                   const TreeHead& good, const char* what) {
  Verifier<Sha256> verifier = before;
  const bool named = verifier.feed(row.stored()) == damage;
  const VerifyReport report = verifier.finish();
  if (named && report == VerifyReport{.verdict = VerifyVerdict::damaged,
                                      .head = good,
                                      .first_bad = good.size,
                                      .damage = damage}) {
    return;
  }
  FAIL("row " << good.size << ", " << what << ": said " << to_string(report.verdict) << " "
              << to_string(report.damage));
}

// Calls check(verifier that has seen rows 0 .. n - 1, row n, head of those rows) for every row.
template <class Check>
void for_each_row(const std::vector<Row>& rows, Sha256& hasher, Check check) {
  Verifier verifier(hasher);
  for (const Row& row : rows) {
    check(verifier, row, verifier.finish().head);
    REQUIRE(verifier.feed(row.stored()) == DamageKind::none);
  }
}

template <class Int>
Int flip(Int value, int bit) {
  return static_cast<Int>(static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << bit));
}

TEST_CASE("INV-08 every flipped bit of every stored leaf hash and node is named (cases G13, G14)") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(rows_in_test, seed, hasher);
  std::size_t flips = 0;
  for_each_row(rows, hasher, [&](const auto& before, const Row& row, const TreeHead& good) {
    Row bad = row;
    for (std::size_t bit = 0; bit < 8 * row.leaf_hash.size(); ++bit, ++flips) {
      bad.leaf_hash[bit / 8] = flip(bad.leaf_hash[bit / 8], static_cast<int>(bit % 8));
      expect_damage(before, bad, DamageKind::record, good, "leaf hash");
      bad.leaf_hash = row.leaf_hash;
    }
    for (std::size_t bit = 0; bit < 8 * row.nodes.size(); ++bit, ++flips) {
      bad.nodes[bit / 8] = flip(bad.nodes[bit / 8], static_cast<int>(bit % 8));
      expect_damage(before, bad, DamageKind::subtree, good, "node");
      bad.nodes = row.nodes;
    }
  });
  CHECK(flips == (200 + 197) * 256);  // 197 nodes: 200 less the number of one bits in 200
}

// Flips each bit of a number in the row, by setting it through `set(row, value)`.
template <class Int, class Set, class Expect>
void flip_number(const Row& row, Int value, int bits, Set set, Expect expect) {
  for (int bit = 0; bit < bits; ++bit) {
    Row bad = row;
    set(bad, flip(value, bit));
    expect(bad);
  }
}

// Flips each bit of a text; a result that `set` refuses is not a row that can be read at all.
template <class Set, class Expect>
void flip_text(const Row& row, const std::string& text, Set set, Expect expect) {
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string changed = text;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    Row bad = row;
    if (set(bad, changed)) expect(bad);
  }
}

template <class NameType>
bool set_name(std::optional<NameType>& field, const std::string& text) {
  const auto name = NameType::parse(text);
  if (name) field = *name;
  return name.has_value();
}

template <class Expect>
void flip_numbers(const Row& row, Expect expect) {
  const LedgerEntry& entry = row.entry;
  flip_number(
      row, row.recorded_at.time_since_epoch().count(), 64,
      [](Row& bad, std::int64_t value) {
        bad.recorded_at = WallTime(std::chrono::microseconds(value));
      },
      expect);
  flip_number(
      row, static_cast<int>(entry.kind), 8,
      [](Row& bad, int value) { bad.entry.kind = static_cast<RecordKind>(value); }, expect);
  flip_number(
      row, entry.token.value(), 63,
      [](Row& bad, std::uint64_t value) {
        bad.entry.token = FencingToken::from_value(value).value();
      },
      expect);
  flip_number(
      row, static_cast<int>(entry.state.value_or(ActionState::init)), 8,
      [](Row& bad, int value) { bad.entry.state = static_cast<ActionState>(value); }, expect);
  flip_number(
      row, entry.subject.value_or(0), 64,
      [](Row& bad, std::uint64_t value) { bad.entry.subject = value; }, expect);
  flip_number(
      row, entry.until.value_or(Instant()).time_since_epoch().count(), 64,
      [](Row& bad, std::int64_t value) { bad.entry.until = Instant(Duration(value)); }, expect);
}

template <class Expect>
void flip_texts(const Row& row, Expect expect) {
  const LedgerEntry& entry = row.entry;
  if (entry.resource) {
    flip_text(
        row, entry.resource->str(),
        [](Row& bad, const std::string& text) { return set_name(bad.entry.resource, text); },
        expect);
  }
  if (entry.action_id) {
    flip_text(
        row, entry.action_id->str(),
        [](Row& bad, const std::string& text) { return set_name(bad.entry.action_id, text); },
        expect);
  }
  flip_text(
      row, entry.actor,
      [](Row& bad, const std::string& text) {
        bad.entry.actor = text;
        return true;
      },
      expect);
  flip_text(
      row, entry.detail,
      [](Row& bad, const std::string& text) {
        bad.entry.detail = text;
        return true;
      },
      expect);
}

template <class Expect>
void flip_score_and_digest(const Row& row, Expect expect) {
  for (int bit = 0; bit < 20; ++bit) {
    const auto score = row.entry.score.value_or(Score()).millionths();
    const auto changed = Score::from_millionths(flip(score, bit));
    if (!changed) continue;
    Row bad = row;
    bad.entry.score = *changed;
    expect(bad);
  }
  const Digest digest = row.entry.digest.value_or(Digest());
  for (std::size_t bit = 0; bit < 8 * Digest::size; ++bit) {
    Digest::Bytes bytes = digest.bytes();
    bytes[bit / 8] = flip(bytes[bit / 8], static_cast<int>(bit % 8));
    Row bad = row;
    bad.entry.digest = Digest(bytes);
    expect(bad);
  }
}

TEST_CASE("INV-08 every flipped bit of every column is named with its row (case G7)") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(rows_in_test, seed, hasher);
  std::size_t flips = 0;
  for_each_row(rows, hasher, [&](const auto& before, const Row& row, const TreeHead& good) {
    if (good.size % 8 != 3 && good.size > 8) return;  // one row in eight; all kinds of trees
    const auto expect = [&](const Row& bad) {
      expect_damage(before, bad, DamageKind::record, good, "column");
      ++flips;
    };
    flip_numbers(row, expect);
    flip_texts(row, expect);
    flip_score_and_digest(row, expect);
  });
  CHECK(flips > 33 * 500);
}

// Empties or fills each optional column.
template <class T, class Expect>
void toggle(const Row& row, std::optional<T> LedgerEntry::* field, const T& value, Expect expect) {
  Row bad = row;
  if (bad.entry.*field) {
    (bad.entry.*field).reset();
  } else {
    bad.entry.*field = value;
  }
  expect(bad);
}

TEST_CASE("INV-08 a column emptied or filled in is named with its row") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(rows_in_test, seed, hasher);
  for_each_row(rows, hasher, [&](const auto& before, const Row& row, const TreeHead& good) {
    const auto expect = [&](const Row& bad) {
      expect_damage(before, bad, DamageKind::record, good, "presence");
    };
    toggle(row, &LedgerEntry::resource, ResourceName::parse("r").value(), expect);
    toggle(row, &LedgerEntry::action_id, ActionId::parse("a").value(), expect);
    toggle(row, &LedgerEntry::state, ActionState::init, expect);
    toggle(row, &LedgerEntry::subject, std::uint64_t{0}, expect);
    toggle(row, &LedgerEntry::until, Instant(), expect);
    toggle(row, &LedgerEntry::score, Score(), expect);
    toggle(row, &LedgerEntry::digest, Digest(), expect);
    for (auto text : {&LedgerEntry::actor, &LedgerEntry::detail}) {
      Row bad = row;
      bad.entry.*text = (bad.entry.*text).empty() ? "x" : "";
      expect(bad);
    }
  });
}

TEST_CASE("INV-08 a flipped bit of a position is a gap or a repetition at the lower of the two") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(rows_in_test, seed, hasher);
  for (std::size_t n = 0; n < rows.size(); n += 7) {
    for (int bit = 0; bit < 64; ++bit) {
      CAPTURE(n, bit);
      auto bad = rows;
      bad[n].position = flip(bad[n].position, bit);
      const VerifyReport report = verify(bad, hasher);
      CHECK(report.damage == DamageKind::gap);
      CHECK(report.first_bad == std::min<std::uint64_t>(n, bad[n].position));
      CHECK(report.head == head_of(rows, n, hasher));
    }
  }
}

TEST_CASE(
    "INV-08 hashes of a wrong length are named: cut, padded, emptied or given to another row") {
  Sha256 hasher = make_hasher();
  const auto rows = make_ledger(rows_in_test, seed, hasher);
  for_each_row(rows, hasher, [&](const auto& before, const Row& row, const TreeHead& good) {
    const auto with_leaf = [&](std::size_t length) {
      Row bad = row;
      bad.leaf_hash.resize(length);
      expect_damage(before, bad, DamageKind::record, good, "length of the leaf hash");
    };
    with_leaf(0);
    with_leaf(31);
    with_leaf(33);
    const auto with_nodes = [&](std::size_t length) {
      Row bad = row;
      bad.nodes.resize(length);
      if (length != row.nodes.size()) {
        expect_damage(before, bad, DamageKind::subtree, good, "length of the nodes");
      }
    };
    with_nodes(0);
    with_nodes(row.nodes.size() + 1);
    with_nodes(row.nodes.size() + 32);
    if (!row.nodes.empty()) with_nodes(row.nodes.size() - 32);
    if (!row.nodes.empty()) with_nodes(row.nodes.size() - 1);
  });
}

}  // namespace
}  // namespace wallock::ledger
