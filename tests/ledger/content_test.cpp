// The salted encoding of an action's content: what its digest binds.
#include "wallock/ledger/content.hpp"

#include <map>
#include <string>

#include "catch.hpp"
#include "ledger_support.hpp"

namespace wallock::ledger {
namespace {

constexpr Salt zero_salt{};

ActionRequest action(ActionFields fields) {
  return ActionRequest::create(std::move(fields)).value();
}

std::string content_of(const ActionRequest& request, const Salt& salt = zero_salt) {
  std::string out;
  append_content(out, salt, request);
  return out;
}

TEST_CASE("the content encoding has the layout of the table in docs/ledger.md, field by field") {
  Salt salt;
  for (std::size_t i = 0; i < Salt::size; ++i)
    salt.bytes[i] = static_cast<std::uint8_t>(0xa0 + i);
  const auto full = action({.id = "pay-1",
                            .destination = "q",
                            .payload = std::string("x\0y", 3),
                            .security_score = Score::parse("0.5").value(),
                            .amount = Decimal::parse("-12.5").value()});
  const std::string label = "0016" + encode_hex(as_bytes("wallock action content"));
  CHECK(encode_hex(as_bytes(content_of(full, salt))) ==
        label +
            "01"                                // version
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"  // salt
            "03"                                // destination and amount are there
            "00057061792d31"                    // action id
            "000171"                            // destination
            "0007a120"                          // security_score
            "ffffffffffffff8301"                // amount: -125, one place
            "0000000000000003780079");          // payload

  CHECK(encode_hex(as_bytes(content_of(action({.id = "pay-1"})))) ==
        label + "01" + std::string(32, '0') + "00" + "00057061792d31" + "00000000" +
            "0000000000000000");
}

TEST_CASE("the digest of a content is fixed for ever") {
  Sha256 hasher = make_hasher();
  const auto request = action({.id = "pay-1", .destination = "bank", .payload = "{}"});
  CHECK(to_string(hasher.digest(as_bytes(content_of(request)))) ==
        "46b4caf4e74ca17b8fa98462ae8e29b2b38025b58ff3550309a28c9dd2974de6");
}

TEST_CASE("the content is appended to what the buffer holds") {
  std::string out = "kept";
  append_content(out, zero_salt, action({.id = "a"}));
  CHECK(out == "kept" + content_of(action({.id = "a"})));
}

TEST_CASE("every field of an action and every bit of its salt makes another content") {
  const ActionFields base{.id = "a",
                          .destination = "d",
                          .payload = "p",
                          .security_score = Score::parse("0.5").value(),
                          .amount = Decimal::parse("1.5").value()};
  std::vector<ActionFields> variants(9, base);
  variants[0].id = "b";
  variants[1].destination = "e";
  variants[2].destination.reset();
  variants[3].payload = "q";
  variants[4].payload.clear();
  variants[5].security_score = Score();
  variants[6].amount = Decimal::parse("15").value();  // the same digits
  variants[7].amount = Decimal::parse("-1.5").value();
  variants[8].amount.reset();

  std::map<std::string, int> seen;
  ++seen[content_of(action(base))];
  for (const ActionFields& fields : variants)
    ++seen[content_of(action(fields))];
  for (std::size_t bit = 0; bit < 8 * Salt::size; ++bit) {
    Salt salt;
    salt.bytes[bit / 8] = static_cast<std::uint8_t>(1 << (bit % 8));
    ++seen[content_of(action(base), salt)];
  }
  CHECK(seen.size() == 1 + variants.size() + 128);
}

TEST_CASE("two different actions never have the same content, however their texts are cut") {
  constexpr std::uint64_t seed = 51;
  CAPTURE(seed);
  Random random(seed);
  const auto text = [&random](std::size_t least) {
    return std::string(least + random.below(3), 'a');
  };
  std::map<std::string, ActionRequest> seen;
  for (int i = 0; i < 20'000; ++i) {
    ActionFields fields{.id = text(1), .payload = text(0)};
    if (random.coin()) fields.destination = text(1);
    if (random.coin()) fields.amount = Decimal::parse(random.coin() ? "1" : "0.1").value();
    const ActionRequest request = action(std::move(fields));
    const auto place = seen.emplace(content_of(request), request).first;
    if (place->second != request) FAIL("two actions share a content");
  }
  CHECK(seen.size() == 3 * 3 * 4 * 3);  // all there are
}

}  // namespace
}  // namespace wallock::ledger
