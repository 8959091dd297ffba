// The bytes of frame version 1, which never change once a ledger holds them (case G11).
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ledger_support.hpp"

namespace wallock::ledger {
namespace {

struct Golden {
  std::string frame;  // hex
  std::string leaf_hash;
};

// By the name of the record kind.
std::map<std::string, Golden> golden_file(int version) {
  std::map<std::string, Golden> lines;
  std::ifstream file(WALLOCK_TEST_DATA_DIR "/frames_v" + std::to_string(version) + ".txt");
  std::string kind;
  Golden golden;
  while (file >> kind >> golden.frame >> golden.leaf_hash)
    lines[kind] = golden;
  return lines;
}

// A record of the kind, with fields that differ from kind to kind and each there in some of them.
Frame golden_record(RecordKind kind) {
  const auto n = static_cast<std::uint64_t>(kind);
  const auto name = std::string(to_string(kind));
  Frame record;
  record.position = n * 1'000'003;
  record.recorded_at =
      WallTime(std::chrono::microseconds(1'767'225'600'123'456)) + std::chrono::seconds(n);
  LedgerEntry& entry = record.entry;
  entry.kind = kind;
  entry.token = FencingToken::of(n % 3, record.position).value();
  if (n >= 10) entry.resource = ResourceName::parse("account/" + name).value();
  if (n == 20 || n == 10) entry.action_id = ActionId::parse("pay-" + std::to_string(n)).value();
  if (n == 20 || n >= 40) entry.state = static_cast<ActionState>(1 + n % 4);
  if (n >= 40) entry.subject = record.position - 17;
  if (n % 5 == 0) entry.until = Instant(std::chrono::nanoseconds(30'000'000'001 * (n + 1)));
  if (n == 20) {
    entry.score = Score::parse("0.75").value();
    Digest::Bytes bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::uint8_t>(0xf0 + i);
    entry.digest = Digest(bytes);
  }
  if (n >= 10 && n % 2 == 0) entry.actor = "worker-\xc3\xa9-" + std::to_string(n);
  if (n % 3 == 0) entry.detail = "detail of " + name;
  return record;
}

std::vector<std::uint8_t> unhex(const std::string& hex) {
  std::vector<std::uint8_t> bytes(hex.size() / 2);
  REQUIRE(decode_hex(hex, bytes));
  return bytes;
}

TEST_CASE("INV-08 the frame of every record kind keeps the bytes of its version for ever") {
  Sha256 hasher = make_hasher();
  const auto golden = golden_file(frame_version);
  CHECK(golden.size() == all_record_kinds.size());
  for (const RecordKind kind : all_record_kinds) {
    const Frame record = golden_record(kind);
    const std::string frame = frame_of(record.position, record.recorded_at, record.entry);
    const std::string name(to_string(kind));
    CAPTURE(name);
    REQUIRE(golden.count(name) == 1);
    CHECK(encode_hex(as_bytes(frame)) == golden.at(name).frame);
    CHECK(to_string(hasher.leaf(as_bytes(frame))) == golden.at(name).leaf_hash);
  }
}

TEST_CASE("INV-08 the frames of every version up to now are still read") {
  for (int version = 1; version <= frame_version; ++version) {
    CAPTURE(version);
    const auto golden = golden_file(version);
    CHECK_FALSE(golden.empty());
    for (const auto& [kind, line] : golden) {
      CAPTURE(kind);
      const auto read = read_frame(unhex(line.frame));
      REQUIRE(read);
      CHECK(*read == golden_record(read->entry.kind));
      CHECK(to_string(read->entry.kind) == kind);
    }
  }
}

TEST_CASE("a frame of version 1 has the layout of the table in docs/ledger.md, field by field") {
  LedgerEntry entry;
  entry.kind = RecordKind::action_recorded;
  entry.resource = ResourceName::parse("ab").value();
  entry.action_id = ActionId::parse("c").value();
  entry.token = FencingToken::from_value(0x0102030405060708).value();
  entry.state = ActionState::sealed;
  entry.subject = 0x1112131415161718;
  entry.until = Instant(Duration(-2));
  entry.score = Score::from_millionths(1'000'000).value();
  entry.digest = Digest::parse(std::string(62, '0') + "ff").value();
  entry.actor = "d";
  entry.detail = "efg";
  const std::string frame = frame_of(0x0203, WallTime(std::chrono::microseconds(-1)), entry);
  CHECK(encode_hex(as_bytes(frame)) ==
        "01"                // version
        "14"                // kind 20
        "7f"                // all seven presence bits
        "0000000000000203"  // position
        "0102030405060708"  // token
        "ffffffffffffffff"  // recorded_at
        "00026162"          // resource
        "000163"            // action_id
        "03"                // state
        "1112131415161718"  // subject
        "fffffffffffffffe"  // until
        "000f4240"          // score
        "00000000000000000000000000000000000000000000000000000000000000ff"
        "000164"        // actor
        "0003656667");  // detail

  CHECK(encode_hex(as_bytes(frame_of(1, WallTime{}, LedgerEntry{}))) ==
        "010000"
        "0000000000000001"
        "0000000000000000"
        "0000000000000000"
        "0000"
        "0000");
}

}  // namespace
}  // namespace wallock::ledger
