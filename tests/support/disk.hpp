// Disk: what a disk holds after the power went, by the writes and flushes that it was asked for.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace wallock::test {

// Repeatable randomness: the same seed gives the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
  [[nodiscard]] std::uint64_t next() noexcept;
  // From 0 to count - 1.
  [[nodiscard]] std::uint64_t below(std::uint64_t count) noexcept { return next() % count; }
  // True in `of` out of `all` cases.
  [[nodiscard]] bool chance(std::uint64_t of, std::uint64_t all) noexcept {
    return below(all) < of;
  }

 private:
  std::uint64_t state_;
};

// One thing that a program did to its folder. Files are numbered as they come into being, so that
// one that was deleted and its successor of the same name stay apart.
struct DiskEvent {
  enum class Kind : std::uint8_t {
    create,       // name
    write,        // file, offset, bytes
    truncate,     // file, offset: its new size
    flush,        // file
    lost_flush,   // file, offset: a seed. It failed, and no later one writes what this one did not
    flush_names,  // creations and deletions of the whole folder
    remove,       // name
    answer,       // offset: how many answers the program had by then
  };
  Kind kind{};
  std::uint32_t file = 0;
  std::uint64_t offset = 0;
  std::string bytes = {};  // or the name
};

// The files of a folder by name, as bytes.
using Image = std::map<std::string, std::string>;

// A program's events in their order, and what the folder held before them. Any thread.
class DiskLog {
 public:
  explicit DiskLog(Image before = {}) : before_(std::move(before)) {}

  void add(DiskEvent event);
  // For one thread, when nobody adds any more.
  [[nodiscard]] const Image& before() const noexcept { return before_; }
  [[nodiscard]] const std::vector<DiskEvent>& events() const noexcept { return events_; }

 private:
  std::mutex mutex_;
  Image before_;
  std::vector<DiskEvent> events_;
};

// Does what it is asked, and knows what of it would outlive a power cut. A write lasts once its
// file was flushed after it; before that any of its 512-byte sectors may have reached the disk or
// not, in any order. A sector is written as a whole, as it was at some moment. A name comes and
// goes for good once the folder was flushed; before that either may show. One thread at a time.
class Disk {
 public:
  // A disk that lies answers every flush and does nothing.
  explicit Disk(const Image& before, bool lies = false);

  void apply(const DiskEvent& event);

  // What the folder holds if the power goes now; another seed, another chance.
  [[nodiscard]] Image cut(std::uint64_t seed) const;

 private:
  static constexpr std::uint64_t sector = 512;

  struct File {
    std::string durable = {};
    std::vector<DiskEvent> pending = {};
    std::unordered_map<std::uint64_t, std::uint32_t> versions = {};  // pending, of each sector
  };
  struct NameChange {
    std::string name;
    std::optional<std::uint32_t> file;  // none: removed
  };
  // How much of what is pending reaches the disk.
  struct Fate {
    enum class Kind : std::uint8_t { nothing, everything, some, prefix } kind{};
    std::uint64_t percent = 0;  // of the sectors, for some
    std::uint64_t last = 0;     // for prefix: the event that is torn
    bool junk = false;          // what a longer file holds where nothing was written
  };

  [[nodiscard]] Fate choose_fate(Random& random) const;
  [[nodiscard]] std::map<std::string, std::uint32_t> names_after(const Fate& fate,
                                                                 Random& random) const;
  [[nodiscard]] std::string content_after(const File& file, const Fate& fate, Random& random) const;
  [[nodiscard]] static std::uint32_t versions_kept(const Fate& fate, std::uint32_t of,
                                                   Random& random);
  static void grow(std::string& content, std::uint64_t size, bool junk, Random& random);

  bool lies_;
  std::vector<File> files_;
  std::map<std::string, std::uint32_t> names_;  // durable
  std::vector<NameChange> name_changes_;        // pending
  std::uint64_t pending_events_ = 0;
};

}  // namespace wallock::test
