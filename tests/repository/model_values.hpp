// What the model of a store is made of: the leases, deliveries, resources and actions that it
// keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "breaker_model.hpp"

namespace wallock::test {

// The grant that a caller holds in its hands.
struct ModelLease {
  int resource = 0;
  std::uint64_t token = 0;
  int holder = 0;
  int instance = 0;
  Nanos granted_at = 0;
  Nanos expires_at = 0;
};

struct ModelDelivery {
  int resource = 0;
  std::string id;
  Nanos born = 0;
  Nanos due = 0;
  Nanos claim_ends = 0;
  std::uint64_t claim = 0;  // 0: not claimed
  unsigned attempts = 0;
};

// What an action is: its id, and whatever tells one content from another.
struct ModelAction {
  std::string id;
  std::string payload;
  bool is_sent = false;
};

// A resource as the model keeps it.
struct ModelResource {
  std::uint64_t latest = 0;  // token, of a lease or a probe
  bool spent = false;
  bool tenure = false;
  int holder = 0;
  int instance = 0;
  Nanos granted_at = 0;
  Nanos expires_at = 0;
  std::string request;
  ModelBreaker breaker;
};

// Whatever is recorded under an action id.
struct ModelEvent {
  int resource = 0;
  std::uint64_t token = 0;
  std::uint64_t position = 0;
  int holder = 0;
  std::optional<ModelAction> action = {};
};

}  // namespace wallock::test
