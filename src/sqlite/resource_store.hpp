// ResourceStore: the row of a resource and the row of its breaker, to and from the rules' values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "sqlite/statement.hpp"
#include "wallock/rules/state.hpp"

namespace wallock::sqlite {

// A resource as the transaction found it.
struct StoredResource {
  rules::ResourceState state = rules::fresh_resource();
  bool has_row = false;
  bool has_breaker = false;  // as the row says; legal or not
};

// Reads the breaker of a resource's row, from the columns below, of which `first` is the first.
// Empty if its own row is not legal, or missing where the resource's tells of it, or there where it
// does not.
[[nodiscard]] std::optional<BreakerRow> read_breaker(const Query& query, int first);

#define WALLOCK_BREAKER_COLUMNS                                                               \
  "r.has_breaker, b.resource, b.state, b.forced, b.timeouts, b.generation, b.failed_probes, " \
  "b.interval_ns, b.since_at, b.epoch, b.probe_token, b.probe_holder, b.probe_instance, "     \
  "b.probe_expires_at"
inline constexpr int breaker_columns = 14;  // so many
// Of one resource, which is given; a row whatever is stored.
#define WALLOCK_RESOURCE_WITH_BREAKER                                 \
  " FROM (SELECT ?1 AS resource) AS wanted"                           \
  " LEFT JOIN wallock_resources AS r ON r.resource = wanted.resource" \
  " LEFT JOIN wallock_breakers AS b ON b.resource = wanted.resource"

// Used inside the write transactions of one connection only; one thread at a time.
class ResourceStore {
 public:
  // A resource that no row speaks of is fresh: nothing granted, breaker CLOSED. So is a breaker
  // that nothing has happened to. A resource whose breaker row is missing or illegal has none in
  // its state, and nothing is allowed to it. Rows read or written under the same `generation`
  // (LedgerStore) are answered from memory.
  [[nodiscard]] Result<StoredResource> load(sqlite3* db, const ResourceName& resource,
                                            std::uint64_t generation);

  // Has load() answer those of `resources` that have a row from memory: for at most `most_at_once`
  // of them, in any order. Where they follow each other as they do in the file, by their bytes, a
  // row is stepped to, which takes a third of the instructions of a lookup.
  static constexpr std::size_t most_at_once = 256;
  [[nodiscard]] Status read_ahead(sqlite3* db, std::span<const ResourceName* const> resources,
                                  std::uint64_t generation);

  // Writes what differs from `before`. `metadata` is that of a new grant.
  [[nodiscard]] Status store(sqlite3* db, const ResourceName& resource,
                             const StoredResource& before, const rules::ResourceState& next,
                             const std::string* metadata = nullptr);

  // Writes what a commit under `token` makes of the row. The governing equation is asked of the
  // file once more, whatever `before` says: the token is above the row's fence and was issued, and
  // the breaker is CLOSED. invariant_violated if not.
  [[nodiscard]] Status spend(sqlite3* db, FencingToken token, const ResourceName& resource,
                             const StoredResource& before, const rules::ResourceState& next);

 private:
  void forget_what_changed(std::uint64_t generation) noexcept;
  void make_room(std::size_t count) noexcept;
  [[nodiscard]] Result<StoredResource> read(sqlite3* db, const ResourceName& resource);
  [[nodiscard]] Status write_row(sqlite3* db, const ResourceName& resource,
                                 const StoredResource& before, const rules::ResourceState& next,
                                 const std::string* metadata);
  void remember(const ResourceName& resource, const rules::ResourceState& next, bool has_breaker);
  [[nodiscard]] Status write_breaker(sqlite3* db, const ResourceName& resource,
                                     const StoredResource& before, const BreakerRow& row);

  static constexpr std::size_t most_remembered = most_at_once;
  std::unordered_map<std::string, StoredResource> remembered_;
  std::uint64_t generation_ = 0;  // that they were remembered under

