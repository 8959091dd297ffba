#include "sqlite/event_row.hpp"

#include "wallock/ledger/bytes.hpp"

namespace wallock::sqlite {
namespace {

// Reads an optional name; `legal` turns false if the column holds no such name.
template <class NameType>
std::optional<NameType> read_name(const Query& query, int column, bool& legal) {
  if (query.is_null(column)) return std::nullopt;
  auto name = NameType::parse(query.text(column));
  if (name) return *std::move(name);
  legal = false;
  return std::nullopt;
}

bool is_known_kind(std::int64_t kind) {
  return kind >= 0 && kind <= 255 && to_string(static_cast<RecordKind>(kind)) != "unknown";
}

}  // namespace

std::optional<EventRow> read_event(const Query& query) {
  bool legal = is_known_kind(query.integer(1)) && query.integer(4) >= 0;
  EventRow row{.position = static_cast<std::uint64_t>(query.integer(0)),
               .recorded_at = WallTime(std::chrono::microseconds(query.integer(12))),
               .entry = {.kind = static_cast<RecordKind>(query.integer(1)),
                         .resource = read_name<ResourceName>(query, 2, legal),
                         .action_id = read_name<ActionId>(query, 3, legal),
                         .token = query.token(4),
                         .actor = std::string(query.text(10)),
                         .detail = std::string(query.text(11))}};
  if (!query.is_null(5)) {
    const std::int64_t state = query.integer(5);
    const bool is_known =
        state >= 0 && state <= static_cast<std::int64_t>(ActionState::quarantined);
    legal = legal && is_known;
    if (is_known) row.entry.state = static_cast<ActionState>(state);
  }
  if (!query.is_null(6)) row.entry.subject = static_cast<std::uint64_t>(query.integer(6));
  if (!query.is_null(7)) row.entry.until = query.instant(7);
  if (!query.is_null(8)) {
    const auto score = Score::from_millionths(query.integer(8));
    legal = legal && score.has_value();
    if (score) row.entry.score = *score;
  }
  if (!query.is_null(9)) {
    row.entry.digest = ledger::to_digest(query.bytes(9));
    legal = legal && row.entry.digest.has_value();
  }
  return legal ? std::optional(std::move(row)) : std::nullopt;
}

}  // namespace wallock::sqlite
