// The one record that the renewals of a transaction share.
#include "rules_support.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

LedgerEntry renewed(std::string_view name, std::uint64_t position, Instant until) {
  rules::ResourceState state = held();
  state.issued = token(position);
  const auto renewal = rules::decide_renew(state,
                                           {.resource = resource(name),
                                            .token = token(position),
                                            .instance = first_instance,
                                            .ttl = until - boot(100s)},
                                           at(100s));
  return renewal.value().change.entries.at(0);
}

std::string line(std::uint64_t position, Instant until, const std::string& name) {
  return std::to_string(token(position).value()) + " " +
         std::to_string(until.time_since_epoch().count()) + " " + name + "\n";
}

}  // namespace

TEST_CASE("a list of renewals has a line for each, in the order of their tokens") {
  const std::vector<LedgerEntry> renewals{renewed("b c", 502, boot(150s)),
                                          renewed("z", 500, boot(160s)),
                                          renewed("a", 501, boot(140s))};
  CHECK(rules::renewal_list(renewals) ==
        line(500, boot(160s), "z") + line(501, boot(140s), "a") + line(502, boot(150s), "b c"));
  CHECK(rules::renewal_list({}).empty());
}

TEST_CASE("two lists of renewals are the same text only if they are the same renewals") {
  const std::vector<LedgerEntry> one{renewed("a", 500, boot(150s)), renewed("b", 501, boot(150s))};
  const auto differs = [&](std::vector<LedgerEntry> other) {
    return rules::renewal_list(one) != rules::renewal_list(other);
  };
  CHECK_FALSE(differs({one[1], one[0]}));
  CHECK(differs({one[0]}));
  CHECK(differs({one[0], renewed("b", 501, boot(150s) + 1ns)}));
  CHECK(differs({one[0], renewed("b", 502, boot(150s))}));
  CHECK(differs({one[0], renewed("c", 501, boot(150s))}));
}

TEST_CASE("renewals that share a record are told by their number, their hash and the last end") {
  const std::vector<LedgerEntry> renewals{
      renewed("a", 500, boot(150s)), renewed("b", 501, boot(160s)), renewed("c", 502, boot(140s))};
  Digest::Bytes bytes{};
  bytes.fill(0xab);
  std::string hex;
  for (int i = 0; i < 32; ++i)
    hex += "ab";
  CHECK(rules::shared_renewal(renewals, Digest(bytes)) ==
        LedgerEntry{.kind = RecordKind::lease_renewed,
                    .until = boot(160s),
                    .detail = "count=3 sha256=" + hex});
}
