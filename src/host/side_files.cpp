#include "host/side_files.hpp"

#include <array>
#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

namespace wallock::host {
namespace {

tl::unexpected<Error> invalid_path(std::string_view field, std::string_view found) {
  return fail(Error(Errc::invalid_path,
                    ErrorFacts{.field = std::string(field), .found = std::string(found)}));
}

// What it is, to people; empty for a regular file.
std::string_view kind_of(mode_t mode) noexcept {
  if (S_ISREG(mode)) return {};
  if (S_ISDIR(mode)) return "directory";
  if (S_ISLNK(mode)) return "link";
  if (S_ISFIFO(mode)) return "FIFO";
  if (S_ISSOCK(mode)) return "socket";
  return "device";
}

// Why a file of SQLite's own beside the database `like` is not to be believed; empty if it is.
std::string_view fault_of(const struct stat& own, const struct stat& like) noexcept {
  if (const auto kind = kind_of(own.st_mode); !kind.empty()) return kind;
  if (own.st_nlink > 1) return "hard link";
  return is_owner_trusted(own, like) ? "" : "file of another user";
}

}  // namespace

bool is_owner_trusted(const struct stat& own, const struct stat& like) noexcept {
  if (own.st_uid == 0 || own.st_uid == geteuid() || own.st_uid == like.st_uid) return true;
  if ((like.st_mode & S_IWOTH) != 0) return true;
  return (like.st_mode & S_IWGRP) != 0 && own.st_gid == like.st_gid;
}

Status check_spelling(std::string_view path) {
  if (path == ":memory:") return invalid_path("path", "memory");
  if (path.starts_with("file:")) return invalid_path("path", "URI");
  return {};
}

Status check_database_file(const std::string& database) {
  struct stat info{};
  if (stat(database.c_str(), &info) != 0) return {};
  if (const auto kind = kind_of(info.st_mode); !kind.empty()) return invalid_path("path", kind);
  if (info.st_nlink > 1) return invalid_path("path", "hard link");
  return {};
}

Status check_side_files(const std::string& database) {
  constexpr std::array<std::string_view, 3> of_sqlite{"-wal", "-shm", "-journal"};
  constexpr std::string_view of_ours = "-wallock";
  struct stat like{};
  struct stat own{};
  if (stat(database.c_str(), &like) != 0) like.st_uid = geteuid();  // as if it were this user's own
  for (const std::string_view ending : of_sqlite) {
    if (lstat((database + std::string(ending)).c_str(), &own) != 0) continue;
    if (const auto fault = fault_of(own, like); !fault.empty()) return invalid_path(ending, fault);
  }
  if (lstat((database + std::string(of_ours)).c_str(), &own) != 0) return {};
  if (const auto kind = kind_of(own.st_mode); !kind.empty()) return invalid_path(of_ours, kind);
  return {};
}

}  // namespace wallock::host
