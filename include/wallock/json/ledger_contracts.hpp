// The JSON forms of ledger records, tree heads and breakers.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "wallock/audit.hpp"
#include "wallock/breaker.hpp"
#include "wallock/json/contracts.hpp"
#include "wallock/json/limits.hpp"
#include "wallock/json/object.hpp"
#include "wallock/json/writer.hpp"
#include "wallock/name.hpp"
#include "wallock/result.hpp"

namespace wallock::detail {

// Without an error() every required member is there: see JsonObject.
// NOLINTBEGIN(bugprone-unchecked-optional-access)

template <>
struct JsonContract<AuditRecord> {
  static constexpr std::array<JsonField, 16> fields{{{"position"},
                                                     {"recorded_at_us"},
                                                     {"kind"},
                                                     {"resource", false},
                                                     {"action_id", false},
                                                     {"token"},
                                                     {"state", false},
                                                     {"subject", false},
                                                     {"until_ns", false},
                                                     {"security_score", false},
                                                     {"digest", false},
                                                     {"actor", false},
                                                     {"actor_hex", false},
                                                     {"detail", false},
                                                     {"detail_hex", false},
                                                     {"leaf_hash"}}};

  static void write(JsonWriter& out, const AuditRecord& record) {
    const LedgerEntry& entry = record.entry();
    out.wide("position", record.position());
    out.text("recorded_at_us", std::to_string(record.recorded_at().time_since_epoch().count()));
    out.text("kind", to_string(entry.kind));
    if (entry.resource) out.text("resource", entry.resource->str());
    if (entry.action_id) out.text("action_id", entry.action_id->str());
    out.wide("token", entry.token.value());
    if (entry.state) out.text("state", to_string(*entry.state));
    if (entry.subject) out.wide("subject", *entry.subject);
    if (entry.until) out.instant("until_ns", *entry.until);
    if (entry.score) out.text("security_score", to_string(*entry.score));
    if (entry.digest) out.text("digest", to_string(*entry.digest));
    out.bytes("actor", entry.actor);
    out.bytes("detail", entry.detail);
    out.text("leaf_hash", to_string(record.leaf_hash()));
  }

  static Result<AuditRecord> read(JsonObject& in, const JsonLimits&) {
    const auto position = in.integer<std::uint64_t>("position");
    const auto recorded_at = in.integer<WallTime::rep>("recorded_at_us");
    const auto kind = in.one_of("kind", all_record_kinds);
    auto resource = in.parsed<ResourceName>("resource");
    auto action_id = in.parsed<ActionId>("action_id");
    const auto token = in.token("token");
    const auto state = in.one_of("state", all_action_states);
    const auto subject = in.integer<std::uint64_t>("subject");
    const auto until = in.instant("until_ns");
    const auto score = in.decimal<Score>("security_score");
    const auto digest = in.parsed<Digest>("digest");
    auto actor = in.required_bytes("actor", max_name_bytes);
    auto detail = in.required_bytes("detail", max_detail_bytes);
    const auto leaf_hash = in.parsed<Digest>("leaf_hash");
    if (in.error()) return fail(*in.error());
    LedgerEntry entry{.kind = *kind,
                      .resource = std::move(resource),
                      .action_id = std::move(action_id),
                      .token = *token,
                      .state = state,
                      .subject = subject,
                      .until = until,
                      .score = score,
                      .digest = digest,
                      .actor = *std::move(actor),
                      .detail = *std::move(detail)};
    return AuditRecord(*position, WallTime(WallTime::duration(*recorded_at)), std::move(entry),
                       *leaf_hash);
  }
};

template <>
struct JsonContract<TreeHead> {
  static constexpr std::array<JsonField, 2> fields{{{"size"}, {"root"}}};

  static void write(JsonWriter& out, const TreeHead& head) {
    out.wide("size", head.size);
    out.text("root", to_string(head.root));
  }

  static Result<TreeHead> read(JsonObject& in, const JsonLimits&) {
    const auto size = in.integer<std::uint64_t>("size");
    const auto root = in.parsed<Digest>("root");
    if (in.error()) return fail(*in.error());
    return TreeHead{.size = *size, .root = *root};
  }
};

// Written only: a status is a view of the store, and nothing takes one back.
template <>
struct JsonContract<BreakerStatus> {
  static void write(JsonWriter& out, const BreakerStatus& status) {
    out.text("resource", status.resource().str());
    out.text("state", to_string(status.state()));
    out.boolean("forced", status.forced());
    out.narrow("timeouts", status.timeouts());
    out.wide("generation", status.generation());
    out.narrow("failed_probes", status.failed_probes());
    out.text("interval_ns", std::to_string(status.interval().count()));
    out.instant("since_ns", status.since());
    out.instant("probe_due_ns", status.probe_due());
    if (status.probe()) out.object("probe", probe(*status.probe()));
  }

 private:
  static std::string probe(const ProbeGrant& grant) {
    JsonWriter out;
    out.wide("token", grant.token.value());
    out.text("holder", grant.holder.str());
    out.wide("instance", static_cast<std::uint64_t>(grant.instance));
    out.instant("expires_at_ns", grant.expires_at);
    return std::move(out).finish();
  }
};

// NOLINTEND(bugprone-unchecked-optional-access)

}  // namespace wallock::detail
