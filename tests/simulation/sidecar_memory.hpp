// SidecarMemory: what the processes of a simulated machine share beside the database, as it is at
// the moment of a death.
#pragma once

#include <string>
#include <vector>

namespace wallock::host {
struct SidecarLayout;
}

namespace wallock::test {

// The sidecar is a real file. A dead process's objects are destroyed properly in the end, as the
// dead do not do: what they did to the sidecar after the death is undone then.
class SidecarMemory {
 public:
  // The sidecar of the database at `path`, made if there is none. Throws std::runtime_error.
  explicit SidecarMemory(const std::string& path);
  SidecarMemory(const SidecarMemory&) = delete;
  SidecarMemory& operator=(const SidecarMemory&) = delete;
  ~SidecarMemory();

  // As if it had never been: nobody may have it open.
  void forget();

  // Keeps what it says now.
  void keep();
  // Puts it back, if anything was kept. Time has passed since, for whoever waits for the dead.
  void put_back();

 private:
  host::SidecarLayout* layout_ = nullptr;
  std::vector<char> kept_;
};

}  // namespace wallock::test
