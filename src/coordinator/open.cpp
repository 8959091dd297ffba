#include "coordinator/boundary.hpp"
#include "coordinator/checks.hpp"
#include "sqlite/open_repository.hpp"
#include "wallock/coordinator.hpp"

namespace wallock {

Result<Coordinator> Coordinator::open(std::string_view path, Options options) {
  return detail::at_boundary([&]() -> Result<Coordinator> {
    if (auto ok = detail::check_path(path); !ok) return fail(ok.error());
    if (auto ok = check(options); !ok) return fail(ok.error());
    if (!options.clock) options.clock = system_clock();
    auto repository = sqlite::open_repository(path, options, options.clock);
    if (!repository) return fail(repository.error());
    return over(*std::move(repository), std::move(options));
  });
}

}  // namespace wallock
