// Lease: the proof that a holder was granted a resource, to be shown with every commit.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "wallock/name.hpp"
#include "wallock/print.hpp"
#include "wallock/result.hpp"
#include "wallock/time.hpp"
#include "wallock/token.hpp"

namespace wallock {

// Tells one opening of a Coordinator from every other, on purpose not a name: a restarted worker
// under the same holder id is another instance and never takes over its predecessor's lease.
// A random number; 0 stands for "none".
enum class InstanceId : std::uint64_t {};

[[nodiscard]] inline std::string to_string(InstanceId id) {
  return std::to_string(static_cast<std::uint64_t>(id));
}

// What a Lease is made of. Plain data for making one; a Lease itself never changes.
struct LeaseFields {
  ResourceName resource;
  FencingToken token;
  HolderId holder;
  InstanceId instance{};
  Instant requested_at;  // read before the request was sent: the holder's own, safe reading
  Instant granted_at;    // read inside the granting transaction
  Instant expires_at;    // granted_at + ttl, as the store has it
};

// An immutable value: copying a lease copies the proof, not the right; renewing returns a new one.
// Having it says nothing about whether it still holds: only a commit tells (docs/leases.md).
class Lease {
 public:
  // invalid_token for the token below all tokens, invalid_duration unless
  // requested_at <= granted_at < expires_at (deterministic).
  [[nodiscard]] static Result<Lease> create(LeaseFields fields) {
    if (!fields.token) return fail(invalid(Errc::invalid_token, "token"));
    if (fields.requested_at > fields.granted_at || fields.granted_at >= fields.expires_at) {
      return fail(invalid(Errc::invalid_duration, "expires_at"));
    }
    return Lease(std::move(fields));
  }

  [[nodiscard]] const ResourceName& resource() const noexcept { return fields_.resource; }
  [[nodiscard]] FencingToken token() const noexcept { return fields_.token; }
  [[nodiscard]] const HolderId& holder() const noexcept { return fields_.holder; }
  [[nodiscard]] InstanceId instance() const noexcept { return fields_.instance; }
  [[nodiscard]] Instant requested_at() const noexcept { return fields_.requested_at; }
  [[nodiscard]] Instant granted_at() const noexcept { return fields_.granted_at; }
  [[nodiscard]] Instant expires_at() const noexcept { return fields_.expires_at; }
  // How long the lease was granted for, counted from the grant.
  [[nodiscard]] Duration ttl() const noexcept {
    return saturating_sub(fields_.expires_at, fields_.granted_at);
  }
  // When a holder without news has to assume it lost the lease: requested_at + ttl.
  [[nodiscard]] Instant safe_until() const noexcept {
    return saturating_add(fields_.requested_at, ttl());
  }

  friend bool operator==(const Lease& a, const Lease& b) noexcept {
    return a.fields_.token == b.fields_.token && a.fields_.resource == b.fields_.resource &&
           a.fields_.holder == b.fields_.holder && a.fields_.instance == b.fields_.instance &&
           a.fields_.requested_at == b.fields_.requested_at &&
           a.fields_.granted_at == b.fields_.granted_at &&
           a.fields_.expires_at == b.fields_.expires_at;
  }

 private:
  explicit Lease(LeaseFields fields) noexcept : fields_(std::move(fields)) {}

  LeaseFields fields_;
};

// What a release found.
enum class ReleaseEffect : std::uint8_t {
  released,       // the lease was held, and ended
  expired,        // its time was over but nobody else had taken it; ended
  already_ended,  // it had been released, revoked or superseded; nothing changed
};

[[nodiscard]] constexpr std::string_view to_string(ReleaseEffect effect) noexcept {
  switch (effect) {
    case ReleaseEffect::released:
      return "released";
    case ReleaseEffect::expired:
      return "expired";
    case ReleaseEffect::already_ended:
      return "already_ended";
  }
  return "already_ended";
}

// "resource token holder", for a log.
[[nodiscard]] inline std::string to_string(const Lease& lease) {
  return lease.resource().str() + " " + to_string(lease.token()) + " " + lease.holder().str();
}

}  // namespace wallock
