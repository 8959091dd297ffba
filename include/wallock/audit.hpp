// AuditRecord: one row of the append-only ledger, and LedgerEntry, what is to become one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "wallock/digest.hpp"
#include "wallock/name.hpp"
#include "wallock/print.hpp"
#include "wallock/score.hpp"
#include "wallock/state_machine.hpp"
#include "wallock/time.hpp"
#include "wallock/token.hpp"

namespace wallock {

// What a ledger record tells. The numbers are stored and hashed: they never change their meaning.
enum class RecordKind : std::uint8_t {
  genesis = 0,       // the store was created; detail = its random identity
  epoch_raised = 1,  // every earlier lease and token is dead; detail = why

  lease_granted = 10,  // detail = holder_gone if a lease before it ended early, else empty
  lease_renewed = 11,  // of one lease, or of several at once: then without resource and token
  lease_released = 12,
  lease_revoked = 13,

  action_recorded = 20,

  outcome_late = 30,      // a report under a token at or below the fence; changed nothing
  timeout_reported = 31,  // counted, not yet enough to trip
  timeouts_cleared = 32,  // a success ended a row of timeouts
  breaker_tripped = 33,
  probe_granted = 34,
  probe_failed = 35,
  breaker_recovered = 36,
  forced_open = 37,
  forced_cleared = 38,

  delivery_claimed = 40,
  delivery_sealed = 41,
  delivery_retried = 42,
  delivery_dead = 43,
};

inline constexpr std::array all_record_kinds{
    RecordKind::genesis,          RecordKind::epoch_raised,      RecordKind::lease_granted,
    RecordKind::lease_renewed,    RecordKind::lease_released,    RecordKind::lease_revoked,
    RecordKind::action_recorded,  RecordKind::outcome_late,      RecordKind::timeout_reported,
    RecordKind::timeouts_cleared, RecordKind::breaker_tripped,   RecordKind::probe_granted,
    RecordKind::probe_failed,     RecordKind::breaker_recovered, RecordKind::forced_open,
    RecordKind::forced_cleared,   RecordKind::delivery_claimed,  RecordKind::delivery_sealed,
    RecordKind::delivery_retried, RecordKind::delivery_dead};

[[nodiscard]] constexpr std::string_view to_string(RecordKind kind) noexcept {
  switch (kind) {
    case RecordKind::genesis:
      return "genesis";
    case RecordKind::epoch_raised:
      return "epoch_raised";
    case RecordKind::lease_granted:
      return "lease_granted";
    case RecordKind::lease_renewed:
      return "lease_renewed";
    case RecordKind::lease_released:
      return "lease_released";
    case RecordKind::lease_revoked:
      return "lease_revoked";
    case RecordKind::action_recorded:
      return "action_recorded";
    case RecordKind::outcome_late:
      return "outcome_late";
    case RecordKind::timeout_reported:
      return "timeout_reported";
    case RecordKind::timeouts_cleared:
      return "timeouts_cleared";
    case RecordKind::breaker_tripped:
      return "breaker_tripped";
    case RecordKind::probe_granted:
      return "probe_granted";
    case RecordKind::probe_failed:
      return "probe_failed";
    case RecordKind::breaker_recovered:
      return "breaker_recovered";
    case RecordKind::forced_open:
      return "forced_open";
    case RecordKind::forced_cleared:
      return "forced_cleared";
    case RecordKind::delivery_claimed:
      return "delivery_claimed";
    case RecordKind::delivery_sealed:
      return "delivery_sealed";
    case RecordKind::delivery_retried:
      return "delivery_retried";
    case RecordKind::delivery_dead:
      return "delivery_dead";
  }
  return "unknown";
}

inline constexpr std::size_t max_detail_bytes = 1024;

// The detail of a grant that did not wait for the end of the lease before it: the process that held
// it was dead.
inline constexpr std::string_view holder_gone = "holder gone";

// What a decision wants written: a record before it has a position, a time and a hash.
struct LedgerEntry {
  RecordKind kind = RecordKind::genesis;
  std::optional<ResourceName> resource = {};  // empty for records about the store or several leases
  std::optional<ActionId> action_id = {};     // unique in the whole ledger
  FencingToken token = {};                    // that the change was made under
  std::optional<ActionState> state = {};      // the action's state after this record
  std::optional<std::uint64_t> subject = {};  // position of the action that a delivery is about
  std::optional<Instant> until = {};          // when a lease, probe or claim ends
  std::optional<Score> score = {};
  std::optional<Digest> digest = {};  // salted digest of an action's content
  std::string actor = {};             // holder id; empty if the library itself acted
  std::string detail = {};            // reason or evidence, at most 1024 bytes

