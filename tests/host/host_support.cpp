#include "host_support.hpp"

#include <fcntl.h>

namespace wallock::test {
RawSidecar::RawSidecar(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(file >= 0);
  void* const at = mmap(nullptr, sizeof *layout_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  REQUIRE(at != MAP_FAILED);
  layout_ = static_cast<host::SidecarLayout*>(at);
}

}  // namespace wallock::test
