// What SQLite asks of the machine's files.
#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "machine.hpp"

namespace wallock::test {
namespace {

std::uint32_t bits(int first, int count) { return ((std::uint32_t{1} << count) - 1) << first; }

}  // namespace

int Machine::open(const char* name, int flags, OpenFile*& opened) {
  const std::string_view known = name == nullptr ? "" : name;
  if (const int failed = meet(Ask::open, process_, known); failed != SQLITE_OK) return failed;
  std::shared_ptr<StoredFile> file;
  bool is_new = false;
  if (name == nullptr) {
    file = std::make_shared<StoredFile>();
  } else if (const auto found = files_.find(known); found != files_.end()) {
    file = found->second;
  } else if ((flags & SQLITE_OPEN_CREATE) != 0) {
    file = std::make_shared<StoredFile>(StoredFile{.name = name, .number = numbers_++});
    files_[name] = file;
    disk_.apply({.kind = DiskEvent::Kind::create, .bytes = name});
    is_new = true;
  } else {
    return noted(Ask::open, known, 0, SQLITE_CANTOPEN);
  }
  constexpr int journals = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
  opened = new OpenFile{.machine = this, .file = file, .process = process_};
  opened->is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  opened->new_name = (flags & journals) != 0 && (flags & SQLITE_OPEN_CREATE) != 0;
  file->openings.push_back(opened);
  return noted(Ask::open, known, is_new ? 1 : 0, SQLITE_OK);
}

// Whoever closes lets go of its locks, dead or not.
int Machine::close(OpenFile* file) {
  static_cast<void>(meet(Ask::close, file->process, file->file->name));
  auto& openings = file->file->openings;
  std::erase(openings, file);
  file->maps_index = false;
  release_index(*file->file);
  delete file;
  return SQLITE_OK;
}

void Machine::release_index(StoredFile& file) {
  const auto maps = [](const OpenFile* opening) { return opening->maps_index; };
  if (std::ranges::none_of(file.openings, maps)) file.index.clear();
}

int Machine::read(OpenFile& file, void* data, int count, std::int64_t offset) {
  if (const int failed = meet(Ask::read, file.process, file.file->name); failed != SQLITE_OK) {
    return failed;
  }
  const std::string& content = file.file->content;
  const auto from = std::min(static_cast<std::size_t>(offset), content.size());
  const auto there = std::min(static_cast<std::size_t>(count), content.size() - from);
  auto* const bytes = static_cast<char*>(data);
  std::memcpy(bytes, content.data() + from, there);
  std::memset(bytes + there, 0, static_cast<std::size_t>(count) - there);
  const bool is_short = there < static_cast<std::size_t>(count);
  trace_.bytes(bytes, there);
  return noted(Ask::read, file.file->name, static_cast<std::uint64_t>(offset),
               is_short ? SQLITE_IOERR_SHORT_READ : SQLITE_OK);
}

void Machine::append_write(OpenFile& file, const char* data, std::size_t count,
                           std::uint64_t offset) {
  if (count == 0) return;
  std::string& content = file.file->content;
  if (content.size() < offset + count) content.resize(offset + count, '\0');
  content.replace(offset, count, data, count);
  trace_.bytes(data, count);
  if (file.file->name.empty()) return;
  disk_.apply({.kind = DiskEvent::Kind::write,
               .file = file.file->number,
               .offset = offset,
               .bytes = std::string(data, count)});
}

int Machine::write(OpenFile& file, const void* data, int count, std::int64_t offset) {
  const bool was_alive = has_power_ && !is_dead(file.process);
  const int failed = meet(Ask::write, file.process, file.file->name);
  // A write that fails, or that its process dies in, got half-way.
  const auto length = static_cast<std::size_t>(failed == SQLITE_OK ? count : count / 2);
  if (was_alive) {
    append_write(file, static_cast<const char*>(data), length, static_cast<std::uint64_t>(offset));
  }
  if (failed != SQLITE_OK) return failed;
  if (file.is_database) ++database_writes_;
  return noted(Ask::write, file.file->name, static_cast<std::uint64_t>(offset), SQLITE_OK);
}

int Machine::truncate(OpenFile& file, std::int64_t size) {
  if (const int failed = meet(Ask::truncate, file.process, file.file->name); failed != SQLITE_OK) {
    return failed;
  }
  const auto length = static_cast<std::uint64_t>(size);
  file.file->content.resize(length, '\0');
  if (!file.file->name.empty()) {
    disk_.apply({.kind = DiskEvent::Kind::truncate, .file = file.file->number, .offset = length});
  }
  return noted(Ask::truncate, file.file->name, length, SQLITE_OK);
}

int Machine::flush(OpenFile& file) {
  const bool was_alive = has_power_ && !is_dead(file.process);
  if (const int failed = meet(Ask::flush, file.process, file.file->name); failed != SQLITE_OK) {
    const bool lives = was_alive && has_power_ && !is_dead(file.process);
    if (lives && forgets_ && !file.file->name.empty()) {
      disk_.apply({.kind = DiskEvent::Kind::lost_flush,
                   .file = file.file->number,
                   .offset = random_.next()});
    }
    return failed;
  }
  if (!file.file->name.empty()) {
    disk_.apply({.kind = DiskEvent::Kind::flush, .file = file.file->number});
    if (std::exchange(file.new_name, false)) {
      disk_.apply({.kind = DiskEvent::Kind::flush_names});
    }
  }
  return noted(Ask::flush, file.file->name, 0, SQLITE_OK);
}

int Machine::size(OpenFile& file, std::int64_t& size) {
  if (const int failed = meet(Ask::size, file.process, file.file->name); failed != SQLITE_OK) {
    return failed;
  }
  size = static_cast<std::int64_t>(file.file->content.size());
  return noted(Ask::size, file.file->name, file.file->content.size(), SQLITE_OK);
}

int Machine::lock(OpenFile& file, int level) {
  if (file.lock >= level) return SQLITE_OK;
  if (const int failed = meet(Ask::lock, file.process, file.file->name); failed != SQLITE_OK) {
    return failed;
  }
  const auto others_from = [&](int least) {
    return std::ranges::any_of(file.file->openings, [&](const OpenFile* other) {
      return other != &file && other->lock >= least;
    });
  };
  int result = SQLITE_OK;
  if (level == shared_lock) {
    if (others_from(pending_lock)) result = SQLITE_BUSY;
  } else if (others_from(reserved_lock)) {
    result = SQLITE_BUSY;
  } else if (level == exclusive_lock && others_from(shared_lock)) {
    file.lock = pending_lock;
    result = SQLITE_BUSY;
  }
  if (result == SQLITE_OK) file.lock = level;
  return noted(Ask::lock, file.file->name, static_cast<std::uint64_t>(level), result);
}

int Machine::unlock(OpenFile& file, int level) {
  if (const int failed = meet(Ask::unlock, file.process, file.file->name); failed != SQLITE_OK) {
    return failed;
  }
  file.lock = std::min(file.lock, level);
  return noted(Ask::unlock, file.file->name, static_cast<std::uint64_t>(level), SQLITE_OK);
}

int Machine::is_reserved(OpenFile& file, int& answer) {
  answer = std::ranges::any_of(file.file->openings,
                               [](const OpenFile* other) { return other->lock >= reserved_lock; })
               ? 1
               : 0;
  return SQLITE_OK;
}

int Machine::map_index(OpenFile& file, int region, bool extend, volatile void*& memory) {
  memory = nullptr;
  if (const int failed = meet(Ask::map, file.process, file.file->name); failed != SQLITE_OK) {
    return failed;
  }
  file.maps_index = true;
  auto& index = file.file->index;
  const auto wanted = static_cast<std::size_t>(region);
  if (index.size() <= wanted && extend) {
    while (index.size() <= wanted)
      index.push_back(std::make_unique<IndexRegion>());
  }
  if (index.size() > wanted) memory = index[wanted]->data();
  return noted(Ask::map, file.file->name, wanted, SQLITE_OK);
}

int Machine::lock_index(OpenFile& file, int first, int count, bool exclusive) {
  if (const int failed = meet(Ask::index_lock, file.process, file.file->name);
      failed != SQLITE_OK) {
    return failed;
  }
  const std::uint32_t wanted = bits(first, count);
  int result = SQLITE_OK;
  for (const OpenFile* other : file.file->openings) {
    if (other == &file) continue;
    const std::uint32_t in_the_way =
        other->index_exclusive | (exclusive ? other->index_shared : std::uint32_t{0});
    if ((in_the_way & wanted) != 0) result = SQLITE_BUSY;
  }
  if (result == SQLITE_OK) (exclusive ? file.index_exclusive : file.index_shared) |= wanted;
  return noted(Ask::index_lock, file.file->name, wanted, result);
}

int Machine::unlock_index(OpenFile& file, int first, int count) {
  if (const int failed = meet(Ask::index_unlock, file.process, file.file->name);
      failed != SQLITE_OK) {
    return failed;
  }
  file.index_exclusive &= ~bits(first, count);
  file.index_shared &= ~bits(first, count);
  return noted(Ask::index_unlock, file.file->name, bits(first, count), SQLITE_OK);
}

void Machine::barrier(OpenFile& file) {
  if (meet(Ask::barrier, file.process, file.file->name) != SQLITE_OK) return;
  static_cast<void>(noted(Ask::barrier, file.file->name, 0, SQLITE_OK));
}

int Machine::unmap_index(OpenFile& file, bool /*remove*/) {
  if (const int failed = meet(Ask::unmap, file.process, file.file->name); failed != SQLITE_OK) {
    return failed;
  }
  file.maps_index = false;
  file.index_exclusive = file.index_shared = 0;
  release_index(*file.file);
  return noted(Ask::unmap, file.file->name, 0, SQLITE_OK);
}

int Machine::remove(const char* name, bool flush_names) {
  if (const int failed = meet(Ask::remove, process_, name); failed != SQLITE_OK) return failed;
  const auto found = files_.find(std::string_view(name));
  if (found == files_.end()) return noted(Ask::remove, name, 0, SQLITE_IOERR_DELETE_NOENT);
  found->second->name.clear();  // whoever has it open goes on with it, and nobody else sees it
  files_.erase(found);
  disk_.apply({.kind = DiskEvent::Kind::remove, .bytes = name});
  if (flush_names) disk_.apply({.kind = DiskEvent::Kind::flush_names});
  return noted(Ask::remove, name, 0, SQLITE_OK);
}

int Machine::access(const char* name, int& answer) {
  if (const int failed = meet(Ask::access, process_, name); failed != SQLITE_OK) return failed;
  const auto found = files_.find(std::string_view(name));
  // An empty file counts as none, as in SQLite's own way of asking.
  answer = found != files_.end() && !found->second->content.empty() ? 1 : 0;
  return noted(Ask::access, name, static_cast<std::uint64_t>(answer), SQLITE_OK);
}

void Machine::sleep(int microseconds) {
  if (on_sleep_) on_sleep_(microseconds);
}

}  // namespace wallock::test
