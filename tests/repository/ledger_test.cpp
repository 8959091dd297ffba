// The ledger on the file: its root, its growth, and what verify says of an untouched one.
#include <span>

#include "ledger/sha256.hpp"
#include "repository_support.hpp"
#include "wallock/ledger/frame.hpp"

namespace wallock::test {
namespace {

using Leaves = std::span<const Digest>;

// RFC 9162 section 2.1.1 as it is written there, by recursion over the leaves.
Digest naive_root(ledger::Sha256& hasher, Leaves leaves) {
  if (leaves.empty()) return hasher.empty();
  if (leaves.size() == 1) return leaves.front();
  std::size_t k = 1;
  while (2 * k < leaves.size())
    k *= 2;
  return hasher.node(naive_root(hasher, leaves.first(k)), naive_root(hasher, leaves.subspan(k)));
}

// The leaves, hashed anew from what audit() shows.
std::vector<Digest> leaves_of(ledger::Sha256& hasher, Coordinator& store) {
  const auto records = store.audit({.limit = 10'000}).value();
  std::vector<Digest> leaves;
  for (const AuditRecord& record : records) {
    std::string frame;
    REQUIRE(ledger::append_frame(frame, record.position(), record.recorded_at(), record.entry()));
    const auto* data = reinterpret_cast<const std::uint8_t*>(frame.data());
    leaves.push_back(hasher.leaf({data, frame.size()}));
    CHECK(record.leaf_hash() == leaves.back());
    CHECK(record.position() == leaves.size() - 1);
  }
  return leaves;
}

void fill(Coordinator& store, int operations) {
  for (int i = 0; i < operations; ++i) {
    const auto id = "a" + std::to_string(i);
    REQUIRE(answer(store.execute("r" + std::to_string(i % 3), i % 2 ? sent(id) : recorded(id))) ==
            "ok");
  }
}

}  // namespace

TEST_CASE("INV-08 the root is the one that the records give by the RFC's own words") {
  TempStore at;
  auto store = at.open();
  auto hasher = ledger::Sha256::create().value();
  std::size_t size = 0;
  for (int i = 0; i < 40; ++i) {
    const auto leaves = leaves_of(hasher, store);
    CHECK(store.root().value() ==
          TreeHead{.size = leaves.size(), .root = naive_root(hasher, leaves)});
    size = leaves.size();
    REQUIRE(answer(store.execute("r", sent("a" + std::to_string(i)))) == "ok");
    if (i % 4 == 0) REQUIRE(answer(store.acquire("s" + std::to_string(i))) == "ok");
  }
  CHECK(size >= 128);
}

// The head that is trusted comes from the caller, never from the file (case G19).
TEST_CASE("verify is anchored by a head of the store's own past and by no other") {
  TempStore at;
  auto store = at.open();
  fill(store, 20);
  const auto then = store.root().value();
  fill(store, 0);
  REQUIRE(answer(store.execute("later", recorded("b"))) == "ok");
  const auto now = store.root().value();
  CHECK(store.verify().value() == VerifyReport{.verdict = VerifyVerdict::unanchored, .head = now});
  CHECK(store.verify(then).value() ==
        VerifyReport{.verdict = VerifyVerdict::anchored, .head = now});
  CHECK(store.verify(now).value().verdict == VerifyVerdict::anchored);
  CHECK(store.verify(TreeHead{.size = now.size, .root = then.root}).value().verdict ==
        VerifyVerdict::forked);
  CHECK(store.verify(TreeHead{.size = now.size + 1, .root = now.root}).value().verdict ==
        VerifyVerdict::truncated);
}

TEST_CASE("audit pages through the ledger in order") {
  TempStore at;
  auto store = at.open();
  fill(store, 10);
  const auto all = store.audit().value();
  CHECK(all.size() == 31);
  std::vector<AuditRecord> paged;
  for (std::uint64_t from = 0; from < all.size(); from += 7) {
    const auto page = store.audit({.from = from, .limit = 7}).value();
    paged.insert(paged.end(), page.begin(), page.end());
  }
  CHECK(paged == all);
  CHECK(store.audit({.from = all.size()}).value().empty());
  CHECK(store.audit({.from = ~std::uint64_t{0}}).value().empty());
  CHECK(answer(store.audit({.limit = 0})) == "invalid_option");
  CHECK(answer(store.audit({.limit = 10'001})) == "invalid_option");
}

// Both append to one tree: neither forks it (case G4).
TEST_CASE("two handles on one file take turns without losing the edge of the tree") {
  TempStore at;
  auto first = at.open();
  auto second = at.open();
  std::uint64_t random = 1;
  FencingToken last;
  for (int i = 0; i < 2000; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    Coordinator& store = (random >> 40) % 3 == 0 ? first : second;
    const auto id = "a" + std::to_string(i);
    if ((random >> 50) % 4 == 0) {
      if (answer(store.execute("r", recorded(id), [] { throw 1; })) != "work_failed") FAIL(i);
    } else if ((random >> 50) % 4 == 1) {
      const auto lease = store.acquire("s", by("ann"));
      if (!lease || lease->token() <= last) FAIL(i << answer(lease));
      last = lease->token();
      if (effect(store.release(*lease)) != "released") FAIL(i);
    } else {
      const auto done = store.execute("r", recorded(id));
      if (!done || done->results()[0].token() <= last) FAIL(i << answer(done));
      last = done->results()[0].token();
    }
  }
  CHECK(verdict(first) == "UNANCHORED");
  CHECK(first.root().value() == second.root().value());
  CHECK(first.verify(second.root().value()).value().verdict == VerifyVerdict::anchored);
}

}  // namespace wallock::test
