// ScratchFolder: an empty folder that goes away with everything in it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace wallock::bench {

// `parent`/wallock_bench/`name`; what was there is removed first.
class ScratchFolder {
 public:
  ScratchFolder(const std::string& parent, std::string_view name)
      : path_(std::filesystem::path(parent) / "wallock_bench" / name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string str() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace wallock::bench
