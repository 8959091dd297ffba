#include "sidecar_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <stdexcept>

#include "host/sidecar_layout.hpp"

namespace wallock::test {
namespace {

// All but the lines of those who wait for leases, which nobody does in one thread.
constexpr std::size_t kept_size = offsetof(host::SidecarLayout, line);

}  // namespace

SidecarMemory::SidecarMemory(const std::string& path) {
  const int file = ::open((path + "-wallock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(host::SidecarLayout)) != 0) {
    throw std::runtime_error("no sidecar");
  }
  void* const at =
      ::mmap(nullptr, sizeof(host::SidecarLayout), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (at == MAP_FAILED) throw std::runtime_error("no memory for the sidecar");
  layout_ = static_cast<host::SidecarLayout*>(at);
}

SidecarMemory::~SidecarMemory() { ::munmap(layout_, sizeof(host::SidecarLayout)); }

void SidecarMemory::forget() {
  layout_->header.magic.store(0);
  kept_.clear();
}

void SidecarMemory::keep() {
  const auto* const bytes = static_cast<const char*>(static_cast<const void*>(layout_));
  kept_.assign(bytes, bytes + kept_size);
}

void SidecarMemory::put_back() {
  if (kept_.empty()) return;
  std::memcpy(static_cast<void*>(layout_), kept_.data(), kept_.size());
  kept_.clear();
  // Who flushed is long at it by now.
  for (host::FlushLane& lane : layout_->flush.lanes) {
    if (lane.since.load() != 0) lane.since.store(1);
  }
}

}  // namespace wallock::test
