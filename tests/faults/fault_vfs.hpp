// FaultVfs: SQLite's own files with faults between: what it writes is recorded, and any of its
// calls can be made to fail, or to be met by somebody else's.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "disk.hpp"

namespace wallock::test {

// The calls that can be counted and failed.
enum class FileCall : std::uint8_t {
  open,
  read,
  write,
  truncate,
  flush,
  size,
  remove,
  access,
  lock,
  index_map,   // of the log's index, in shared memory
  index_lock,  // of the log's index
  // Windows only:
  unfetch,  // between two steps of a checkpoint
  written,  // after a write
  flushed,  // after a flush
};

struct Fault {
  enum class Kind : std::uint8_t {
    io_error,    // any call; half of a write is done first
    full,        // writes; half is done first
    short_read,  // reads: the second half is zeros, and said to be missing
    busy,        // locks
  };
  Kind kind = Kind::io_error;
  std::uint64_t at = 0;   // the number of the call, counted from 0 among those that can fail so
  bool for_ever = false;  // or only that one
  std::optional<std::uint64_t> then = {};  // and this one after it
};

[[nodiscard]] std::string_view to_string(Fault::Kind kind);
[[nodiscard]] std::string to_string(const Fault& fault);

struct FaultFile;

// The process's default VFS from the first use on: whatever opens a database gets it unknowingly.
// Files are real ones, with SQLite's real locks; without a log and a fault it only passes on.
//
// Thread safety: all members may be called from several threads at once.
class FaultVfs {
 public:
  // Registers it when first asked for.
  [[nodiscard]] static FaultVfs& instance();

  // Every write, flush, creation and deletion of the folder's files goes into the log, which must
  // outlive the recording. Before anything in the folder is opened.
  void record(const std::string& folder, DiskLog& log);
  void stop_recording();
  // Notes that the program has had so many answers.
  void note_answer(std::uint64_t answers);

  // From now on; the counting begins anew.
  void arm(const Fault& fault);
  // Nothing fails any more.
  void disarm();
  // Nothing fails or counts meanwhile: for a look at the store between two calls.
  void pause(bool paused);
  // Calls since arm() that could have failed so, and those that did.
  [[nodiscard]] std::uint64_t calls() const;
  [[nodiscard]] std::uint64_t injected() const;

  // Writes to the file fail behind everybody's back, as Linux does it: each handle of it that is
  // open now is told by its next flush, once. One file at a time.
  void lose_writes(const std::string& path);

  // Called before each such call on the file, in its thread; it may use other connections. The
  // calls that it leads to itself are not shown to it again.
  using Window = std::function<void(FileCall call, std::string_view path, int detail)>;
  void watch(Window window);
  void stop_watching();

 private:
  friend struct FaultFile;
  friend struct Methods;
  FaultVfs();

  // SQLITE_OK to go on, or the code to fail with.
  [[nodiscard]] int meet(FileCall call, const char* path, int detail = 0);
  void log(DiskEvent::Kind kind, std::string_view path, std::uint64_t offset = 0,
           std::string_view bytes = {});
  // True once for each loss.
  [[nodiscard]] bool hears(FaultFile& file);
  [[nodiscard]] bool is_armed() const;
  [[nodiscard]] bool is_recorded(std::string_view path) const;

  sqlite3_vfs* usual_;
  sqlite3_vfs vfs_{};

  mutable std::recursive_mutex mutex_;
  DiskLog* log_ = nullptr;
  std::string folder_;
  std::map<std::string, std::uint32_t> numbers_;
  std::uint32_t files_ = 0;
  bool armed_ = false;
  bool paused_ = false;
  Fault fault_;
  std::uint64_t calls_ = 0;
  std::uint64_t injected_ = 0;
  std::string lost_path_;
  std::uint64_t losses_ = 0;
  std::shared_ptr<Window> window_;
};

}  // namespace wallock::test
