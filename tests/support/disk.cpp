#include "disk.hpp"

#include <algorithm>
#include <utility>

namespace wallock::test {

// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t Random::next() noexcept {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void DiskLog::add(DiskEvent event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
}

Disk::Disk(const Image& before, bool lies) : lies_(lies) {
  for (const auto& [name, content] : before) {
    names_[name] = static_cast<std::uint32_t>(files_.size());
    files_.push_back({.durable = content});
  }
}

void Disk::apply(const DiskEvent& event) {
  using Kind = DiskEvent::Kind;
  switch (event.kind) {
    case Kind::create:
      name_changes_.push_back({event.bytes, static_cast<std::uint32_t>(files_.size())});
      files_.emplace_back();
      return;
    case Kind::remove:
      name_changes_.push_back({event.bytes, std::nullopt});
      return;
    case Kind::write: {
      File& file = files_.at(event.file);
      const std::uint64_t end = event.offset + event.bytes.size();
      for (std::uint64_t at = event.offset / sector; at * sector < end; ++at)
        ++file.versions[at];
      file.pending.push_back(event);
      return;
    }
    case Kind::truncate:
      files_.at(event.file).pending.push_back(event);
      return;
    case Kind::flush: {
      if (lies_) return;
      File& file = files_.at(event.file);
      Random unused(0);
      file.durable = content_after(file, {.kind = Fate::Kind::everything}, unused);
      file.pending.clear();
      file.versions.clear();
      return;
    }
    case Kind::lost_flush: {
      File& file = files_.at(event.file);
      Random random(event.offset);
      file.durable = content_after(file, choose_fate(random), random);
      file.pending.clear();
      file.versions.clear();
      return;
    }
    case Kind::flush_names: {
      if (lies_) return;
      Random unused(0);
      names_ = names_after({.kind = Fate::Kind::everything}, unused);
      name_changes_.clear();
      return;
    }
    case Kind::answer:
      return;
  }
}

Disk::Fate Disk::choose_fate(Random& random) const {
  Fate fate{.junk = random.chance(1, 2)};
  switch (random.below(8)) {
    case 0:
      fate.kind = Fate::Kind::nothing;
      break;
    case 1:
      fate.kind = Fate::Kind::everything;
      break;
    case 2:
    case 3:
      fate.kind = Fate::Kind::prefix;
      fate.last = random.next();
      break;
    default:
      fate.kind = Fate::Kind::some;
      fate.percent = 1 + random.below(99);
  }
  return fate;
}

// Of each name by itself some moment of its history shows.
std::map<std::string, std::uint32_t> Disk::names_after(const Fate& fate, Random& random) const {
  auto names = names_;
  std::map<std::string, bool> settled;
  for (const NameChange& change : name_changes_) {
    bool& stays = settled[change.name];
    if (fate.kind == Fate::Kind::nothing) stays = true;
    if (fate.kind != Fate::Kind::everything && random.chance(1, 2)) stays = true;
    if (stays) continue;
    if (change.file) {
      names[change.name] = *change.file;
    } else {
      names.erase(change.name);
    }
  }
  return names;
}

std::uint32_t Disk::versions_kept(const Fate& fate, std::uint32_t of, Random& random) {
  switch (fate.kind) {
    case Fate::Kind::nothing:
      return 0;
    case Fate::Kind::everything:
    case Fate::Kind::prefix:
      return of;
    case Fate::Kind::some:
      break;
  }
  if (random.chance(fate.percent, 100)) return of;
  return static_cast<std::uint32_t>(random.below(of));
}

void Disk::grow(std::string& content, std::uint64_t size, bool junk, Random& random) {
  const std::uint64_t from = content.size();
  if (size <= from) return;
  content.resize(size, '\0');
  if (!junk) return;
  for (std::uint64_t i = from; i < size; ++i)
    content[i] = static_cast<char>(random.next());
}

std::string Disk::content_after(const File& file, const Fate& fate, Random& random) const {
  std::string content = file.durable;
  if (fate.kind == Fate::Kind::nothing || file.pending.empty()) return content;
  const std::uint64_t torn =
      fate.kind == Fate::Kind::prefix ? fate.last % (file.pending.size() + 1) : file.pending.size();
  std::unordered_map<std::uint64_t, std::uint32_t> left;  // versions of each sector to come
  std::uint64_t number = 0;
  for (const DiskEvent& event : file.pending) {
    if (fate.kind == Fate::Kind::prefix && number > torn) break;
    const bool is_torn = number++ == torn;
    if (event.kind == DiskEvent::Kind::truncate) {
      const bool done = fate.kind == Fate::Kind::everything || (!is_torn && random.chance(3, 4));
      if (done && event.offset < content.size()) content.resize(event.offset);
      if (done) grow(content, event.offset, false, random);
      continue;
    }
    const std::uint64_t end = event.offset + event.bytes.size();
    for (std::uint64_t at = event.offset / sector; at * sector < end; ++at) {
      if (fate.kind == Fate::Kind::some) {
        auto found = left.find(at);
        if (found == left.end()) {
          found = left.emplace(at, versions_kept(fate, file.versions.at(at), random)).first;
        }
        if (found->second == 0) continue;
        --found->second;
      } else if (is_torn && random.chance(1, 2)) {
        continue;
      }
      const std::uint64_t first = std::max(at * sector, event.offset);
      const std::uint64_t last = std::min((at + 1) * sector, end);
      grow(content, first, fate.junk, random);
      grow(content, last, false, random);
      content.replace(first, last - first, event.bytes, first - event.offset, last - first);
    }
  }
  return content;
}

Image Disk::cut(std::uint64_t seed) const {
  Random random(seed);
  const Fate fate = choose_fate(random);
  Image image;
  for (const auto& [name, file] : names_after(fate, random))
    image[name] = content_after(files_.at(file), fate, random);
  return image;
}

}  // namespace wallock::test
