// open_repository: the one way from the coordinator to the SQLite store.
#pragma once

#include <memory>
#include <string_view>

#include "host/sidecar.hpp"
#include "wallock/clock.hpp"
#include "wallock/lease_repository.hpp"
#include "wallock/options.hpp"
#include "wallock/result.hpp"

namespace wallock::sqlite {

struct OpenedRepository {
  std::unique_ptr<LeaseRepository> repository;
  std::shared_ptr<host::Sidecar> sidecar;  // null if it cannot be had: the store works without
};

// Opens the store at `path` as Coordinator::open says, with its errors. `options` are checked by
// the caller; `clock` is not null.
[[nodiscard]] Result<OpenedRepository> open_repository(std::string_view path,
                                                       const Options& options, InstanceId instance,
                                                       const std::shared_ptr<const Clock>& clock);

}  // namespace wallock::sqlite
