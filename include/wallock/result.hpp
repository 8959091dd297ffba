// Result<T>: the value an operation promises, or the Error that says why there is none.
#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "wallock/error.hpp"

namespace wallock {

// Every fallible call returns one of these; no exception crosses the library's surface.
template <class T>
using Result = tl::expected<T, Error>;

// The outcome of an operation that has no value to give.
using Status = Result<void>;

// Makes the failed side of any Result: `return fail(Errc::stale_token);`
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}
[[nodiscard]] inline tl::unexpected<Error> fail(Errc code) { return fail(Error(code)); }

}  // namespace wallock