  friend bool operator==(const LedgerEntry&, const LedgerEntry&) = default;
};

// A ledger row as stored. Immutable value; comparable. Its leaf hash covers every other member
// (frame version 1, docs/ledger.md; RFC 9162 section 2.1.1 for the leaf hash).
class AuditRecord {
 public:
  AuditRecord(std::uint64_t position, WallTime recorded_at, LedgerEntry entry,
              Digest leaf_hash) noexcept
      : position_(position),
        recorded_at_(recorded_at),
        entry_(std::move(entry)),
        leaf_hash_(leaf_hash) {}

  // Counted from 0 without gaps.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  // For people; never used in a decision.
  [[nodiscard]] WallTime recorded_at() const noexcept { return recorded_at_; }
  [[nodiscard]] const LedgerEntry& entry() const noexcept { return entry_; }
  [[nodiscard]] const Digest& leaf_hash() const noexcept { return leaf_hash_; }

  friend bool operator==(const AuditRecord&, const AuditRecord&) = default;

 private:
  std::uint64_t position_;
  WallTime recorded_at_;
  LedgerEntry entry_;
  Digest leaf_hash_;
};

// "position kind resource token", for a log.
[[nodiscard]] inline std::string to_string(const AuditRecord& record) {
  const LedgerEntry& entry = record.entry();
  return std::to_string(record.position()) + " " + std::string(to_string(entry.kind)) + " " +
         (entry.resource ? entry.resource->str() : "-") + " " + to_string(entry.token);
}

// A stretch of the ledger: positions from .. from + limit - 1.
struct AuditRange {
  std::uint64_t from = 0;
  std::uint64_t limit = 1000;  // 1 to 10'000
};

// The size of the ledger and the Merkle tree hash over it (RFC 9162 section 2.1.1): what to keep
// elsewhere, so that a later verify() has something to hold the file against.
struct TreeHead {
  std::uint64_t size = 0;
  Digest root = {};

  friend bool operator==(const TreeHead&, const TreeHead&) = default;
};

[[nodiscard]] inline std::string to_string(const TreeHead& head) {
  return std::to_string(head.size) + " " + to_string(head.root);
}

// What verify() found.
enum class VerifyVerdict : std::uint8_t {
  unanchored,  // consistent in itself, but no trusted head was given: a cut or rewritten tail, or
               // an old copy put back, would look the same
  anchored,    // consistent in itself and an extension of the trusted head
  truncated,   // shorter than the trusted head
  forked,      // consistent in itself, but the trusted head is not one of its past
  damaged,     // a row does not match its hashes
};

[[nodiscard]] constexpr std::string_view to_string(VerifyVerdict verdict) noexcept {
  switch (verdict) {
    case VerifyVerdict::unanchored:
      return "UNANCHORED";
    case VerifyVerdict::anchored:
      return "OK";
    case VerifyVerdict::truncated:
      return "TRUNCATED";
    case VerifyVerdict::forked:
      return "FORKED";
    case VerifyVerdict::damaged:
      return "DAMAGED";
  }
  return "DAMAGED";
}

// Which part of a row was found wrong.
enum class DamageKind : std::uint8_t {
  none,
  gap,      // a position is missing, or stands twice
  record,   // the row's columns do not hash to its leaf hash, or cannot be read
  subtree,  // a stored subtree hash is not the one its leaves give
  payload,  // a payload does not match the digest in its record
};

[[nodiscard]] constexpr std::string_view to_string(DamageKind kind) noexcept {
  switch (kind) {
    case DamageKind::none:
      return "none";
    case DamageKind::gap:
      return "gap";
    case DamageKind::record:
      return "record";
    case DamageKind::subtree:
      return "subtree";
    case DamageKind::payload:
      return "payload";
  }
  return "record";
}

struct VerifyReport {
  VerifyVerdict verdict = VerifyVerdict::unanchored;
  TreeHead head = {};                           // recomputed, of all rows before the first bad one
  std::optional<std::uint64_t> first_bad = {};  // position of the first damaged row
  DamageKind damage = DamageKind::none;

  friend bool operator==(const VerifyReport&, const VerifyReport&) = default;
};

}  // namespace wallock
