// ToldStore: what the rows of a damaged store say about its resources, read without the library.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "wallock/lease.hpp"

namespace wallock::fuzz {

// A resource as its rows tell it. Where a row is missing or cannot be read, the field is empty.
struct ToldResource {
  std::optional<std::int64_t> max_fence = {};
  std::optional<std::int64_t> issued = {};
  std::optional<std::int64_t> breaker = {};  // its state: 0 is CLOSED
  bool forced = false;
};

// The file as it lies there; `path` is of a copy that the library never opens.
class ToldStore {
 public:
  // If `raises_epoch`, the library will raise the epoch by one when it opens its own copy.
  ToldStore(const std::string& path, bool raises_epoch);

  // The governing equation: above the fence, known to have been issued, in this epoch, and the
  // breaker is CLOSED.
  [[nodiscard]] bool allows(const Lease& lease) const;
  // No row speaks of the resource, or the one of its breaker says CLOSED.
  [[nodiscard]] bool may_grant(const std::string& resource) const;
  // The highest number that a row of the resource names.
  [[nodiscard]] std::int64_t highest(const std::string& resource) const;

 private:
  std::map<std::string, ToldResource> resources_;
  std::optional<std::int64_t> epoch_;
};

}  // namespace wallock::fuzz
