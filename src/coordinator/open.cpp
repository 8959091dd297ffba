#include "coordinator/boundary.hpp"
#include "coordinator/checks.hpp"
#include "coordinator/core.hpp"
#include "coordinator/instance.hpp"
#include "sqlite/open_repository.hpp"
#include "wallock/coordinator.hpp"

namespace wallock {

Result<Coordinator> Coordinator::open(std::string_view path, Options options) {
  return detail::at_boundary([&]() -> Result<Coordinator> {
    if (auto ok = detail::check_path(path); !ok) return fail(ok.error());
    if (auto ok = check(options); !ok) return fail(ok.error());
    if (!options.clock) options.clock = system_clock();
    const auto instance = detail::draw_instance();
    if (!instance) return fail(instance.error());
    auto opened = sqlite::open_repository(path, options, *instance, options.clock);
    if (!opened) return fail(opened.error());
    return Coordinator(std::make_shared<detail::CoordinatorCore>(
        std::move(opened->repository), std::move(opened->sidecar), std::move(options), *instance));
  });
}

}  // namespace wallock
