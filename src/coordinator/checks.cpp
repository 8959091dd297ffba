#include "coordinator/checks.hpp"

#include "wallock/audit.hpp"
#include "wallock/utf8.hpp"

namespace wallock::detail {

Status check_path(std::string_view path) {
  if (path.empty() || has_nul(path)) return fail(invalid(Errc::invalid_option, "path"));
  return {};
}

Status check_metadata(std::string_view metadata) {
  if (metadata.size() > max_metadata_bytes) {
    return fail(
        invalid(Errc::too_large, "metadata", max_metadata_bytes, Bound::at_most, Unit::bytes));
  }
  return {};
}

Status check_payloads(std::span<const ActionRequest> actions, std::size_t most) {
  for (const ActionRequest& action : actions) {
    if (action.payload().size() > most) {
      return fail(Error(Errc::too_large, ErrorFacts{.field = "payload",
                                                    .action = action.id().str(),
                                                    .limit = static_cast<std::int64_t>(most),
                                                    .bound = Bound::at_most,
                                                    .unit = Unit::bytes}));
    }
  }
  return {};
}

Status check_reason(std::string_view reason) {
  if (reason.size() > max_detail_bytes) {
    return fail(invalid(Errc::too_large, "reason", max_detail_bytes, Bound::at_most, Unit::bytes));
  }
  if (reason.empty()) {
    return fail(invalid(Errc::invalid_option, "reason", 1, Bound::at_least, Unit::bytes));
  }
  if (has_nul(reason) || !is_valid_utf8(reason)) {
    return fail(invalid(Errc::invalid_option, "reason"));
  }
  return {};
}

Status check_limit(std::uint64_t limit, std::int64_t most) {
  return check_count(limit, most, "limit");
}

Status check_together(std::size_t resources) {
  return check_count(resources, max_together, "resources");
}

Status check_settlements(std::size_t settlements) {
  return check_count(settlements, max_settlements, "settlements");
}

Status check_token(FencingToken token) {
  if (!token) return fail(invalid(Errc::invalid_token, "token"));
  return {};
}

Status check(DownstreamOutcome outcome) {
  if (outcome > DownstreamOutcome::cancelled) return fail(invalid(Errc::invalid_option, "outcome"));
  return {};
}

Status check(const CommitOptions& options) {
  if (options.after > AfterCommit::release) return fail(invalid(Errc::invalid_option, "after"));
  return options.ttl ? check_ttl(*options.ttl) : Status();
}

Status check(const GuardOptions& options, Duration ttl) {
  if (options.margin) {
    auto ok = check_duration(*options.margin, Duration::zero(), ttl / 2, "margin");
    if (!ok) return ok;
  }
  return check_duration(options.max_hold, ttl, Duration::max(), "max_hold");
}

}  // namespace wallock::detail
