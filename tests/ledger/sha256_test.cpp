// SHA-256 against the published vectors of FIPS 180-4.
#include "ledger/sha256.hpp"

#include <string>
#include <utility>

#include "catch.hpp"
#include "ledger_support.hpp"

namespace wallock::ledger {
namespace {

TEST_CASE("SHA-256 gives the published digests of one block, two blocks, nothing and a million a") {
  Sha256 hasher = make_hasher();
  const auto digest = [&hasher](const std::string& text) {
    return to_string(hasher.digest(as_bytes(text)));
  };
  CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(digest(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(hasher.ok());
}

TEST_CASE("SHA-256 puts 0x00 before a leaf, 0x01 before a node and hashes nothing when empty") {
  Sha256 hasher = make_hasher();
  Random random(11);
  const Digest left = random.digest();
  const Digest right = random.digest();
  const std::string data = random.bytes(300);

  CHECK(hasher.leaf(as_bytes(data)) == hasher.digest(as_bytes(std::string(1, '\0') + data)));
  std::string pair(1, '\x01');
  put_raw(pair, left.bytes());
  put_raw(pair, right.bytes());
  CHECK(hasher.node(left, right) == hasher.digest(as_bytes(pair)));
  CHECK(hasher.node(left, right) != hasher.node(right, left));
  CHECK(hasher.empty() == hasher.digest({}));
}

TEST_CASE("SHA-256 objects give the same digests however they are interleaved or moved") {
  Sha256 first = make_hasher();
  Sha256 second = make_hasher();
  const Digest expected = first.digest(as_bytes("one"));
  CHECK(second.digest(as_bytes("two")) != expected);
  CHECK(second.digest(as_bytes("one")) == expected);
  Sha256 moved = std::move(first);
  CHECK(moved.digest(as_bytes("one")) == expected);
  CHECK(moved.ok());
}

}  // namespace
}  // namespace wallock::ledger
