// JsonLimits: how large, how deep and how slow a JSON document may be before it is refused.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "wallock/action.hpp"
#include "wallock/clock.hpp"
#include "wallock/options.hpp"
#include "wallock/result.hpp"
#include "wallock/time.hpp"

namespace wallock {

// What decode_json accepts at most. The defaults suit documents from outside.
struct JsonLimits {
  // Bytes of the document: 1 to 64 MiB. A payload takes at most twice its own size, as text as well
  // as in hex: raise it together with max_payload.
  std::size_t max_document = std::size_t{1024} * 1024;
  // Objects and arrays within each other, the document itself counted: 1 to 1000.
  std::size_t max_depth = 16;
  // Bytes of a payload after decoding: 1 to 16 MiB.
  std::size_t max_payload = default_max_payload_bytes;
  // Time for the whole validation of one document: 0.1 ms to 15 ms. Looked at for each KiB read and
  // at the end; a document that is not through by then is refused.
  Duration budget = std::chrono::milliseconds(15);
  // Where that time comes from. Default: the steady clock.
  std::shared_ptr<const Clock> clock = {};
};

inline constexpr std::size_t max_json_document_bytes = std::size_t{64} * 1024 * 1024;
inline constexpr std::size_t max_json_depth = 1000;
inline constexpr Duration min_json_budget = std::chrono::microseconds(100);
inline constexpr Duration max_json_budget = std::chrono::milliseconds(15);

// The first bound overstepped, as invalid_option or invalid_duration (deterministic), naming it.
[[nodiscard]] inline Status check(const JsonLimits& limits) {
  if (auto ok = detail::check_count(limits.max_document, max_json_document_bytes,
                                    "json.max_document", Unit::bytes);
      !ok) {
    return ok;
  }
  if (auto ok = detail::check_count(limits.max_depth, max_json_depth, "json.max_depth"); !ok) {
    return ok;
  }
  if (auto ok = detail::check_count(limits.max_payload, max_payload_bytes, "json.max_payload",
                                    Unit::bytes);
      !ok) {
    return ok;
  }
  return detail::check_duration(limits.budget, min_json_budget, max_json_budget, "json.budget");
}

}  // namespace wallock
