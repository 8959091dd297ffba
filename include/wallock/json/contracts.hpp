// JsonContract<T>: which members the JSON form of a type has, and how they are written and read.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "wallock/action.hpp"
#include "wallock/delivery.hpp"
#include "wallock/json/limits.hpp"
#include "wallock/json/object.hpp"
#include "wallock/json/writer.hpp"
#include "wallock/lease.hpp"
#include "wallock/result.hpp"

namespace wallock::detail {

// Without an error() every required member is there: see JsonObject.
// NOLINTBEGIN(bugprone-unchecked-optional-access)

// A specialisation has the declared `fields`, `write`, and, if the form can be read, `read`.
template <class T>
struct JsonContract;

template <>
struct JsonContract<ActionRequest> {
  static constexpr std::array<JsonField, 6> fields{{{"action_id"},
                                                    {"destination", false},
                                                    {"payload", false},
                                                    {"payload_hex", false},
                                                    {"security_score"},
                                                    {"amount", false}}};

  static void write(JsonWriter& out, const ActionRequest& action) {
    out.text("action_id", action.id().str());
    if (action.destination()) out.text("destination", action.destination()->str());
    out.bytes("payload", action.payload());
    out.text("security_score", to_string(action.security_score()));
    if (action.amount()) out.text("amount", to_string(*action.amount()));
  }

  static Result<ActionRequest> read(JsonObject& in, const JsonLimits& limits) {
    auto id = in.parsed<ActionId>("action_id");
    auto destination = in.parsed<Destination>("destination");
    auto payload = in.required_bytes("payload", limits.max_payload);
    const auto score = in.decimal<Score>("security_score");
    const auto amount = in.decimal<Decimal>("amount");
    if (in.error()) return fail(*in.error());
    std::optional<Given<Destination>> given;
    if (destination) given = *std::move(destination);
    return ActionRequest::create({.id = *std::move(id),
                                  .destination = std::move(given),
                                  .payload = *std::move(payload),
                                  .security_score = *score,
                                  .amount = amount});
  }
};

template <>
struct JsonContract<ActionResult> {
  static constexpr std::array<JsonField, 5> fields{
      {{"action_id"}, {"position"}, {"token"}, {"digest"}, {"state"}}};

  static void write(JsonWriter& out, const ActionResult& result) {
    out.text("action_id", result.id().str());
    out.wide("position", result.position());
    out.wide("token", result.token().value());
    out.text("digest", to_string(result.digest()));
    out.text("state", to_string(result.state()));
  }

  static Result<ActionResult> read(JsonObject& in, const JsonLimits&) {
    auto id = in.parsed<ActionId>("action_id");
    const auto position = in.integer<std::uint64_t>("position");
    const auto token = in.token("token");
    const auto digest = in.parsed<Digest>("digest");
    const auto state = in.one_of("state", all_action_states);
    if (in.error()) return fail(*in.error());
    return ActionResult({.id = *std::move(id),
                         .position = *position,
                         .token = *token,
                         .digest = *digest,
                         .state = *state});
  }
};

template <>
struct JsonContract<Lease> {
  static constexpr std::array<JsonField, 7> fields{{{"resource"},
                                                    {"token"},
                                                    {"holder"},
                                                    {"instance"},
                                                    {"requested_at_ns"},
                                                    {"granted_at_ns"},
                                                    {"expires_at_ns"}}};

  static void write(JsonWriter& out, const Lease& lease) {
    out.text("resource", lease.resource().str());
    out.wide("token", lease.token().value());
    out.text("holder", lease.holder().str());
    out.wide("instance", static_cast<std::uint64_t>(lease.instance()));
    out.instant("requested_at_ns", lease.requested_at());
    out.instant("granted_at_ns", lease.granted_at());
    out.instant("expires_at_ns", lease.expires_at());
  }

  static Result<Lease> read(JsonObject& in, const JsonLimits&) {
    auto resource = in.parsed<ResourceName>("resource");
    const auto token = in.token("token");
    auto holder = in.parsed<HolderId>("holder");
    const auto instance = in.integer<std::uint64_t>("instance");
    const auto requested_at = in.instant("requested_at_ns");
    const auto granted_at = in.instant("granted_at_ns");
    const auto expires_at = in.instant("expires_at_ns");
    if (in.error()) return fail(*in.error());
    return Lease::create({.resource = *std::move(resource),
                          .token = *token,
                          .holder = *std::move(holder),
                          .instance = InstanceId{*instance},
                          .requested_at = *requested_at,
                          .granted_at = *granted_at,
                          .expires_at = *expires_at});
  }
};

template <>
struct JsonContract<Delivery> {
  static constexpr std::array<JsonField, 9> fields{{{"action_id"},
                                                    {"position"},
                                                    {"resource"},
                                                    {"destination"},
                                                    {"payload", false},
                                                    {"payload_hex", false},
                                                    {"attempt"},
                                                    {"claim_token"},
                                                    {"claim_expires_at_ns"}}};

  static void write(JsonWriter& out, const Delivery& delivery) {
    out.text("action_id", delivery.action_id().str());
    out.wide("position", delivery.position());
    out.text("resource", delivery.resource().str());
    out.text("destination", delivery.destination().str());
    out.bytes("payload", delivery.payload());
    out.narrow("attempt", delivery.attempt());
    out.wide("claim_token", delivery.claim_token().value());
    out.instant("claim_expires_at_ns", delivery.claim_expires_at());
  }

  static Result<Delivery> read(JsonObject& in, const JsonLimits& limits) {
    auto id = in.parsed<ActionId>("action_id");
    const auto position = in.integer<std::uint64_t>("position");
    auto resource = in.parsed<ResourceName>("resource");
    auto destination = in.parsed<Destination>("destination");
    auto payload = in.required_bytes("payload", limits.max_payload);
    const auto attempt = in.integer<std::uint32_t>("attempt");
    const auto claim_token = in.token("claim_token");
    const auto claim_expires_at = in.instant("claim_expires_at_ns");
    if (in.error()) return fail(*in.error());
    return Delivery({.action_id = *std::move(id),
                     .position = *position,
                     .resource = *std::move(resource),
                     .destination = *std::move(destination),
                     .payload = *std::move(payload),
                     .attempt = *attempt,
                     .claim_token = *claim_token,
                     .claim_expires_at = *claim_expires_at});
  }
};

// NOLINTEND(bugprone-unchecked-optional-access)

}  // namespace wallock::detail
