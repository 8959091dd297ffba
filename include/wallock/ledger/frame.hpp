// The record frame: the bytes of a ledger record that its leaf hash is taken over.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "wallock/audit.hpp"
#include "wallock/ledger/bytes.hpp"
#include "wallock/result.hpp"

namespace wallock::ledger {

// Frame version 1 (docs/ledger.md has the table). Integers and lengths are big-endian:
//     version u8, kind u8, presence u8, position u64, token u64, recorded_at i64 (microseconds)
//     then, each if its presence bit is set: resource text, action_id text, state u8, subject u64,
//     until i64 (nanoseconds), score u32 (millionths), digest 32 bytes
//     then always: actor text, detail text
// A text is a 16-bit length and its bytes. Every record has exactly one frame and every frame
// belongs to exactly one record. A version, once released, never changes; verification reads the
// version of each frame's own row.
inline constexpr std::uint8_t frame_version = 1;

// No frame of version 1 is longer.
inline constexpr std::size_t max_frame_bytes = 27 + 2 * (2 + max_name_bytes) + 1 + 8 + 8 + 4 +
                                               Digest::size + (2 + max_name_bytes) +
                                               (2 + max_detail_bytes);

// A frame read back: all that a ledger row says but its hashes.
struct Frame {
  std::uint64_t position = 0;
  WallTime recorded_at = {};
  LedgerEntry entry = {};

  friend bool operator==(const Frame&, const Frame&) = default;
};

namespace detail {

// Presence bits, lowest first in the order of the fields. The highest bit is always zero.
enum FrameField : std::uint8_t {
  has_resource = 1,
  has_action_id = 2,
  has_state = 4,
  has_subject = 8,
  has_until = 16,
  has_score = 32,
  has_digest = 64,
};
inline constexpr std::uint8_t all_frame_fields = 127;

constexpr bool is_known(RecordKind kind) noexcept { return to_string(kind) != "unknown"; }
constexpr bool is_known(ActionState state) noexcept { return state <= ActionState::quarantined; }

inline std::uint8_t presence(const LedgerEntry& entry) noexcept {
  return static_cast<std::uint8_t>(
      (entry.resource ? has_resource : 0) | (entry.action_id ? has_action_id : 0) |
      (entry.state ? has_state : 0) | (entry.subject ? has_subject : 0) |
      (entry.until ? has_until : 0) | (entry.score ? has_score : 0) |
      (entry.digest ? has_digest : 0));
}

template <class NameType>
std::optional<NameType> get_name(ByteReader& in, bool& legal) {
  auto name = NameType::parse(in.get_text(max_name_bytes));
  if (name) return *std::move(name);
  legal = false;
  return std::nullopt;
}

inline std::optional<Score> get_score(ByteReader& in, bool& legal) {
  const auto score = Score::from_millionths(in.get<std::uint32_t>());
  if (score) return *score;
  legal = false;
  return std::nullopt;
}

// Reads the optional fields and the two texts; false if one of them is not legal.
inline bool get_fields(ByteReader& in, std::uint8_t present, LedgerEntry& entry) {
  bool legal = true;
  if (present & has_resource) entry.resource = get_name<ResourceName>(in, legal);
  if (present & has_action_id) entry.action_id = get_name<ActionId>(in, legal);
  if (present & has_state) entry.state = static_cast<ActionState>(in.get<std::uint8_t>());
  if (present & has_subject) entry.subject = in.get<std::uint64_t>();
  if (present & has_until) entry.until = Instant(Duration(in.get_signed()));
  if (present & has_score) entry.score = get_score(in, legal);
  if (present & has_digest) entry.digest = to_digest(in.get_raw(Digest::size));
  entry.actor = in.get_text(max_name_bytes);
  entry.detail = in.get_text(max_detail_bytes);
  return legal && in.ok() && in.at_end() && (!entry.state || is_known(*entry.state));
}

}  // namespace detail

// True if the record can be framed: a known kind and state, an actor of at most 255 bytes, a
// detail of at most 1024, a position of 43 bits. (Names, score and token cannot be out of bounds.)
[[nodiscard]] constexpr bool fits_frame(std::uint64_t position, const LedgerEntry& entry) noexcept {
  return position <= FencingToken::max_position && detail::is_known(entry.kind) &&
         (!entry.state || detail::is_known(*entry.state)) && entry.actor.size() <= max_name_bytes &&
         entry.detail.size() <= max_detail_bytes;
}

// Appends the record's frame to `out`. False, with `out` untouched, unless fits_frame. Allocates
// nothing if `out` has max_frame_bytes of room left; throws std::bad_alloc only if it must grow
// and cannot.
[[nodiscard]] inline bool append_frame(std::string& out, std::uint64_t position,
                                       WallTime recorded_at, const LedgerEntry& entry) {
  if (!fits_frame(position, entry)) return false;
  put(out, frame_version);
  put(out, static_cast<std::uint8_t>(entry.kind));
  put(out, detail::presence(entry));
  put(out, position);
  put(out, entry.token.value());
  put_signed(out, recorded_at.time_since_epoch().count());
  if (entry.resource) put_text(out, entry.resource->str());
  if (entry.action_id) put_text(out, entry.action_id->str());
  if (entry.state) put(out, static_cast<std::uint8_t>(*entry.state));
  if (entry.subject) put(out, *entry.subject);
  if (entry.until) put_signed(out, entry.until->time_since_epoch().count());
  if (entry.score) put(out, static_cast<std::uint32_t>(entry.score->millionths()));
  if (entry.digest) put_raw(out, entry.digest->bytes());
  put_text(out, entry.actor);
  put_text(out, entry.detail);
  return true;
}

// Reads exactly one frame. ledger_damaged (security) for an unknown version, kind, state or
// presence bit, a value out of bounds, a frame that ends early or goes on after its end.
[[nodiscard]] inline Result<Frame> read_frame(std::span<const std::uint8_t> bytes) {
  ByteReader in(bytes);
  if (in.get<std::uint8_t>() != frame_version) return fail(Errc::ledger_damaged);
  Frame frame;
  frame.entry.kind = static_cast<RecordKind>(in.get<std::uint8_t>());
  const auto present = in.get<std::uint8_t>();
  frame.position = in.get<std::uint64_t>();
  const auto token = FencingToken::from_value(in.get<std::uint64_t>());
  frame.recorded_at = WallTime(std::chrono::microseconds(in.get_signed()));
  const bool head_legal = (present & ~detail::all_frame_fields) == 0 && token &&
                          frame.position <= FencingToken::max_position &&
                          detail::is_known(frame.entry.kind);
  if (!head_legal || !detail::get_fields(in, present, frame.entry)) {
    return fail(Errc::ledger_damaged);
  }
  frame.entry.token = *token;
  return frame;
}

}  // namespace wallock::ledger
