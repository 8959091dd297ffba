#include "coordinator/instance.hpp"

#include <cstdint>
#include <exception>
#include <random>

namespace wallock::detail {

Result<InstanceId> draw_instance() {
  try {
    std::random_device random;
    std::uniform_int_distribution<std::uint64_t> all_but_zero(1);
    return InstanceId{all_but_zero(random)};
  } catch (const std::exception&) {
    return fail(Errc::store_unavailable);
  }
}

}  // namespace wallock::detail
