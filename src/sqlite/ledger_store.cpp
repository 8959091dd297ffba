#include "sqlite/ledger_store.hpp"

#include "sqlite/sql_error.hpp"
#include "wallock/ledger/frame.hpp"

namespace wallock::sqlite {
namespace {

std::uint32_t data_version(sqlite3* db) noexcept {
  std::uint32_t version = 0;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
  return version;
}

std::optional<std::string_view> unless_empty(std::string_view text) noexcept {
  return text.empty() ? std::nullopt : std::optional(text);
}

template <class NameType>
std::optional<std::string_view> text_of(const std::optional<NameType>& name) noexcept {
  return name ? std::optional<std::string_view>(name->str()) : std::nullopt;
}

}  // namespace

LedgerStore::LedgerStore(ledger::Sha256 hasher) : hasher_(std::move(hasher)) {
  frame_.reserve(ledger::max_frame_bytes);
}

Status LedgerStore::refresh(sqlite3* db) {
  touched_ = false;
  if (known_ && data_version(db) == data_version_) return {};
  return load(db);
}

Status LedgerStore::load_epoch(sqlite3* db) {
  Query query(db, select_epoch_);
  const auto row = query.step();
  if (!row) return fail(row.error());
  if (!*row) return fail(Errc::store_corrupt);
  epoch_ = static_cast<std::uint64_t>(query.integer(0));
  return {};
}

Status LedgerStore::load(sqlite3* db) {
  known_ = false;
  ++generation_;
  if (auto ok = load_epoch(db); !ok) return ok;
  Query query(db, select_last_);  // max(): a row always
  const auto row = query.step();
  if (!row) return fail(row.error());
  if (query.is_null(0)) return fail(Errc::ledger_damaged);
  frontier_ = ledger::Frontier(static_cast<std::uint64_t>(query.integer(0)) + 1);
  has_peak_.fill(false);
  data_version_ = data_version(db);
  known_ = true;
  return {};
}

void LedgerStore::committed(sqlite3* db) noexcept {
  touched_ = false;
  data_version_ = data_version(db);
}

// The data version stays the one of the last refresh or commit: a BEGIN that was refused the write
// lock moves SQLite's own past what others wrote, which was not read here.
void LedgerStore::rolled_back() noexcept {
  if (touched_) known_ = false;
  touched_ = false;
}

void LedgerStore::go_back(const Mark& mark) noexcept {
  frontier_ = mark.frontier;
  has_peak_ = mark.has_peak;
  ++generation_;
}

// Reads the peaks that the next append hashes over and that are not at hand.
Status LedgerStore::complete_edge(sqlite3* db) {
  const std::size_t levels = ledger::completed_levels(position());
  for (std::size_t level = 0; level < levels; ++level) {
    if (has_peak_[level]) continue;
    const std::uint64_t row = ledger::peak_position(position(), level);
    Query query(db, select_top_, row);
    const auto found = query.step();
    if (!found) return fail(found.error());
    if (!*found) return fail(Errc::ledger_damaged);
    const auto leaf = ledger::to_digest(query.bytes(0));
    const auto top = leaf ? ledger::top(row, *leaf, query.bytes(1)) : std::nullopt;
    if (!top) return fail(Errc::ledger_damaged);
    frontier_.set_peak(level, *top);
    has_peak_[level] = true;
  }
  return {};
}

Result<std::uint64_t> LedgerStore::append(sqlite3* db, WallTime recorded_at,
                                          const LedgerEntry& entry) {
  if (position() >= ledger::Frontier::max_size) {
    return fail(invalid(Errc::invalid_token, "position", FencingToken::max_position));
  }
  if (auto ok = complete_edge(db); !ok) return fail(ok.error());
  frame_.clear();
  if (!ledger::append_frame(frame_, position(), recorded_at, entry)) {
    return fail(Errc::invariant_violated);
  }
  const Digest leaf = hasher_.leaf(ledger::as_bytes(frame_));
  const ledger::CompletedNodes nodes = frontier_.completed_by(leaf, hasher_);
  if (!hasher_.ok()) return fail(Errc::out_of_memory);
  touch();
  if (auto ok = insert(db, recorded_at, entry, leaf, nodes); !ok) return fail(ok.error());
  const std::uint64_t position = frontier_.size();
  frontier_.adopt(leaf, nodes);
  has_peak_[nodes.size()] = true;
  for (std::size_t level = 0; level < nodes.size(); ++level)
    has_peak_[level] = false;
  return position;
}

Status LedgerStore::insert(sqlite3* db, WallTime recorded_at, const LedgerEntry& entry,
                           const Digest& leaf, const ledger::CompletedNodes& nodes) {
  const auto score = entry.score ? std::optional(entry.score->millionths()) : std::nullopt;
  const auto state = entry.state ? std::optional(static_cast<int>(*entry.state)) : std::nullopt;
  const auto digest = entry.digest
                          ? std::optional<std::span<const std::uint8_t>>(entry.digest->bytes())
                          : std::nullopt;
  const auto subtrees =
      nodes.empty() ? std::nullopt : std::optional<std::span<const std::uint8_t>>(nodes.bytes());
  const std::span<const std::uint8_t> leaf_bytes(leaf.bytes());
  return Query(db, insert_, position(), static_cast<int>(entry.kind), text_of(entry.resource),
               text_of(entry.action_id), entry.token, state, entry.subject, entry.until, score,
               digest, unless_empty(entry.actor), unless_empty(entry.detail),
               std::int64_t{recorded_at.time_since_epoch().count()}, leaf_bytes, subtrees)
      .run();
}

}  // namespace wallock::sqlite
