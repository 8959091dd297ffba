// Big-endian integers and texts, written and read back.
#include "wallock/ledger/bytes.hpp"

#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"

namespace wallock::ledger {
namespace {

TEST_CASE("a digest is read from exactly 32 bytes and from no other number of them") {
  const std::vector<std::uint8_t> bytes(70, 0x5a);
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    CAPTURE(length);
    CHECK(to_digest(std::span(bytes).first(length)).has_value() == (length == 32));
  }
}

TEST_CASE("integers are written most significant byte first and read back") {
  std::string out;
  put(out, std::uint8_t{0x01});
  put(out, std::uint16_t{0x0203});
  put(out, std::uint32_t{0x04050607});
  put(out, std::uint64_t{0x08090a0b0c0d0e0f});
  put_signed(out, std::numeric_limits<std::int64_t>::min());
  put_text(out, "xy");
  CHECK(encode_hex(as_bytes(out)) ==
        "0102030405060708090a0b0c0d0e0f"
        "8000000000000000"
        "00027879");

  ByteReader in(as_bytes(out));
  CHECK(in.get<std::uint8_t>() == 0x01);
  CHECK(in.get<std::uint16_t>() == 0x0203);
  CHECK(in.get<std::uint32_t>() == 0x04050607);
  CHECK(in.get<std::uint64_t>() == 0x08090a0b0c0d0e0f);
  CHECK(in.get_signed() == std::numeric_limits<std::int64_t>::min());
  CHECK(in.get_text(2) == "xy");
  CHECK(in.ok());
  CHECK(in.at_end());
}

TEST_CASE("a read past the end yields nothing, is remembered and stops all later reads") {
  const std::string two("\x07\x08", 2);
  ByteReader in(as_bytes(two));
  CHECK(in.get<std::uint32_t>() == 0);
  CHECK_FALSE(in.ok());
  CHECK(in.get<std::uint8_t>() == 0);
  CHECK(in.get_raw(1).empty());
  CHECK_FALSE(in.ok());
  CHECK_FALSE(in.at_end());
}

}  // namespace
}  // namespace wallock::ledger
