// Machine: the disk, the shared memory and the locks of a simulated machine, and what goes wrong
// with them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "disk.hpp"
#include "trace.hpp"

namespace wallock::test {

class Machine;
struct OpenFile;

// The log's index, which lies in shared memory: gone with the last of those who map it.
using IndexRegion = std::array<char, 32768>;

// A file as programs see it: with all that was written, durable or not.
struct StoredFile {
  std::string name;  // empty for a temporary one
  std::string content = {};
  std::uint32_t number = 0;  // the disk's
  std::vector<OpenFile*> openings = {};
  std::vector<std::unique_ptr<IndexRegion>> index = {};
};

// Levels of a file's lock, as SQLite numbers them.
inline constexpr int unlocked = 0;
inline constexpr int shared_lock = 1;
inline constexpr int reserved_lock = 2;
inline constexpr int pending_lock = 3;
inline constexpr int exclusive_lock = 4;

// One opening of a file, by one process.
struct OpenFile {
  Machine* machine = nullptr;
  std::shared_ptr<StoredFile> file = {};
  int process = 0;
  int lock = unlocked;
  bool is_database = false;
  bool maps_index = false;
  std::uint32_t index_shared = 0;  // bits of the index's locks
  std::uint32_t index_exclusive = 0;
  bool new_name = false;  // its first flush is one of the folder too
};

// What a process asks of the machine.
enum class Ask : std::uint8_t {
  open,
  close,
  read,
  write,
  truncate,
  flush,
  size,
  lock,
  unlock,
  remove,
  access,
  map,
  index_lock,
  index_unlock,
  barrier,
  unmap,
};

// What goes wrong with one of the asks of a step.
struct Trouble {
  enum class Kind : std::uint8_t {
    none,
    io_error,    // any ask that has an answer; half of a write is done first
    lost_flush,  // a flush answers an error
    full,        // a write answers that the disk is full; half is done first
    busy,        // a lock is somebody else's for a moment
    death,       // the process dies at this ask, of any kind
    power_cut,   // everything does
  };
  Kind kind = Kind::none;
  std::uint64_t at = 0;          // counted from 0 among the asks that it can befall
  std::optional<Ask> only = {};  // befalls asks of this kind alone
};

[[nodiscard]] std::string_view to_string(Trouble::Kind kind);

// Processes are numbers: who asks is said beforehand (set_process). One thread.
class Machine {
 public:
  // Its disk holds `before`. One that lies answers every flush and does nothing.
  Machine(const Image& before, Trace& trace, std::uint64_t seed, bool lies);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine();

  // The one that the process runs on (there is one at a time), for SQLite's calls.
  [[nodiscard]] static Machine* running() noexcept;

  // What a flush failed to write is never written unless the program writes it once more, as with
  // systems that mark their pages as clean. Otherwise the next flush writes it.
  void forget_failed_flushes() noexcept { forgets_ = true; }

  void set_process(int process) noexcept { process_ = process; }

  // Until disarm(), for the process that is set.
  void arm(const Trouble& trouble);
  // True if it happened.
  bool disarm();

  // A dead process still returns from its calls here, but whatever it asks from its death on fails
  // and changes nothing. It is buried once its objects are gone: what it shared with others is
  // then as it was at its death, its locks are nobody's.
  [[nodiscard]] bool is_dead(int process) const { return dead_.contains(process); }
  [[nodiscard]] bool has_power() const noexcept { return has_power_; }
  void bury(int process);
  // Between two of its calls.
  void kill(int process) { die(process); }
  void cut_power();
  // Called at a death and at a power cut, when nothing was changed yet.
  void on_death(std::function<void()> action) { on_death_ = std::move(action); }

  // After a power cut, once nobody has a file open: what the disk held is all there is.
  void restart();
  // What the disk would hold had everything been flushed.
  [[nodiscard]] Image image() const;

  // How often the database itself was written to: by creations and checkpoints.
  [[nodiscard]] std::uint64_t database_writes() const noexcept { return database_writes_; }

  // What SQLite asks, answered with its codes.
  [[nodiscard]] int open(const char* name, int flags, OpenFile*& opened);
  int close(OpenFile* file);
  [[nodiscard]] int read(OpenFile& file, void* data, int count, std::int64_t offset);
  [[nodiscard]] int write(OpenFile& file, const void* data, int count, std::int64_t offset);
  [[nodiscard]] int truncate(OpenFile& file, std::int64_t size);
  [[nodiscard]] int flush(OpenFile& file);
  [[nodiscard]] int size(OpenFile& file, std::int64_t& size);
  [[nodiscard]] int lock(OpenFile& file, int level);
  int unlock(OpenFile& file, int level);
  [[nodiscard]] int is_reserved(OpenFile& file, int& answer);
  [[nodiscard]] int map_index(OpenFile& file, int region, bool extend, volatile void*& memory);
  [[nodiscard]] int lock_index(OpenFile& file, int first, int count, bool exclusive);
  int unlock_index(OpenFile& file, int first, int count);
  void barrier(OpenFile& file);
  int unmap_index(OpenFile& file, bool remove);
  [[nodiscard]] int remove(const char* name, bool flush_names);
  [[nodiscard]] int access(const char* name, int& answer);
  [[nodiscard]] Random& random() noexcept { return random_; }
  // Sleeping is the virtual clock's.
  void on_sleep(std::function<void(int microseconds)> action) { on_sleep_ = std::move(action); }
  void sleep(int microseconds);

 private:
  // What everybody sees of the index, when somebody died.
  struct Snapshot {
    std::shared_ptr<StoredFile> file;
    std::vector<IndexRegion> index = {};
  };

  // 0 to go on, or the code to answer with.
  [[nodiscard]] int meet(Ask ask, int process, std::string_view name);
  [[nodiscard]] int befall(Ask ask);
  void die(int process);
  void release_index(StoredFile& file);
  void append_write(OpenFile& file, const char* data, std::size_t count, std::uint64_t offset);
  [[nodiscard]] int noted(Ask ask, std::string_view name, std::uint64_t detail, int result);

  Trace& trace_;
  Random random_;
  bool lies_;
  bool forgets_ = false;
  Disk disk_;
  std::uint32_t numbers_ = 0;
  std::map<std::string, std::shared_ptr<StoredFile>, std::less<>> files_;
  int process_ = 0;
  Trouble trouble_;
  std::uint64_t asks_ = 0;
  bool struck_ = false;
  bool has_power_ = true;
  std::map<int, std::vector<Snapshot>> dead_;
  std::function<void()> on_death_;
  std::function<void(int)> on_sleep_;
  std::uint64_t database_writes_ = 0;
};

}  // namespace wallock::test
