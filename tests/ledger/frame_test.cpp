// The frame is a bijection: every record has one frame, and only frames are read.
#include <map>
#include <string>
#include <tuple>

#include "catch.hpp"
#include "ledger_support.hpp"

namespace wallock::ledger {
namespace {

bool is_refused(const std::string& frame) {
  const auto read = read_frame(as_bytes(frame));
  return !read && read.error() == Error(Errc::ledger_damaged);
}

LedgerEntry full_entry() {
  LedgerEntry entry;
  entry.kind = RecordKind::action_recorded;
  entry.resource = ResourceName::parse("res").value();
  entry.action_id = ActionId::parse("act").value();
  entry.token = FencingToken::of(1, 2).value();
  entry.state = ActionState::sealed;
  entry.subject = 3;
  entry.until = Instant(Duration(4));
  entry.score = Score::from_millionths(5).value();
  entry.digest = Digest();
  entry.actor = "actor";
  entry.detail = "detail";
  return entry;
}

TEST_CASE("INV-08 a frame read back is the record it was made from, for 20000 seeded records") {
  constexpr std::uint64_t seed = 41;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 20'000; ++i) {
    const Frame record{random.below(FencingToken::max_position + 1), random_time(random),
                       random_entry(random)};
    std::string out = "kept";
    const bool done = append_frame(out, record.position, record.recorded_at, record.entry);
    const auto read = read_frame(as_bytes(std::string_view(out).substr(4)));
    if (!done || !read || *read != record || !out.starts_with("kept") ||
        out.size() - 4 > max_frame_bytes) {
      FAIL("record " << i << " does not come back");
    }
  }
}

// Records of few values, so that equal ones occur and texts differ by where they are cut.
LedgerEntry crowded_entry(Random& random) {
  const auto text = [&random] { return std::string(1 + random.below(2), 'a'); };
  LedgerEntry entry;
  entry.kind = random.coin() ? RecordKind::lease_granted : RecordKind::lease_renewed;
  entry.token = FencingToken::from_value(random.below(2)).value();
  if (random.coin()) entry.resource = ResourceName::parse(text()).value();
  if (random.coin()) entry.action_id = ActionId::parse(text()).value();
  if (random.coin()) entry.state = static_cast<ActionState>(random.below(2));
  if (random.coin()) entry.subject = random.below(2);
  if (random.coin()) entry.until = Instant(Duration(static_cast<int>(random.below(2))));
  if (random.coin()) entry.actor = text();
  if (random.coin()) entry.detail = text();
  return entry;
}

TEST_CASE("INV-08 two different records never have the same frame") {
  constexpr std::uint64_t seed = 42;
  CAPTURE(seed);
  Random random(seed);
  std::map<std::string, LedgerEntry> seen;
  int repeated = 0;
  for (int i = 0; i < 40'000; ++i) {
    const LedgerEntry entry = crowded_entry(random);
    const auto [place, fresh] = seen.emplace(frame_of(1, WallTime{}, entry), entry);
    if (place->second != entry) FAIL("two records share a frame");
    if (!fresh) ++repeated;
  }
  CHECK(repeated > 1'000);  // the records were crowded enough for the test to mean something
}

TEST_CASE("INV-08 a frame with any one bit flipped is refused or is the frame of another record") {
  constexpr std::uint64_t seed = 43;
  CAPTURE(seed);
  Random random(seed);
  int refused = 0;
  int other = 0;
  for (int i = 0; i < 100; ++i) {
    LedgerEntry entry = random_entry(random);
    entry.detail.resize(entry.detail.size() % 16);
    const Frame record{random.below(1'000), random_time(random), entry};
    const std::string frame = frame_of(record.position, record.recorded_at, record.entry);
    for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
      std::string flipped = frame;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      const auto read = read_frame(as_bytes(flipped));
      ++(read ? other : refused);
      if (!read) continue;
      if (*read == record || frame_of(read->position, read->recorded_at, read->entry) != flipped) {
        FAIL("bit " << bit << " of record " << i << " makes no difference");
      }
    }
  }
  CHECK(refused > 0);
  CHECK(other > 0);
}

TEST_CASE("a frame cut short or with bytes after its end is refused as damaged") {
  const std::string frame = frame_of(7, WallTime{}, full_entry());
  REQUIRE(read_frame(as_bytes(frame)));
  for (std::size_t length = 0; length < frame.size(); ++length) {
    CAPTURE(length);
    CHECK(is_refused(frame.substr(0, length)));
  }
  CHECK(is_refused(frame + '\0'));
  CHECK(is_refused(frame + frame));
}

TEST_CASE("a frame of an unknown version, kind or presence bit is refused as damaged") {
  const std::string frame = frame_of(7, WallTime{}, LedgerEntry{});
  const auto with = [&frame](std::size_t at, int value) {
    std::string changed = frame;
    changed[at] = static_cast<char>(value);
    return changed;
  };
  for (int value = 0; value < 256; ++value) {
    CAPTURE(value);
    CHECK(is_refused(with(0, value)) == (value != 1));
    const auto kind = static_cast<RecordKind>(value);
    CHECK(is_refused(with(1, value)) == (to_string(kind) == "unknown"));
  }
  for (int bit = 0; bit < 8; ++bit) {
    CAPTURE(bit);
    CHECK(is_refused(with(2, 1 << bit)));
  }
  std::string eighth = frame_of(7, WallTime{}, full_entry());
  REQUIRE(static_cast<unsigned char>(eighth[2]) == 0x7f);
  eighth[2] = '\xff';
  CHECK(is_refused(eighth));
}

// The frame of full_entry with the bytes at `at` replaced.
std::string tampered(std::size_t at, const std::string& bytes) {
  std::string frame = frame_of(7, WallTime{}, full_entry());
  frame.replace(at, bytes.size(), bytes);
  return frame;
}

TEST_CASE("a frame with a value out of bounds is refused as damaged") {
  using std::string_literals::operator""s;
  // Offsets: position 3, token 11, resource 27, action id 32, state 37, score 54.
  CHECK_FALSE(is_refused(tampered(3, "\x00\x00\x07\xff\xff\xff\xff\xff"s)));
  CHECK(is_refused(tampered(3, "\x00\x00\x08\x00\x00\x00\x00\x00"s)));
  CHECK_FALSE(is_refused(tampered(11, "\x7f\xff"s)));
  CHECK(is_refused(tampered(11, "\x80"s)));
  CHECK(is_refused(tampered(29, "\x1f"s)));  // a control byte in the resource
  CHECK(is_refused(tampered(34, "\xff"s)));  // an action id that is not UTF-8
  CHECK_FALSE(is_refused(tampered(37, "\x04"s)));
  CHECK(is_refused(tampered(37, "\x05"s)));
  CHECK_FALSE(is_refused(tampered(54, "\x00\x0f\x42\x40"s)));
  CHECK(is_refused(tampered(54, "\x00\x0f\x42\x41"s)));
}

TEST_CASE("a frame with a text that is empty where a name stands, or too long, is refused") {
  const auto name_frame = [](std::size_t length) {
    std::string frame = frame_of(7, WallTime{}, LedgerEntry{});
    frame[2] = 1;  // a resource
    std::string name;
    put_text(name, std::string(length, 'r'));
    return frame.insert(27, name);
  };
  CHECK(is_refused(name_frame(0)));
  CHECK_FALSE(is_refused(name_frame(255)));
  CHECK(is_refused(name_frame(256)));

  const auto text_frame = [](std::size_t actor, std::size_t detail) {
    std::string frame = frame_of(7, WallTime{}, LedgerEntry{}).substr(0, 27);
    put_text(frame, std::string(actor, 'a'));
    put_text(frame, std::string(detail, 'd'));
    return frame;
  };
  CHECK_FALSE(is_refused(text_frame(255, 1024)));
  CHECK(is_refused(text_frame(256, 0)));
  CHECK(is_refused(text_frame(0, 1025)));
}

TEST_CASE("a record that no frame can hold is not framed, and the buffer stays as it was") {
  const auto fits = [](std::uint64_t position, const LedgerEntry& entry) {
    std::string out = "kept";
    const bool done = append_frame(out, position, WallTime{}, entry);
    CHECK(done == (out != "kept"));
    CHECK(done == fits_frame(position, entry));
    return done;
  };
  const LedgerEntry plain;
  CHECK(fits(FencingToken::max_position, plain));
  CHECK_FALSE(fits(FencingToken::max_position + 1, plain));
  CHECK(fits(0, {.actor = std::string(255, 'a')}));
  CHECK_FALSE(fits(0, {.actor = std::string(256, 'a')}));
  CHECK(fits(0, {.detail = std::string(1024, 'd')}));
  CHECK_FALSE(fits(0, {.detail = std::string(1025, 'd')}));
  CHECK_FALSE(fits(0, {.kind = static_cast<RecordKind>(2)}));
  CHECK_FALSE(fits(0, {.state = static_cast<ActionState>(5)}));
}

TEST_CASE("the longest frame has max_frame_bytes, and a buffer with that room is not grown") {
  LedgerEntry entry = full_entry();
  entry.resource = ResourceName::parse(std::string(255, 'r')).value();
  entry.action_id = ActionId::parse(std::string(255, 'a')).value();
  entry.actor = std::string(255, 'h');
  entry.detail = std::string(1024, 'd');
  std::string out;
  out.reserve(max_frame_bytes);
  const char* before = out.data();
  REQUIRE(append_frame(out, 1, WallTime{}, entry));
  CHECK(out.size() == max_frame_bytes);
  CHECK(out.data() == before);
}

}  // namespace
}  // namespace wallock::ledger
