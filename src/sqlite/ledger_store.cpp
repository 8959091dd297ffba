#include "sqlite/ledger_store.hpp"

#include <algorithm>

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

using Bytes = std::span<const std::uint8_t>;

// As the columns have them.
std::int64_t stored(WallTime time) noexcept { return time.time_since_epoch().count(); }
std::optional<Bytes> stored(const ledger::CompletedNodes& nodes) noexcept {
  return nodes.empty() ? std::nullopt : std::optional(nodes.bytes());
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
  const auto epoch = *row ? query.epoch(0) : std::nullopt;
  if (!epoch) return fail(Errc::store_corrupt);
  epoch_ = *epoch;
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

Status LedgerStore::frame(sqlite3* db, WallTime recorded_at, const LedgerEntry& entry) {
  if (position() >= ledger::Frontier::max_size) {
    return fail(invalid(Errc::invalid_token, "position", FencingToken::max_position));
  }
  if (auto ok = complete_edge(db); !ok) return ok;
  frame_.clear();
  if (!ledger::append_frame(frame_, position(), recorded_at, entry)) {
    return fail(Errc::invariant_violated);
  }
  return {};
}

LedgerStore::Sealed LedgerStore::seal() noexcept {
  const Digest leaf = hasher_.leaf(ledger::as_bytes(frame_));
  return {position(), leaf, frontier_.completed_by(leaf, hasher_)};
}

void LedgerStore::adopt(const Sealed& sealed) noexcept {
  frontier_.adopt(sealed.leaf, sealed.nodes);
  has_peak_[sealed.nodes.size()] = true;
  for (std::size_t level = 0; level < sealed.nodes.size(); ++level)
    has_peak_[level] = false;
}

Result<std::uint64_t> LedgerStore::append(sqlite3* db, WallTime recorded_at,
                                          const LedgerEntry& entry) {
  if (auto ok = frame(db, recorded_at, entry); !ok) return fail(ok.error());
  const Sealed sealed = seal();
  if (!hasher_.ok()) return fail(Errc::out_of_memory);
  touch();
  if (auto ok = insert(db, recorded_at, entry, sealed); !ok) return fail(ok.error());
  adopt(sealed);
  return sealed.position;
}

Status LedgerStore::insert(sqlite3* db, WallTime recorded_at, const LedgerEntry& entry,
                           const Sealed& sealed) {
  const auto score = entry.score ? std::optional(entry.score->millionths()) : std::nullopt;
  const auto state = entry.state ? std::optional(static_cast<int>(*entry.state)) : std::nullopt;
  const auto digest = entry.digest ? std::optional<Bytes>(entry.digest->bytes()) : std::nullopt;
  return Query(db, insert_, sealed.position, static_cast<int>(entry.kind), text_of(entry.resource),
               text_of(entry.action_id), entry.token, state, entry.subject, entry.until, score,
               digest, unless_empty(entry.actor), unless_empty(entry.detail), stored(recorded_at),
               Bytes(sealed.leaf.bytes()), stored(sealed.nodes))
      .run();
}

// Goes back to where the tree stood, unless cancelled: also if memory runs out half-way.
class LedgerStore::Return {
 public:
  explicit Return(LedgerStore& store) noexcept : store_(&store), mark_(store.mark()) {}
  Return(const Return&) = delete;
  Return& operator=(const Return&) = delete;
  ~Return() {
    if (store_ != nullptr) store_->go_back(mark_);
  }
  void cancel() noexcept { store_ = nullptr; }

 private:
  LedgerStore* store_;
  Mark mark_;
};

Status LedgerStore::append_actions(sqlite3* db, WallTime recorded_at, LedgerEntry& entry,
                                   std::span<const ActionRecord> actions) {
  Return to_before(*this);
  while (!actions.empty()) {
    const auto some = actions.first(std::min(actions.size(), rows_at_once));
    if (auto ok = append_some(db, recorded_at, entry, some); !ok) return ok;
    actions = actions.subspan(some.size());
  }
  to_before.cancel();
  return {};
}

// The tree goes ahead of the file: the records are hashed before any of them is written.
Status LedgerStore::append_some(sqlite3* db, WallTime recorded_at, LedgerEntry& entry,
                                std::span<const ActionRecord> actions) {
  for (std::size_t n = 0; n < actions.size(); ++n) {
    entry.action_id = *actions[n].id;
    entry.state = actions[n].state;
    entry.score = actions[n].score;
    entry.digest = actions[n].digest;
    if (auto ok = frame(db, recorded_at, entry); !ok) return ok;
    sealed_[n] = seal();
    adopt(sealed_[n]);
  }
  if (auto ok = hasher_.ok(); !ok) return ok;
  touch();
  const auto share = [&](Query& query) {
    query.add(static_cast<int>(entry.kind), text_of(entry.resource), entry.token,
              unless_empty(entry.actor), stored(recorded_at));
  };
  return insert_actions_.run(db, actions.size(), share, [&](Query& query, std::size_t n) {
    const ActionRecord& action = actions[n];
    query.add(sealed_[n].position, action.id->str(), static_cast<int>(action.state),
              action.score.millionths(), Bytes(action.digest.bytes()),
              Bytes(sealed_[n].leaf.bytes()), stored(sealed_[n].nodes));
  });
}

}  // namespace wallock::sqlite
