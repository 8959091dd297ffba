#include "coordinator/checks.hpp"

#include "wallock/audit.hpp"
#include "wallock/utf8.hpp"

namespace wallock::detail {

Status check_path(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) {
    return fail(invalid(Errc::invalid_option, "path"));
  }
  return {};
}

Status check_metadata(std::string_view metadata) {
  if (metadata.size() > max_metadata_bytes) {
    return fail(invalid(Errc::too_large, "metadata", max_metadata_bytes));
  }
  return {};
}

Status check_payloads(std::span<const ActionRequest> actions, std::size_t most) {
  for (const ActionRequest& action : actions) {
    if (action.payload().size() > most) {
      return fail(invalid(Errc::too_large, "payload", static_cast<std::int64_t>(most)));
    }
  }
  return {};
}

Status check_reason(std::string_view reason) {
  if (reason.size() > max_detail_bytes) {
    return fail(invalid(Errc::too_large, "reason", max_detail_bytes));
  }
  if (!is_valid_utf8(reason)) return fail(invalid(Errc::invalid_option, "reason"));
  return {};
}

Status check_evidence(std::string_view evidence) {
  if (evidence.empty() || evidence.size() > max_detail_bytes || !is_valid_utf8(evidence)) {
    return fail(invalid(Errc::invalid_evidence, "evidence", max_detail_bytes));
  }
  return {};
}

Status check_limit(std::uint64_t limit, std::int64_t most) {
  if (limit == 0 || limit > static_cast<std::uint64_t>(most)) {
    return fail(invalid(Errc::invalid_option, "limit", most));
  }
  return {};
}

Status check_together(std::size_t resources) {
  if (resources == 0 || resources > static_cast<std::size_t>(max_together)) {
    return fail(invalid(Errc::invalid_option, "resources", max_together));
  }
  return {};
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
