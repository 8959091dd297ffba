// The content of an action as bytes: what the salted digest in its record is taken over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "wallock/action.hpp"
#include "wallock/ledger/bytes.hpp"

namespace wallock::ledger {

// 16 random bytes per action, stored beside the payload. Without them a short payload could be
// guessed from its digest; once payload and salt are gone, the digest tells nothing.
struct Salt {
  static constexpr std::size_t size = 16;
  std::array<std::uint8_t, size> bytes{};

  friend bool operator==(const Salt&, const Salt&) = default;
};

inline constexpr std::string_view content_label = "wallock action content";
inline constexpr std::uint8_t content_version = 1;

// Appends the action's content, encoding version 1; its digest is SHA-256 of exactly these bytes
// (docs/ledger.md has the table). Integers and lengths are big-endian:
//     label text, version u8, salt 16 bytes, presence u8 (1 destination, 2 amount),
//     action id text, destination text if present, security_score u32 (millionths),
//     amount if present: units i64, places u8,
//     payload: 64-bit length and bytes
// Two different contents never give the same bytes, and the label keeps them apart from anything
// else that is ever hashed. Throws std::bad_alloc only if `out` must grow and cannot.
inline void append_content(std::string& out, const Salt& salt, const ActionRequest& action) {
  const auto& destination = action.destination();
  const auto& amount = action.amount();
  put_text(out, content_label);
  put(out, content_version);
  put_raw(out, salt.bytes);
  put(out, static_cast<std::uint8_t>((destination ? 1 : 0) | (amount ? 2 : 0)));
  put_text(out, action.id().str());
  if (destination) put_text(out, destination->str());
  put(out, static_cast<std::uint32_t>(action.security_score().millionths()));
  if (amount) {
    put_signed(out, amount->units());
    put(out, static_cast<std::uint8_t>(amount->places()));
  }
  put(out, static_cast<std::uint64_t>(action.payload().size()));
  out.append(action.payload());
}

}  // namespace wallock::ledger
