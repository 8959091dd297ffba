// HeartbeatRoster: the guarded leases of a coordinator, in the order in which something is due.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "coordinator/held_lease.hpp"
#include "wallock/lease_repository.hpp"

namespace wallock::detail {

// Leases that are renewed together, whose turns it has until it has told them what came of it.
class RenewalBatch {
 public:
  RenewalBatch() = default;
  RenewalBatch(RenewalBatch&&) noexcept = default;
  RenewalBatch& operator=(RenewalBatch&&) = delete;
  ~RenewalBatch();

  [[nodiscard]] bool empty() const noexcept { return leases_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return leases_.size(); }
  [[nodiscard]] const std::vector<std::shared_ptr<HeldLease>>& leases() const noexcept {
    return leases_;
  }
  [[nodiscard]] std::span<const RenewRequest> requests() const noexcept { return requests_; }
  // When the first of them gives up waiting for the store.
  [[nodiscard]] Instant deadline() const noexcept { return deadline_; }

  // Makes room. Throws std::bad_alloc.
  void reserve(std::size_t leases);
  // True if a lease of that patience may join: none is to wait much shorter than it would alone.
  [[nodiscard]] bool suits(Duration patience) const noexcept;
  // Within the room made.
  void add(const std::shared_ptr<HeldLease>& held, HeldLease::Renewal renewal, Duration patience);
  // Tells each lease its answer, or the error that all of them share, and gives the turns back.
  void answer(const Result<std::vector<Result<Lease>>>& answers, Instant now) noexcept;

 private:
  std::vector<std::shared_ptr<HeldLease>> leases_;
  std::vector<RenewRequest> requests_;
  Instant deadline_ = Instant::max();
  Duration patience_ = Duration::max();  // the least
  bool answered_ = false;
};

// Whatever is asked of it costs as much as is due, not as there are leases. A lease stands in it by
// what was known when it was last looked at: whoever changes a lease so that something is due
// earlier has to say so (refile); what is due later is found out when it is looked at.
//
// Not thread-safe. Knows the leases' own locks, and runs no code of the application.
class HeartbeatRoster {
  struct Entry;
  using Line = std::multimap<Instant, Entry*>;
  // Neighbours in it are neighbours in the store, as far as their names say.
  using Key = std::pair<std::string_view, const HeldLease*>;

 public:
  using Entries = std::map<Key, Entry>;

 private:
  struct Entry {
    std::shared_ptr<HeldLease> held;
    Agenda agenda = {};
    Line::iterator loss = {};
    Line* line = nullptr;  // of the renewals' lines
    Line::iterator renewal = {};
  };

 public:
  HeartbeatRoster() = default;
  HeartbeatRoster(const HeartbeatRoster&) = delete;
  HeartbeatRoster& operator=(const HeartbeatRoster&) = delete;

  // Throws std::bad_alloc, then without the lease.
  void add(std::shared_ptr<HeldLease> held);
  // Takes the lease out, if it is there; to be destroyed without a lock: the last reference runs
  // the application's destructors.
  [[nodiscard]] Entries::node_type remove(const HeldLease& held) noexcept;
  // Looks at the lease anew, if it is there.
  void refile(const HeldLease& held) noexcept;

  // Takes out all leases that are lost now, as they know from then on, or ended before.
  [[nodiscard]] Entries take_lost(Instant now) noexcept;
  // When the next one will be, as far as is known.
  [[nodiscard]] Instant next_loss() const noexcept;

  // Takes the turns of at most `most` leases whose renewals are due, those first that are lost
  // first, and of their neighbours that will be due soon. From then on neighbours are renewed at
  // the same time, which costs the store fewer pages. Throws std::bad_alloc, then without a turn.
  [[nodiscard]] RenewalBatch take_due(Instant now, std::size_t most);
  // When the next renewal is due, as far as is known; the least instant if one is left now.
  [[nodiscard]] Instant next_renewal(Instant now) const noexcept;

 private:
  static void move(Line& from, Line& to, Line::iterator& at, Instant key) noexcept;
  void move_renewal(Entry& entry, Line& to, Instant key) noexcept;
  void file(Entry& entry) noexcept;
  void file_after_trying(Entry& entry, Instant now) noexcept;
  [[nodiscard]] Entries::node_type take_out(Entries::iterator at) noexcept;
  void make_ready(Instant now) noexcept;
  void collect(Instant now, std::size_t most, RenewalBatch& batch);
  void try_renewal(Entry& entry, Instant now, Company company, RenewalBatch& batch);
  void try_neighbours(const HeldLease& of, Instant now, std::size_t most, RenewalBatch& batch);
  [[nodiscard]] static Key key_of(const HeldLease& held) noexcept {
    return {held.resource().str(), &held};
  }

  Entries entries_;
  Line losses_;  // by the time of the loss
  // Each lease stands in one of these.
  Line renewals_;  // by the time when it is due
  Line ready_;     // due, by the time of the loss
  Line held_up_;   // due while a commit has the turn; by the time of the loss
};

}  // namespace wallock::detail
