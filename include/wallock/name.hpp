// The names of the library: ResourceName, HolderId, ActionId, Destination, and Given<T> for a name
// that has not been checked yet.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "wallock/print.hpp"
#include "wallock/result.hpp"
#include "wallock/utf8.hpp"

namespace wallock {

inline constexpr std::size_t max_name_bytes = 255;

// A checked name: 1 to 255 bytes of valid UTF-8 without control bytes (0x00 to 0x1f, 0x7f).
// Compared byte by byte: no case folding, no Unicode normalisation. `Kind` keeps the kinds apart,
// so that a holder cannot be passed for a resource.
//
// Immutable value; every member may be called from any thread.
template <class Kind>
class Name {
 public:
  // invalid_name (deterministic), with Kind::label as the field, if `text` is not such a name.
  [[nodiscard]] static Result<Name> parse(std::string_view text) {
    if (text.empty() || text.size() > max_name_bytes || has_control_byte(text) ||
        !is_valid_utf8(text)) {
      return fail(
          invalid(Errc::invalid_name, Kind::label, max_name_bytes, Bound::at_most, Unit::bytes));
    }
    return Name(std::string(text));
  }

  [[nodiscard]] const std::string& str() const noexcept { return text_; }

  friend bool operator==(const Name&, const Name&) = default;
  friend std::strong_ordering operator<=>(const Name& a, const Name& b) noexcept {
    return a.text_.compare(b.text_) <=> 0;
  }

 private:
  explicit Name(std::string text) noexcept : text_(std::move(text)) {}

  std::string text_;
};

template <class Kind>
[[nodiscard]] const std::string& to_string(const Name<Kind>& name) noexcept {
  return name.str();
}

struct ResourceKind {
  static constexpr std::string_view label = "resource";
};
struct HolderKind {
  static constexpr std::string_view label = "holder";
};
struct ActionKind {
  static constexpr std::string_view label = "action_id";
};
struct DestinationKind {
  static constexpr std::string_view label = "destination";
};

// What a lease protects: an account, a repository, a port.
using ResourceName = Name<ResourceKind>;
// Who holds a lease. Two holders are the same if and only if their ids and their Coordinators are.
using HolderId = Name<HolderKind>;
// The caller's own id of an action; at most one action is ever recorded under it.
using ActionId = Name<ActionKind>;
// Where an action is to be delivered: the name of a queue, an endpoint, a topic.
using Destination = Name<DestinationKind>;

// A name as the caller gave it, checked by the call that it is passed to: so a string literal works
// wherever a name is meant, and a bad one is that call's typed error.
template <class T>
class Given {
 public:
  Given(const char* text) : text_(text == nullptr ? "" : text) {}  // NOLINT(google-explicit-*)
  Given(std::string_view text) : text_(text) {}                    // NOLINT(google-explicit-*)
  Given(std::string text) noexcept : text_(std::move(text)) {}     // NOLINT(google-explicit-*)
  Given(const T& name) : text_(name.str()) {}                      // NOLINT(google-explicit-*)

  [[nodiscard]] Result<T> check() const { return T::parse(text_); }

  friend bool operator==(const Given&, const Given&) = default;

 private:
  std::string text_;
};

}  // namespace wallock
