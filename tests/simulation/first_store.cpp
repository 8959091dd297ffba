#include "first_store.hpp"

#include <chrono>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "randomness.hpp"
#include "sqlite/open_repository.hpp"
#include "wallock/manual_clock.hpp"

namespace wallock::test {
namespace {

// A store in which nothing has happened yet.
Image fresh_store(const std::string& path, SidecarMemory& sidecar) {
  seed_randomness(0);
  sidecar.forget();
  Trace trace;
  Machine machine({}, trace, 0, false);
  machine.set_process(1);
  Options options;
  options.clock = std::make_shared<ManualClock>(Instant(std::chrono::hours(1)),
                                                WallTime(std::chrono::days(20'000)), "boot 1");
  {
    auto opened = sqlite::open_repository(path, options, InstanceId{1}, options.clock);
    if (!opened) throw std::runtime_error("no store: " + to_string(opened.error()));
  }
  return machine.image();
}

}  // namespace

std::string store_name(bool has_sidecar) { return has_sidecar ? "/store.db" : "/alone.db"; }

SidecarMemory& sidecar_in(const std::string& folder) {
  static SidecarMemory sidecar(folder + store_name(true));
  return sidecar;
}

const Image& fresh_in(const std::string& folder, bool has_sidecar) {
  if (has_sidecar) {
    static const Image fresh = fresh_store(folder + store_name(true), sidecar_in(folder));
    return fresh;
  }
  // A later version's sidecar, which this one leaves alone.
  std::ofstream(folder + store_name(false) + "-wallock") << "of a later version";
  static const Image fresh = fresh_store(folder + store_name(false), sidecar_in(folder));
  return fresh;
}

}  // namespace wallock::test
