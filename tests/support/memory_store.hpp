// MemoryStore: what a store keeps, in plain containers; several MemoryRepositories share one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ledger/sha256.hpp"
#include "wallock/clock.hpp"
#include "wallock/lease_repository.hpp"
#include "wallock/ledger/merkle.hpp"

namespace wallock::test {

// A recorded action with what it was asked to be, so that a repetition can be compared.
struct StoredAction {
  ActionRequest request;
  ActionResult result;
  ResourceName resource;
};

struct StoredResource {
  rules::ResourceState state = rules::fresh_resource();
  std::string metadata = {};
};

struct StoredDelivery {
  rules::DeliveryRow row;
  ActionRequest request;
};

// The rows of the store. Everything in it is guarded by MemoryStore's lock.
struct MemoryRows {
  std::uint64_t epoch = 1;
  std::optional<std::string> boot_id = {};
  std::uint64_t changes = 0;
  std::map<std::string, StoredResource> resources = {};
  std::map<std::string, StoredAction> actions = {};
  std::map<std::uint64_t, StoredDelivery> deliveries = {};  // by position
  std::uint64_t dead_letters = 0;
  std::vector<AuditRecord> ledger = {};
};

// One write lock over the rows, waited for with a deadline as a database's is. A test may hold it
// itself, to see what others do with a locked store.
//
// Thread safety: lock() from any thread. A thread that has the lock and asks for it again, as work
// does that calls its own coordinator, is answered called_inside_work.
class MemoryStore {
 public:
  // The write lock, for as long as it lives.
  class Lock {
   public:
    explicit Lock(MemoryStore& store) noexcept : store_(&store) {}
    Lock(Lock&& other) noexcept : store_(std::exchange(other.store_, nullptr)) {}
    Lock(const Lock&) = delete;
    ~Lock();

    MemoryRows* operator->() const noexcept { return &store_->rows_; }
    // The moment of this transaction; raises the epoch when the machine was restarted since.
    [[nodiscard]] rules::Moment moment(const Clock& clock) const;
    // Appends a record and answers its position.
    std::uint64_t append(const LedgerEntry& entry, WallTime now) const;
    // Stores what a rule decided. The records of a change without any leave nothing behind.
    void apply(const ResourceName& resource, const rules::Change& change, WallTime now) const;
    // The resource as stored, or as one that was never heard of.
    [[nodiscard]] rules::ResourceState state(const ResourceName& resource) const;

   private:
    MemoryStore* store_;
  };

  // busy once `deadline` is past and somebody else still has the lock.
  [[nodiscard]] Result<Lock> lock(const Clock& clock, Instant deadline);

 private:
  std::mutex mutex_;
  std::optional<std::thread::id> owner_;  // who has the write lock
  MemoryRows rows_;
  // Made with the store: OpenSSL's own exit handler must run after a static store's destructor.
  ledger::Sha256 hasher_ = ledger::Sha256::create().value();
};

}  // namespace wallock::test