  Statement select_{
      "SELECT r.max_fence, r.issued, r.holder, r.instance, r.granted_at, r.expires_at, "
      "r.request, " WALLOCK_BREAKER_COLUMNS WALLOCK_RESOURCE_WITH_BREAKER};
  // The rows from one on, with the name behind what select_ reads.
  Statement sweep_{
      "SELECT r.max_fence, r.issued, r.holder, r.instance, r.granted_at, r.expires_at, "
      "r.request, " WALLOCK_BREAKER_COLUMNS
      ", r.resource FROM wallock_resources AS r "
      "LEFT JOIN wallock_breakers AS b ON b.resource = r.resource "
      "WHERE r.resource >= ?1 ORDER BY r.resource"};
  Statement insert_{
      "INSERT INTO wallock_resources (resource, max_fence, issued, has_breaker, holder, instance, "
      "granted_at, expires_at, request, metadata) VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6, ?7, ?8, ?9)"};
  // A fence never falls: a row that would is not found, and the write refused.
  Statement grant_{
      "UPDATE wallock_resources SET max_fence = ?2, issued = ?3, holder = ?4, instance = ?5, "
      "granted_at = ?6, expires_at = ?7, request = ?8, metadata = ?9 "
      "WHERE resource = ?1 AND max_fence <= ?2 AND issued <= ?3"};
  Statement keep_{
      "UPDATE wallock_resources SET max_fence = ?2, issued = ?3, granted_at = ?4, expires_at = ?5 "
      "WHERE resource = ?1 AND max_fence <= ?2 AND issued <= ?3"};
  // The same of a renewal, which changes nothing but the end.
  Statement prolong_{
      "UPDATE wallock_resources SET expires_at = ?2 "
      "WHERE resource = ?1 AND max_fence = ?3 AND issued = ?4 AND granted_at = ?5"};
  Statement end_{
      "UPDATE wallock_resources SET max_fence = ?2, issued = ?3, holder = NULL, instance = NULL, "
      "granted_at = NULL, expires_at = NULL, request = NULL, metadata = NULL "
      "WHERE resource = ?1 AND max_fence <= ?2 AND issued <= ?3"};
  // The same of a commit, whose lease goes on or ends.
#define WALLOCK_MAY_SPEND                                                \
  "WHERE resource = ?1 AND max_fence < ?4 AND issued BETWEEN ?4 AND ?3 " \
  "AND (has_breaker = 0 OR "                                             \
  "EXISTS (SELECT 1 FROM wallock_breakers WHERE resource = ?1 AND state = 0))"
  Statement spend_and_keep_{
      "UPDATE wallock_resources SET max_fence = ?2, issued = ?3, granted_at = ?5, "
      "expires_at = ?6 " WALLOCK_MAY_SPEND};
  Statement spend_and_end_{
      "UPDATE wallock_resources SET max_fence = ?2, issued = ?3, holder = NULL, instance = NULL, "
      "granted_at = NULL, expires_at = NULL, request = NULL, metadata = NULL " WALLOCK_MAY_SPEND};
  Statement tell_of_breaker_{"UPDATE wallock_resources SET has_breaker = 1 WHERE resource = ?1"};
  Statement upsert_breaker_{
      "INSERT INTO wallock_breakers (resource, state, forced, timeouts, generation, "
      "failed_probes, interval_ns, since_at, epoch, probe_token, probe_holder, probe_instance, "
      "probe_expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) "
      "ON CONFLICT (resource) DO UPDATE SET state = excluded.state, forced = excluded.forced, "
      "timeouts = excluded.timeouts, generation = max(generation, excluded.generation), "
      "failed_probes = excluded.failed_probes, interval_ns = excluded.interval_ns, "
      "since_at = excluded.since_at, epoch = excluded.epoch, probe_token = excluded.probe_token, "
      "probe_holder = excluded.probe_holder, probe_instance = excluded.probe_instance, "
      "probe_expires_at = excluded.probe_expires_at"};
};

}  // namespace wallock::sqlite
