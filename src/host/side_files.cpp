#include "host/side_files.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

namespace wallock::host {

bool is_owner_trusted(const struct stat& own, const struct stat& like) noexcept {
  if (own.st_uid == 0 || own.st_uid == geteuid() || own.st_uid == like.st_uid) return true;
  if ((like.st_mode & S_IWOTH) != 0) return true;
  return (like.st_mode & S_IWGRP) != 0 && own.st_gid == like.st_gid;
}

bool are_side_files_sound(const std::string& database) {
  constexpr std::array<std::string_view, 3> endings{"-wal", "-shm", "-journal"};
  struct stat like{};
  if (stat(database.c_str(), &like) != 0) like.st_uid = geteuid();  // as if it were this user's own
  return std::ranges::all_of(endings, [&](std::string_view ending) {
    struct stat own{};
    const std::string path = database + std::string(ending);
    if (lstat(path.c_str(), &own) != 0) return true;
    return S_ISREG(own.st_mode) && own.st_nlink <= 1 && is_owner_trusted(own, like);
  });
}

}  // namespace wallock::host
