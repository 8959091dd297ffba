// DerivedState: what the ledger's records, told in their order, say that the tables must hold.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sqlite/violation.hpp"
#include "wallock/audit.hpp"
#include "wallock/breaker.hpp"
#include "wallock/time.hpp"
#include "wallock/token.hpp"

namespace wallock::sqlite {

struct DerivedLease {
  std::string holder;
  Instant until;
  std::string request = {};   // the acquire's own action id; empty if it had none
  std::uint64_t told_at = 0;  // the record that told the end
};

struct DerivedProbe {
  FencingToken token;
  std::string holder;
  Instant until;
};

struct DerivedBreaker {
  BreakerState state = BreakerState::closed;
  bool forced = false;
  std::uint32_t timeouts = 0;
  std::uint64_t generation = 0;
  std::uint32_t failed_probes = 0;
  std::optional<DerivedProbe> probe = {};
};

struct DerivedResource {
  FencingToken max_fence;
  FencingToken issued;
  FencingToken committed;  // the highest token that an action was accepted under
  std::optional<DerivedLease> lease = {};
  DerivedBreaker breaker = {};
};

struct DerivedDelivery {
  std::string resource;
  ActionState state = ActionState::validated;
  std::uint32_t attempts = 0;
  FencingToken claim = {};  // none while nobody has it
  Instant claim_until = {};
};

// Told every record of a ledger from the front, it keeps what the records amount to and notes each
// one that must not stand where it stands. On purpose it does not ask the rules (wallock/rules):
// it says in other words what they decide, so that a wrong rule shows.
//
// The boot clock is in no record. What needs it is checked as far as the ends of leases tell: a
// grant's end lies after its own moment, so an end that comes later still was not over.
//
// Memory grows with the resources and the deliveries that are not sealed. One thread at a time.
class DerivedState {
 public:
  // The next record. After a violation it goes on as if the record were in order.
  void feed(std::uint64_t position, WallTime recorded_at, const LedgerEntry& entry);

  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  // The store's identity in hex, as its first record has it.
  [[nodiscard]] const std::string& store_id() const noexcept { return store_id_; }
  [[nodiscard]] const std::map<std::string, DerivedResource>& resources() const noexcept {
    return resources_;
  }
  // On their way, by the position of their action.
  [[nodiscard]] const std::map<std::uint64_t, DerivedDelivery>& deliveries() const noexcept {
    return deliveries_;
  }
  [[nodiscard]] const std::map<std::uint64_t, DerivedDelivery>& dead_letters() const noexcept {
    return dead_letters_;
  }
  // True if the lease of the resource may end then: as its last record has it, or later on, renewed
  // together with others, whose record tells no names.
  [[nodiscard]] bool may_end_at(const DerivedResource& resource, Instant until) const;
  // True if an earlier action of the same resource is still on its way.
  [[nodiscard]] bool is_blocked(std::uint64_t position, const std::string& resource) const;

  [[nodiscard]] const std::vector<Violation>& violations() const noexcept { return violations_; }

 private:
  // The record being told.
  struct Record {
    std::uint64_t position = 0;
    WallTime recorded_at = {};
    LedgerEntry entry = {};
  };

  void broken(Invariant invariant);
  void must(bool holds, Invariant invariant) {
    if (!holds) broken(invariant);
  }

  // Renewals that share a record: the last of their ends.
  struct SharedRenewal {
    std::uint64_t position = 0;
    Instant until;
  };

  void tell_of_store();
  void tell_of_shared_renewal();
  [[nodiscard]] std::optional<Instant> latest_shared_end(const DerivedResource& resource) const;
  void tell_of_lease(DerivedResource& resource);
  void tell_of_breaker(DerivedResource& resource);
  void tell_of_delivery();

  void granted(DerivedResource& resource);
  void recorded(DerivedResource& resource);
  void tripped(DerivedResource& resource);
  void probing(DerivedResource& resource);
  void probe_over(DerivedResource& resource);
  void forced(DerivedResource& resource);
  void claimed(std::uint64_t position, DerivedDelivery& delivery);
  void settled(DerivedDelivery& delivery);

  void check_granted_token();
  void check_shape();
  [[nodiscard]] FencingToken fence(const DerivedResource& resource) const;
  [[nodiscard]] bool counts(const DerivedResource& resource) const;
  [[nodiscard]] bool goes_on_with_batch() const;
  [[nodiscard]] bool goes_on_after_commit(const DerivedResource& resource) const;
  static void end_lease(DerivedResource& resource);

  Record now_;
  std::optional<Record> before_;
  std::uint64_t epoch_ = 0;
  FencingToken granted_;  // the highest token granted so far, of whatever kind
  std::string store_id_;
  std::map<std::string, DerivedResource> resources_;
  std::map<std::uint64_t, DerivedDelivery> deliveries_;
  std::map<std::uint64_t, DerivedDelivery> dead_letters_;
  std::map<std::string, std::set<std::uint64_t>> lines_;  // of each resource, by position
  // By epoch, whose clock they are told on; only those that none after them reaches beyond.
  std::map<std::uint64_t, std::vector<SharedRenewal>> shared_renewals_;
  std::vector<Violation> violations_;
};

}  // namespace wallock::sqlite
