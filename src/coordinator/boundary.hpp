// at_boundary: where exceptions end and Results begin.
#pragma once

#include <new>
#include <type_traits>

#include "wallock/result.hpp"

namespace wallock::detail {

// Runs `operation`, which answers a Result, and lets no exception through: out_of_memory for a
// failed allocation; outcome_unknown for anything else, which only a repository that breaks its
// contract throws, and of which nobody can say how far it came.
template <class Operation>
[[nodiscard]] auto at_boundary(Operation&& operation) noexcept -> std::invoke_result_t<Operation&> {
  try {
    return operation();
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory);
  } catch (...) {
    return fail(Errc::outcome_unknown);
  }
}

}  // namespace wallock::detail
