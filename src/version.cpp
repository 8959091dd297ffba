// The version that was compiled into the library, as opposed to the one in the user's headers.
#include "wallock/version.hpp"

namespace wallock {

std::string_view library_version() noexcept { return version; }

}  // namespace wallock
