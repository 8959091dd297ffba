// open_repository: the one way from the coordinator to the SQLite store.
#pragma once

#include <memory>
#include <string_view>

#include "wallock/clock.hpp"
#include "wallock/lease_repository.hpp"
#include "wallock/options.hpp"
#include "wallock/result.hpp"

namespace wallock::sqlite {

// Opens the store at `path` as Coordinator::open says, with its errors. `options` are checked by
// the caller; `clock` is not null.
[[nodiscard]] Result<std::unique_ptr<LeaseRepository>> open_repository(
    std::string_view path, const Options& options, std::shared_ptr<const Clock> clock);

}  // namespace wallock::sqlite
