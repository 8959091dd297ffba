// The checks on what callers pass to a Coordinator, beyond those of the values themselves.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "wallock/action.hpp"
#include "wallock/breaker.hpp"
#include "wallock/lease_guard.hpp"
#include "wallock/options.hpp"
#include "wallock/result.hpp"
#include "wallock/token.hpp"

namespace wallock::detail {

inline constexpr std::int64_t max_listed = 10'000;
inline constexpr std::int64_t max_claimed = 1000;
inline constexpr std::int64_t max_together = 100;

// Each names the field that is wrong; all errors are deterministic.

// invalid_option for an empty path or one with a NUL in it.
[[nodiscard]] Status check_path(std::string_view path);
// too_large over 4096 bytes.
[[nodiscard]] Status check_metadata(std::string_view metadata);
// too_large for the first payload over `most` bytes.
[[nodiscard]] Status check_payloads(std::span<const ActionRequest> actions, std::size_t most);
// too_large over 1024 bytes, invalid_option if it is empty, not UTF-8, or has a NUL in it.
[[nodiscard]] Status check_reason(std::string_view reason);
// invalid_option unless 1 to `most`.
[[nodiscard]] Status check_limit(std::uint64_t limit, std::int64_t most);
// invalid_option "resources" unless 1 to 100.
[[nodiscard]] Status check_together(std::size_t resources);
// invalid_option "settlements" unless 1 to max_settlements.
[[nodiscard]] Status check_settlements(std::size_t settlements);
// invalid_token for the token below all tokens.
[[nodiscard]] Status check_token(FencingToken token);
// invalid_option for a value that is none of the enumerators.
[[nodiscard]] Status check(DownstreamOutcome outcome);
// invalid_option, invalid_duration.
[[nodiscard]] Status check(const CommitOptions& options);
// invalid_duration unless the margin is zero to half the ttl and max_hold at least the ttl.
[[nodiscard]] Status check(const GuardOptions& options, Duration ttl);

}  // namespace wallock::detail
