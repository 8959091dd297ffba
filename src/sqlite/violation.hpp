// Invariant and Violation: what must hold in every store, by name, and where it does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wallock/print.hpp"

namespace wallock::sqlite {

// Each says what must hold. The first group is about the ledger as bytes, the second about what its
// records tell in their order, the third about the tables that change, held against the records.
enum class Invariant : std::uint8_t {
  ledger_gap,      // positions count from 0, each once
  ledger_record,   // every record hashes to its leaf hash
  ledger_subtree,  // every stored subtree hash is the one that its leaves give
  payload_digest,  // every payload has the digest in its record
  action_id,       // an action id stands in one record
  score,           // a score reads back from its own text

  genesis,         // the first record, and only that, is the store's beginning
  epoch,           // every epoch is one above the one before
  record_shape,    // a record has the fields that its kind needs
  token_place,     // a granted token is its record's position in its epoch
  token_order,     // granted tokens strictly increase over the whole store
  lease_overlap,   // nobody is granted a resource while somebody else's lease lives
  lease_held,      // only the current lease is renewed, released or revoked
  commit_fence,    // an action is accepted only under a token above the fence, by its holder
  commit_order,    // the accepted commits of a resource strictly increase in token
  breaker_closed,  // leases are granted and actions accepted only while the breaker is CLOSED
  breaker_moves,   // a breaker moves only along its transitions
  probe_overlap,   // at most one probe
  probe_evidence,  // a breaker closes only with evidence
  report_effect,   // a report counts only above the fence and while the breaker is CLOSED
  action_moves,    // an action moves only along its transitions
  claim_fence,     // a claim is settled only under its current token
  claim_line,      // the deliveries of a resource are claimed in commit order
  claim_attempts,  // nothing is claimed more often than any policy allows

  meta_row,         // the store's own row is what the ledger tells
  resource_row,     // so is the row of every resource: its fence, its tokens, its lease
  breaker_row,      // so is every breaker, and legal
  delivery_row,     // so is every delivery on its way, and none besides
  dead_letter_row,  // so is every dead letter
  payload_row,      // every accepted action has its payload, and nothing else has one
};

[[nodiscard]] constexpr std::string_view to_string(Invariant invariant) noexcept;

// One place where an invariant does not hold. Shows no payload and no SQL.
struct Violation {
  Invariant invariant{};
  std::optional<std::uint64_t> position = {};  // of the ledger record concerned
  std::string resource = {};

  friend bool operator==(const Violation&, const Violation&) = default;
};

// "resource_row at 17 of account-4"
[[nodiscard]] inline std::string to_string(const Violation& violation) {
  std::string text(to_string(violation.invariant));
  if (violation.position) text += " at " + std::to_string(*violation.position);
  if (!violation.resource.empty()) text += " of " + violation.resource;
  return text;
}

// length-ok: one row per invariant
constexpr std::string_view to_string(Invariant invariant) noexcept {
  switch (invariant) {
    case Invariant::ledger_gap:
      return "ledger_gap";
    case Invariant::ledger_record:
      return "ledger_record";
    case Invariant::ledger_subtree:
      return "ledger_subtree";
    case Invariant::payload_digest:
      return "payload_digest";
    case Invariant::action_id:
      return "action_id";
    case Invariant::score:
      return "score";
    case Invariant::genesis:
      return "genesis";
    case Invariant::epoch:
      return "epoch";
    case Invariant::record_shape:
      return "record_shape";
    case Invariant::token_place:
      return "token_place";
    case Invariant::token_order:
      return "token_order";
    case Invariant::lease_overlap:
      return "lease_overlap";
    case Invariant::lease_held:
      return "lease_held";
    case Invariant::commit_fence:
      return "commit_fence";
    case Invariant::commit_order:
      return "commit_order";
    case Invariant::breaker_closed:
      return "breaker_closed";
    case Invariant::breaker_moves:
      return "breaker_moves";
    case Invariant::probe_overlap:
      return "probe_overlap";
    case Invariant::probe_evidence:
      return "probe_evidence";
    case Invariant::report_effect:
      return "report_effect";
    case Invariant::action_moves:
      return "action_moves";
    case Invariant::claim_fence:
      return "claim_fence";
    case Invariant::claim_line:
      return "claim_line";
    case Invariant::claim_attempts:
      return "claim_attempts";
    case Invariant::meta_row:
      return "meta_row";
    case Invariant::resource_row:
      return "resource_row";
    case Invariant::breaker_row:
      return "breaker_row";
    case Invariant::delivery_row:
      return "delivery_row";
    case Invariant::dead_letter_row:
      return "dead_letter_row";
    case Invariant::payload_row:
      return "payload_row";
  }
  return "unknown";
}

}  // namespace wallock::sqlite
