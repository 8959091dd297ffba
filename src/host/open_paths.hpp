// OpenPath: remembers which stores this process has open, so that a forked child can tell.
#pragma once

#include <string>
#include <string_view>

namespace wallock::host {

// While it lives, this process counts as having the store at `path` open. Made before SQLite opens
// the file and gone after SQLite closed it.
//
// A child of fork(2) inherits SQLite's memory of the locks that its parent held, but not the locks.
// A connection of its own to the same file would take them for its own: the parent, closing, would
// find itself alone and delete the log under the child, and the child's commits with it.
//
// Neither copyable nor movable. Any thread. May throw std::bad_alloc.
class OpenPath {
 public:
  explicit OpenPath(std::string path);
  OpenPath(const OpenPath&) = delete;
  OpenPath& operator=(const OpenPath&) = delete;
  ~OpenPath();
};

// True in a child of a process that had `path` open when it forked, and in that child's children.
[[nodiscard]] bool is_inherited(std::string_view path);

}  // namespace wallock::host
