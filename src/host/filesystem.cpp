#include "host/filesystem.hpp"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/vfs.h>
#endif

namespace wallock::host {
namespace {

// As many links in a row as the kernel follows (path_resolution(7)).
constexpr int max_links = 40;

tl::unexpected<Error> unavailable(int native) {
  return fail(Error(Errc::store_unavailable, ErrorFacts{.native = native}));
}

struct Free {
  void operator()(char* text) const noexcept { std::free(text); }
};

// realpath(3); empty with errno set if it fails.
std::optional<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, Free> text(realpath(path.c_str(), nullptr));
  if (!text) return std::nullopt;
  return std::string(text.get());
}

struct Parts {
  std::string folder;
  std::string name;
};

Parts split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

// What the link at `path` points to; empty if there is no link.
std::optional<std::string> read_link(const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  if (length <= 0) return std::nullopt;
  target.resize(static_cast<std::size_t>(length));
  return target;
}

std::string join(const std::string& folder, const std::string& name) {
  return folder == "/" ? folder + name : folder + "/" + name;
}

#if defined(__linux__)

std::optional<std::string> shared_by_statfs(const std::string& folder) {
  struct statfs found{};
  if (statfs(folder.c_str(), &found) != 0) return std::nullopt;
  const auto type = shared_type_of_magic(static_cast<std::uint32_t>(found.f_type));
  if (!type) return std::nullopt;
  return std::string(*type);
}

std::optional<std::string> shared_by_mount_table(const std::string& path) {
  std::ifstream file("/proc/self/mountinfo");
  const std::string table{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  auto type = mount_type(table, path);
  if (!type || !is_shared_type(*type)) return std::nullopt;
  return type;
}

// The table first: it names what statfs only knows as FUSE.
std::optional<std::string> shared_type(const std::string& path, const std::string& folder) {
  auto type = shared_by_mount_table(path);
  return type ? type : shared_by_statfs(folder);
}

#else

std::optional<std::string> shared_type(const std::string&, const std::string&) {
  return std::nullopt;
}

#endif

}  // namespace

Result<std::string> resolve(std::string_view path) {
  std::string at(path);
  for (int links = 0; links < max_links; ++links) {
    if (auto whole = real_path(at)) return *std::move(whole);
    if (errno != ENOENT) return unavailable(errno);
    const Parts parts = split(at);
    if (parts.name.empty()) return unavailable(ENOENT);
    const auto folder = real_path(parts.folder);
    if (!folder) return unavailable(errno);
    at = join(*folder, parts.name);
    const auto target = read_link(at);
    if (!target) return at;
    at = target->starts_with('/') ? *target : join(*folder, *target);
  }
  return unavailable(ELOOP);
}

Status check_access(const std::string& path) {
  if (faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) == 0) return {};
  const int error = errno;
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return {};  // whether it can be made, its maker will see
  return unavailable(error);
}

Status check_local(std::string_view path) {
  const auto file = resolve(path);
  if (!file) return fail(file.error());
  const std::string folder = split(*file).folder;
  struct stat found{};
  if (stat(folder.c_str(), &found) != 0) return unavailable(errno);
  if (const auto type = shared_type(*file, folder)) {
    return fail(invalid(Errc::unsupported_filesystem, *type));
  }
  return {};
}

}  // namespace wallock::host
