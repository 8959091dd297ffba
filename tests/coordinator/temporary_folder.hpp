// TemporaryFolder: a folder of a test's own, gone at its end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "catch.hpp"

namespace wallock::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "wallock-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = std::filesystem::canonical(name).string();
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace wallock::test
