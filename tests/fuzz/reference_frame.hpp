// A second decoder of record frames, written from the table in docs/ledger.md and from nothing
// else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "fuzz/reference_json.hpp"

namespace wallock::fuzz {

// The columns of the table that are there, by name: numbers in decimal, texts and digests as bytes.
using ReferenceFrame = std::map<std::string, std::string>;

namespace detail {

class FrameCursor {
 public:
  explicit FrameCursor(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool ended() const { return at_ == bytes_.size(); }
  std::string_view raw(std::size_t count) {
    if (failed_ || bytes_.size() - at_ < count) {
      failed_ = true;
      return {};
    }
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  std::uint64_t number(std::size_t count) {
    std::uint64_t value = 0;
    for (const char byte : raw(count))
      value = value * 256 + static_cast<unsigned char>(byte);
    return value;
  }
  // 16 bits of length, then between least and most bytes.
  std::string text(std::size_t least, std::size_t most) {
    const std::size_t length = static_cast<std::size_t>(number(2));
    if (length < least || length > most) failed_ = true;
    return std::string(raw(length));
  }
  std::string name() {
    std::string value = text(1, 255);
    for (const char c : value)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) failed_ = true;
    if (!is_utf8_reference(value)) failed_ = true;
    return value;
  }
  std::uint64_t number_up_to(std::size_t count, std::uint64_t most) {
    const std::uint64_t value = number(count);
    if (value > most) failed_ = true;
    return value;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace detail

// Empty for bytes that are no frame of version 1.
[[nodiscard]] inline std::optional<ReferenceFrame> read_reference_frame(std::string_view bytes) {
  constexpr bool known[] = {true,  true,  false, false, false, false, false, false, false,
                            false, true,  true,  true,  true,  false, false, false, false,
                            false, false, true,  false, false, false, false, false, false,
                            false, false, false, true,  true,  true,  true,  true,  true,
                            true,  true,  true,  false, true,  true,  true,  true};
  detail::FrameCursor in(bytes);
  ReferenceFrame out;
  if (in.number(1) != 1) return std::nullopt;
  const std::uint64_t kind = in.number(1);
  if (kind >= std::size(known) || !known[kind]) return std::nullopt;
  out["kind"] = std::to_string(kind);
  const std::uint64_t present = in.number_up_to(1, 127);
  out["position"] = std::to_string(in.number_up_to(8, (std::uint64_t{1} << 43) - 1));
  out["token"] = std::to_string(in.number_up_to(8, (std::uint64_t{1} << 63) - 1));
  out["recorded_at"] = std::to_string(in.number(8));
  if (present & 1) out["resource"] = in.name();
  if (present & 2) out["action_id"] = in.name();
  if (present & 4) out["state"] = std::to_string(in.number_up_to(1, 4));
  if (present & 8) out["subject"] = std::to_string(in.number(8));
  if (present & 16) out["until"] = std::to_string(in.number(8));
  if (present & 32) out["score"] = std::to_string(in.number_up_to(4, 1'000'000));
  if (present & 64) out["digest"] = in.raw(32);
  out["actor"] = in.text(0, 255);
  out["detail"] = in.text(0, 1024);
  if (in.failed() || !in.ended()) return std::nullopt;
  return out;
}

}  // namespace wallock::fuzz
