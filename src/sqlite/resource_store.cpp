#include "sqlite/resource_store.hpp"

#include <limits>
#include <optional>
#include <string_view>

#include "wallock/ledger/bytes.hpp"

namespace wallock::sqlite {
namespace {

using rules::ResourceState;
using rules::Tenure;

// Columns of ResourceStore::select_.
enum Column : int {
  max_fence,
  issued,
  holder,
  instance,
  granted_at,
  expires_at,
  request,
  has_breaker,  // the first of the breaker's
  name = has_breaker + breaker_columns
};

Result<std::optional<Tenure>> read_tenure(const Query& query) {
  if (query.is_null(holder)) return std::optional<Tenure>();
  auto name = HolderId::parse(query.text(holder));
  if (!name) return fail(Errc::store_corrupt);
  Tenure tenure{.holder = *std::move(name),
                .instance = InstanceId{static_cast<std::uint64_t>(query.integer(instance))},
                .granted_at = query.instant(granted_at),
                .expires_at = query.instant(expires_at)};
  if (!query.is_null(request)) {
    auto id = ActionId::parse(query.text(request));
    if (!id) return fail(Errc::store_corrupt);
    tenure.request = *std::move(id);
  }
  return std::optional(std::move(tenure));
}

std::optional<std::uint32_t> to_count(std::int64_t value) {
  if (value < 0 || value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

std::optional<ProbeGrant> read_probe(const Query& query, int first) {
  auto name = HolderId::parse(query.text(first + 1));
  if (!name) return std::nullopt;
  return ProbeGrant{.token = query.token(first),
                    .holder = *std::move(name),
                    .instance = InstanceId{static_cast<std::uint64_t>(query.integer(first + 2))},
                    .expires_at = query.instant(first + 3)};
}

// The breaker's own row; empty unless it is legal.
std::optional<BreakerRow> read_breaker_row(const Query& query, int first) {
  const std::int64_t state = query.integer(first);
  const auto timeouts = to_count(query.integer(first + 2));
  const auto failed = to_count(query.integer(first + 4));
  if (query.is_null(first) || state < 0 || state > 2 || !timeouts || !failed) return std::nullopt;
  BreakerRow row{.state = static_cast<BreakerState>(state),
                 .forced = query.integer(first + 1) != 0,
                 .timeouts = *timeouts,
                 .generation = static_cast<std::uint64_t>(query.integer(first + 3)),
                 .failed_probes = *failed,
                 .interval = Duration(query.integer(first + 5)),
                 .since = query.instant(first + 6),
                 .epoch = static_cast<std::uint64_t>(query.integer(first + 7))};
  if (!query.is_null(first + 8)) {
    row.probe = read_probe(query, first + 8);
    if (!row.probe) return std::nullopt;
  }
  return is_legal(row) ? std::optional(std::move(row)) : std::nullopt;
}

Result<StoredResource> read_row(const Query& query) {
  StoredResource found{.has_row = !query.is_null(max_fence),
                       .has_breaker = query.integer(has_breaker) != 0};
  found.state.breaker = read_breaker(query, has_breaker);
  if (!found.has_row) return found;
  found.state.max_fence = query.token(max_fence);
  found.state.issued = query.token(issued);
  auto tenure = read_tenure(query);
  if (!tenure) return fail(tenure.error());
  found.state.tenure = *std::move(tenure);
  return found;
}

// The rows of several resources, of which one after the other is wanted. Three steps cost as much
// as a lookup.
class Sweep {
 public:
  // The statement answers the rows from a name on, in the names' order.
  Sweep(sqlite3* db, Statement& statement) noexcept : db_(db), statement_(statement) {}

  // True if there is a row of that name, which must live as long as the sweep.
  [[nodiscard]] Result<bool> find(const std::string& wanted) {
    constexpr int most_skipped = 2;
    for (int skipped = 0; at_row_ && skipped < most_skipped && current() < wanted; ++skipped) {
      if (auto ok = step(); !ok) return fail(ok.error());
    }
    if (at_row_ && current() == wanted) return true;
    query_.emplace(db_, statement_, wanted);
    if (auto ok = step(); !ok) return fail(ok.error());
    return at_row_ && current() == wanted;
  }
  [[nodiscard]] const Query& row() const noexcept { return *query_; }

 private:
  [[nodiscard]] std::string_view current() const noexcept { return query_->text(name); }
  [[nodiscard]] Status step() {
    const auto row = query_->step();
    at_row_ = row && *row;
    if (!row) return fail(row.error());
    return {};
  }

  sqlite3* db_;
  Statement& statement_;
  std::optional<Query> query_;
  bool at_row_ = false;
};

// A write that found no row would have let a fence fall.
Status changed_one(sqlite3* db, Status done) {
  if (done && sqlite3_changes(db) != 1) return fail(Errc::invariant_violated);
  return done;
}

}  // namespace

std::optional<BreakerRow> read_breaker(const Query& query, int first) {
  const bool has_row = !query.is_null(first + 1);
  if (has_row != (query.integer(first) != 0)) return std::nullopt;
  return has_row ? read_breaker_row(query, first + 2) : std::optional(BreakerRow{});
}

void ResourceStore::forget_what_changed(std::uint64_t generation) noexcept {
  if (generation_ != generation) remembered_.clear();
  generation_ = generation;
}

void ResourceStore::make_room(std::size_t count) noexcept {
  if (remembered_.size() + count > most_remembered) remembered_.clear();
}

Result<StoredResource> ResourceStore::load(sqlite3* db, const ResourceName& resource,
                                           std::uint64_t generation) {
  forget_what_changed(generation);
  if (const auto found = remembered_.find(resource.str()); found != remembered_.end()) {
    return found->second;
  }
  make_room(1);
  auto stored = read(db, resource);
  if (stored) remembered_.emplace(resource.str(), *stored);
  return stored;
}

Result<StoredResource> ResourceStore::read(sqlite3* db, const ResourceName& resource) {
  Query query(db, select_, resource.str());
  const auto row = query.step();
  if (!row) return fail(row.error());
  if (!*row) return fail(Errc::store_corrupt);
  return read_row(query);
}

// What is not there or not legal is left for load() to look up, and to name.
Status ResourceStore::read_ahead(sqlite3* db, std::span<const ResourceName* const> resources,
                                 std::uint64_t generation) {
  forget_what_changed(generation);
  make_room(resources.size());
  Sweep sweep(db, sweep_);
  for (const ResourceName* const resource : resources) {
    if (remembered_.contains(resource->str())) continue;
    const auto found = sweep.find(resource->str());
    if (!found) return fail(found.error());
    if (!*found) continue;
    if (auto row = read_row(sweep.row())) remembered_.emplace(resource->str(), *std::move(row));
  }
  return {};
}

Status ResourceStore::store(sqlite3* db, const ResourceName& resource, const StoredResource& before,
                            const ResourceState& next, const std::string* metadata) {
  const bool row_differs = next.max_fence != before.state.max_fence ||
                           next.issued != before.state.issued || next.tenure != before.state.tenure;
  if (row_differs || !before.has_row) {
    if (auto ok = write_row(db, resource, before, next, metadata); !ok) return ok;
  }
  const bool breaker_differs = next.breaker && next.breaker != before.state.breaker;
  if (breaker_differs) {
    if (auto ok = write_breaker(db, resource, before, *next.breaker); !ok) return ok;
  }
  remember(resource, next, before.has_breaker || breaker_differs);
  return {};
}

Status ResourceStore::spend(sqlite3* db, FencingToken token, const ResourceName& resource,
                            const StoredResource& before, const ResourceState& next) {
  const auto& tenure = next.tenure;
  auto done =
      tenure ? Query(db, spend_and_keep_, resource.str(), next.max_fence, next.issued, token,
                     tenure->granted_at, tenure->expires_at)
                   .run()
             : Query(db, spend_and_end_, resource.str(), next.max_fence, next.issued, token).run();
  done = changed_one(db, std::move(done));
  if (done) remember(resource, next, before.has_breaker);
  return done;
}

void ResourceStore::remember(const ResourceName& resource, const ResourceState& next,
                             bool has_breaker) {
  remembered_.insert_or_assign(
      resource.str(), StoredResource{.state = next, .has_row = true, .has_breaker = has_breaker});
}

// `metadata` tells a new grant from a lease that goes on, whose own stays as it is.
Status ResourceStore::write_row(sqlite3* db, const ResourceName& resource,
                                const StoredResource& before, const ResourceState& next,
                                const std::string* metadata) {
  const auto& tenure = next.tenure;
  if (before.has_row && !tenure) {
    return changed_one(db, Query(db, end_, resource.str(), next.max_fence, next.issued).run());
  }
  if (before.has_row && metadata == nullptr && before.state.tenure) {
    const bool is_renewal = next.max_fence == before.state.max_fence &&
                            next.issued == before.state.issued &&
                            tenure->granted_at == before.state.tenure->granted_at;
    if (is_renewal) {
      return changed_one(db, Query(db, prolong_, resource.str(), tenure->expires_at, next.max_fence,
                                   next.issued, tenure->granted_at)
                                 .run());
    }
    return changed_one(db, Query(db, keep_, resource.str(), next.max_fence, next.issued,
                                 tenure->granted_at, tenure->expires_at)
                               .run());
  }
  std::optional<std::string_view> holder_text;
  std::optional<std::uint64_t> instance_id;
  std::optional<Instant> from;
  std::optional<Instant> until;
  std::optional<std::string_view> request_text;
  std::optional<std::span<const std::uint8_t>> note;
  if (tenure) {
    holder_text = tenure->holder.str();
    instance_id = static_cast<std::uint64_t>(tenure->instance);
    from = tenure->granted_at;
    until = tenure->expires_at;
    if (tenure->request) request_text = tenure->request->str();
    if (metadata != nullptr && !metadata->empty()) note = ledger::as_bytes(*metadata);
  }
  return changed_one(
      db, Query(db, before.has_row ? grant_ : insert_, resource.str(), next.max_fence, next.issued,
                holder_text, instance_id, from, until, request_text, note)
              .run());
}

Status ResourceStore::write_breaker(sqlite3* db, const ResourceName& resource,
                                    const StoredResource& before, const BreakerRow& row) {
  if (!before.has_breaker) {
    auto told = changed_one(db, Query(db, tell_of_breaker_, resource.str()).run());
    if (!told) return told;
  }
  const auto& probe = row.probe;
  const auto token = probe ? std::optional(probe->token) : std::nullopt;
  const auto holder_text =
      probe ? std::optional<std::string_view>(probe->holder.str()) : std::nullopt;
  const auto instance_id =
      probe ? std::optional(static_cast<std::uint64_t>(probe->instance)) : std::nullopt;
  const auto until = probe ? std::optional(probe->expires_at) : std::nullopt;
  return Query(db, upsert_breaker_, resource.str(), static_cast<int>(row.state), row.forced ? 1 : 0,
               row.timeouts, row.generation, row.failed_probes, row.interval, row.since, row.epoch,
               token, holder_text, instance_id, until)
      .run();
}

}  // namespace wallock::sqlite
