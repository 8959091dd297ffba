#include "sqlite/reader.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "sqlite/action_store.hpp"
#include "sqlite/event_row.hpp"
#include "wallock/ledger/bytes.hpp"
#include "wallock/ledger/merkle.hpp"
#include "wallock/ledger/verifier.hpp"
#include "wallock/rules/breaker_rules.hpp"

namespace wallock::sqlite {
namespace {

constexpr std::int64_t verify_rows_per_turn = 512;

// A Lease as listed was requested, for all that the store knows, when it was granted.
Result<LeaseInfo> read_lease(const Query& query) {
  auto resource = ResourceName::parse(query.text(0));
  auto holder = HolderId::parse(query.text(2));
  if (!resource || !holder) return fail(Errc::store_corrupt);
  auto lease = Lease::create({.resource = *std::move(resource),
                              .token = query.token(1),
                              .holder = *std::move(holder),
                              .instance = InstanceId{static_cast<std::uint64_t>(query.integer(3))},
                              .requested_at = query.instant(4),
                              .granted_at = query.instant(4),
                              .expires_at = query.instant(5)});
  if (!lease) return fail(Errc::store_corrupt);
  const auto metadata = query.bytes(6);
  return LeaseInfo{.lease = *std::move(lease),
                   .metadata = std::string(metadata.begin(), metadata.end())};
}

std::optional<Decimal> read_amount(const Query& query, int units, int places) {
  if (query.is_null(units)) return std::nullopt;
  const std::int64_t scale = query.integer(places);
  if (scale < 0 || scale > Decimal::max_places) return std::nullopt;
  const auto amount = Decimal::of(query.integer(units), static_cast<int>(scale));
  return amount ? std::optional(*amount) : std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Reader>> Reader::open(const std::string& path,
                                             std::shared_ptr<const Clock> clock, Duration timeout) {
  auto hasher = ledger::Sha256::create();
  if (!hasher) return fail(hasher.error());
  auto connection =
      Connection::open(path, Access::read, *clock, saturating_add(clock->now(), timeout));
  if (!connection) return fail(connection.error());
  return std::unique_ptr<Reader>(
      new Reader(*std::move(connection), *std::move(hasher), std::move(clock), timeout));
}

Reader::Reader(std::unique_ptr<Connection> connection, ledger::Sha256 hasher,
               std::shared_ptr<const Clock> clock, Duration timeout)
    : connection_(std::move(connection)),
      hasher_(std::move(hasher)),
      clock_(std::move(clock)),
      timeout_(timeout) {}

Reader::Turn::Turn(Reader& reader) {
  if (reader.process_.forked()) {
    status_ = fail(Errc::forked_handle);
    return;
  }
  lock_ = std::unique_lock(reader.mutex_);
  reader.connection_->set_deadline(saturating_add(reader.clock_->now(), reader.timeout_));
  // A hasher that failed once says so for good. Without another one it goes on saying so.
  if (reader.hasher_.ok()) return;
  if (auto hasher = ledger::Sha256::create()) reader.hasher_ = *std::move(hasher);
}

Result<Reader::Edge> Reader::edge() {
  Query query(db(), edge_);
  const auto row = query.step();
  if (!row) return fail(row.error());
  if (query.is_null(0) || query.is_null(1)) return fail(Errc::ledger_damaged);
  const auto epoch = query.epoch(0);
  if (!epoch) return fail(Errc::store_corrupt);
  return Edge{.epoch = *epoch, .size = static_cast<std::uint64_t>(query.integer(1)) + 1};
}

Result<std::int64_t> Reader::number(Statement& statement) {
  Query query(db(), statement);
  const auto row = query.step();
  if (!row) return fail(row.error());
  return query.integer(0);
}

Result<BreakerStatus> Reader::breaker(const ResourceName& resource, const BreakerPolicy& policy) {
  const Turn turn(*this);
  if (!turn.status()) return fail(turn.status().error());
  const auto at = edge();
  if (!at) return fail(at.error());
  Query query(db(), breaker_, resource.str());
  const auto row = query.step();
  if (!row) return fail(row.error());
  if (!*row) return fail(Errc::store_corrupt);
  const auto stored = read_breaker(query, 0);
  if (!stored) {
    return fail(Error(Errc::breaker_illegal, ErrorFacts{.resource = resource.str()}));
  }
  const rules::Moment moment{.now = clock_->now(), .epoch = at->epoch, .position = at->size};
  const BreakerRow now = rules::effective(*stored, policy, moment);
  return BreakerStatus(resource, now, rules::probe_due(now, moment));
}

Result<std::vector<LeaseInfo>> Reader::leases(std::size_t limit) {
  const Turn turn(*this);
  if (!turn.status()) return fail(turn.status().error());
  const auto at = edge();
  if (!at) return fail(at.error());
  const auto first = FencingToken::of(at->epoch, 0).value_or(FencingToken());
  Query query(db(), leases_, clock_->now(), first, static_cast<std::uint64_t>(limit));
  std::vector<LeaseInfo> found;
  for (;;) {
    const auto row = query.step();
    if (!row) return fail(row.error());
    if (!*row) return found;
    auto lease = read_lease(query);
    if (!lease) return fail(lease.error());
    found.push_back(*std::move(lease));
  }
}

Result<std::vector<AuditRecord>> Reader::audit(const AuditRange& range) {
  const Turn turn(*this);
  if (!turn.status()) return fail(turn.status().error());
  const std::uint64_t from = std::min(range.from, FencingToken::max_position + 1);
  Query query(db(), events_, from, range.limit);
  std::vector<AuditRecord> records;
  for (;;) {
    const auto row = query.step();
    if (!row) return fail(row.error());
    if (!*row) return records;
    auto event = read_event(query);
    const auto leaf = ledger::to_digest(query.bytes(13));
    if (!event || !leaf) return fail(Errc::ledger_damaged);
    records.emplace_back(event->position, event->recorded_at, std::move(event->entry), *leaf);
  }
}

Result<TreeHead> Reader::root() {
  const Turn turn(*this);
  if (!turn.status()) return fail(turn.status().error());
  const auto at = edge();
  if (!at) return fail(at.error());
  if (at->size > ledger::Frontier::max_size) return fail(Errc::ledger_damaged);
  // Append-only: the peaks of this size stay what they are while they are read one by one.
  ledger::Frontier frontier(at->size);
  for (std::size_t level = 0; level < ledger::max_tree_levels; ++level) {
    if (!ledger::has_peak(at->size, level)) continue;
    const std::uint64_t position = ledger::peak_position(at->size, level);
    Query query(db(), top_, position);
    const auto row = query.step();
    if (!row) return fail(row.error());
    if (!*row) return fail(Errc::ledger_damaged);
    const auto leaf = ledger::to_digest(query.bytes(0));
    const auto top = leaf ? ledger::top(position, *leaf, query.bytes(1)) : std::nullopt;
    if (!top) return fail(Errc::ledger_damaged);
    frontier.set_peak(level, *top);
  }
  const TreeHead head{.size = at->size, .root = frontier.root(hasher_)};
  if (auto ok = hasher_.ok(); !ok) return fail(ok.error());
  return head;
}

// True if the action's payload and salt give the digest in its record.
Result<bool> Reader::payload_matches(std::uint64_t position, const LedgerEntry& entry) {
  if (entry.kind != RecordKind::action_recorded || !entry.action_id || !entry.digest) return true;
  Query query(db(), payload_, position);
  const auto row = query.step();
  if (!row) return fail(row.error());
  if (!*row || query.bytes(0).size() != ledger::Salt::size) return false;
  ledger::Salt salt;
  std::ranges::copy(query.bytes(0), salt.bytes.begin());
  const auto payload = query.bytes(4);
  ActionFields fields{.id = *entry.action_id,
                      .payload = std::string(payload.begin(), payload.end()),
                      .security_score = entry.score.value_or(Score()),
                      .amount = read_amount(query, 2, 3)};
  if (!query.is_null(1)) fields.destination = Given<Destination>(query.text(1));
  if (query.is_null(2) != !fields.amount.has_value()) return false;
  const auto action = ActionRequest::create(std::move(fields));
  if (!action) return false;
  const Digest digest = content_digest(hasher_, buffer_, salt, *action);
  if (auto ok = hasher_.ok(); !ok) return fail(ok.error());
  return digest == *entry.digest;
}

// Feeds the rows from `next` on, at most `verify_rows_per_turn`, and moves `next` past them. False
// at the end of the ledger or at the first damage.
Result<bool> Reader::verify_some(ledger::Verifier<ledger::Sha256>& verifier, std::int64_t& next) {
  const Turn turn(*this);
  if (!turn.status()) return fail(turn.status().error());
  Query query(db(), events_, next, verify_rows_per_turn);
  for (std::int64_t rows = 0; rows < verify_rows_per_turn; ++rows) {
    const auto row = query.step();
    if (!row) return fail(row.error());
    if (!*row) return false;
    const std::int64_t position = query.integer(0);
    next = position + 1;
    const auto event = read_event(query);
    if (!event) {
      verifier.feed_unreadable(static_cast<std::uint64_t>(position));
      return false;
    }
    const auto payload = payload_matches(event->position, event->entry);
    if (!payload) return fail(payload.error());
    if (verifier.feed({.position = event->position,
                       .recorded_at = event->recorded_at,
                       .entry = event->entry,
                       .leaf_hash = query.bytes(13),
                       .nodes = query.bytes(14),
                       .payload_matches = *payload}) != DamageKind::none) {
      return false;
    }
  }
  return true;
}

// True if a row lies below the first position, where no leaf of the tree is.
Result<bool> Reader::has_row_outside() {
  const Turn turn(*this);
  if (!turn.status()) return fail(turn.status().error());
  return Query(db(), outside_).step();
}

Result<VerifyReport> Reader::verify(const std::optional<TreeHead>& trusted) {
  auto hasher = ledger::Sha256::create();
  if (!hasher) return fail(hasher.error());
  ledger::Verifier verifier(*hasher, trusted);
  std::int64_t next = 0;
  for (;;) {
    const auto more = verify_some(verifier, next);
    if (!more) return fail(more.error());
    if (!*more) break;
  }
  const auto outside = has_row_outside();
  if (!outside) return fail(outside.error());
  if (*outside) verifier.feed_unreadable(std::numeric_limits<std::uint64_t>::max());
  const VerifyReport report = verifier.finish();
  // A hash that could not be taken looks like damage: it must not be reported as such.
  if (auto ok = hasher->ok(); !ok) return fail(ok.error());
  return report;
}

Result<Health> Reader::health() {
  const Turn turn(*this);
  if (!turn.status()) return fail(turn.status().error());
  const auto at = edge();
  if (!at) return fail(at.error());
  const auto queued = number(deliveries_);
  const auto dead = number(dead_letters_);
  const auto version = number(version_);
  if (!queued) return fail(queued.error());
  if (!dead) return fail(dead.error());
  if (!version) return fail(version.error());
  return Health{.epoch = at->epoch,
                .ledger_size = at->size,
                .deliveries = static_cast<std::uint64_t>(*queued),
                .dead_letters = static_cast<std::uint64_t>(*dead),
                .schema_version = static_cast<std::uint32_t>(*version)};
}

Result<std::uint64_t> Reader::change_counter() {
  const Turn turn(*this);
  if (!turn.status()) return fail(turn.status().error());
  const auto value = number(changes_);
  if (!value) return fail(value.error());
  return static_cast<std::uint64_t>(*value);
}

}  // namespace wallock::sqlite
