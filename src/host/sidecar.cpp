#include "host/sidecar.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/creation_lock.hpp"
#include "host/process.hpp"
#include "host/sidecar_file.hpp"
#include "host/sidecar_layout.hpp"
#include "host/unforked_file.hpp"
#include "host/waiting_queue.hpp"

namespace wallock::host {
namespace {

std::uint64_t hashed_boot_id(const Clock& clock) { return hash_of(clock.boot_id().value_or("")); }

// Whether a file that nobody uses may be written over: 0, or an errno. Its first bytes are a
// sidecar's, or nothing yet.
int check_content(int file) noexcept {
  std::uint64_t magic = 0;
  const ssize_t length = pread(file, &magic, sizeof magic, 0);
  if (length < 0) return errno;
  if (length == 0) return 0;
  const bool is_whole = length == static_cast<ssize_t>(sizeof magic);
  return is_whole && (magic == 0 || magic == sidecar_magic) ? 0 : EPROTO;
}

bool is_complete(int file) noexcept {
  struct stat found{};
  return fstat(file, &found) == 0 && found.st_size >= static_cast<off_t>(sizeof(SidecarLayout));
}

// Every page of it, so that the disk cannot be full later. 0, or an errno.
int allocate(int file) noexcept {
  for (;;) {
    const int error = posix_fallocate(file, 0, static_cast<off_t>(sizeof(SidecarLayout)));
    if (error != EINTR) return error;
  }
}

bool is_ours(const SidecarHeader& header, std::uint64_t boot_id) noexcept {
  return header.magic.load() == sidecar_magic && header.version.load() == sidecar_version &&
         header.size.load() == sizeof(SidecarLayout) && header.boot_id.load() == boot_id;
}

// All bytes zero is an empty layout.
void clear(void* part, std::size_t size) noexcept { std::memset(part, 0, size); }

void lay_out(SidecarLayout& layout, std::uint64_t boot_id) noexcept {
  clear(&layout, sizeof layout);
  layout.header.version.store(sidecar_version);
  layout.header.size.store(sizeof layout);
  layout.header.boot_id.store(boot_id);
  layout.header.magic.store(sidecar_magic);
}

// What openings that are all gone left behind. The table of members tells of their deaths; the rest
// says nothing to anybody. A megabyte of slots is only looked at where one was left in use.
void tidy_up(SidecarLayout& layout) noexcept {
  clear(&layout.turnstile, sizeof layout.turnstile);
  clear(&layout.doorbell, sizeof layout.doorbell);
  for (std::size_t i = 0; i < WaitingLine::shards; ++i) {
    if (slots_in_use(layout.line.shards[i]) == 0) continue;
    clear(&layout.line.slots[i], sizeof layout.line.slots[i]);
    clear(&layout.line.shards[i], sizeof layout.line.shards[i]);
  }
}

// The file in memory. A child of fork(2) does not have it.
class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (layout_ != nullptr && !process_.forked()) munmap(layout_, sizeof(SidecarLayout));
  }

  // 0, or an errno.
  [[nodiscard]] int map(int file) noexcept {
    void* const at =
        mmap(nullptr, sizeof(SidecarLayout), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) return errno;
    layout_ = static_cast<SidecarLayout*>(at);
    return madvise(at, sizeof(SidecarLayout), MADV_DONTFORK) == 0 ? 0 : errno;
  }
  [[nodiscard]] SidecarLayout& operator*() const noexcept { return *layout_; }

 private:
  SidecarLayout* layout_ = nullptr;
  ProcessMark process_ = {};
};

// The sidecar's file, once open() said so: in order, mapped, and ours.
class Ground {
 public:
  explicit Ground(const std::string& database) : file([&] { return open_sidecar(database); }) {}

  // 0, or an errno; once. The caller holds the creation lock.
  [[nodiscard]] int open(const std::string& database, const Clock& clock);

  UnforkedFile file;
  Mapping mapping = {};

 private:
  [[nodiscard]] int map(std::uint64_t boot_id);
};

int Ground::map(std::uint64_t boot_id) {
  const bool is_only = !Membership::is_anybody_there(file);
  const bool was_complete = is_complete(file.get());
  if (!is_only && !was_complete) return EPROTO;
  if (const int error = is_only ? check_content(file.get()) : 0) return error;
  if (const int error = allocate(file.get())) return error;
  if (const int error = mapping.map(file.get())) return error;
  if (is_ours((*mapping).header, boot_id)) {
    if (is_only) tidy_up(*mapping);
    return 0;
  }
  if (!is_only) return EPROTO;
  lay_out(*mapping, boot_id);
  return 0;
}

int Ground::open(const std::string& database, const Clock& clock) {
  if (file.get() < 0) return file.error();
  share_sidecar(file.get(), database);
  if (const int error = check_sidecar(file.get(), database)) return error;
  return map(hashed_boot_id(clock));
}

}  // namespace

// In the order of their making: each needs those above it.
class Sidecar::Parts {
 public:
  Parts(std::unique_ptr<Ground> on, Membership::Place place, const Clock& clock)
      : ground(std::move(on)),
        layout(*ground->mapping),
        membership(layout.members, ground->file, place),
        lifeline(layout.members, membership),
        turnstile(layout.turnstile, membership, clock),
        line(layout.line, membership, clock),
        flush_line(layout.flush),
        doorbell(layout.doorbell, membership) {}

  const std::unique_ptr<Ground> ground;
  SidecarLayout& layout;
  Membership membership;
  Lifeline lifeline;
  Turnstile turnstile;
  WaitingLine line;
  FlushLine flush_line;
  Doorbell doorbell;
};

Result<std::unique_ptr<Sidecar>> Sidecar::open(std::string_view database, std::uint64_t instance,
                                               const Clock& clock, Instant deadline) {
  if (!has_byte_locks()) return unavailable(ENOTSUP);
  const auto lock = CreationLock::acquire(database, clock, deadline);
  if (!lock) return fail(lock.error());
  const std::string path(database);
  auto ground = std::make_unique<Ground>(path);
  if (const int error = ground->open(path, clock)) return unavailable(error);
  const auto place = Membership::join((*ground->mapping).members, ground->file, instance);
  if (!place) return unavailable(EAGAIN);
  return std::unique_ptr<Sidecar>(
      new Sidecar(std::make_unique<Parts>(std::move(ground), *place, clock)));
}

Sidecar::Sidecar(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}

Sidecar::~Sidecar() = default;

Turnstile& Sidecar::turnstile() const noexcept { return parts_->turnstile; }
Membership& Sidecar::membership() const noexcept { return parts_->membership; }
Lifeline& Sidecar::lifeline() const noexcept { return parts_->lifeline; }
WaitingLine& Sidecar::line() const noexcept { return parts_->line; }
FlushLine& Sidecar::flush_line() const noexcept { return parts_->flush_line; }
Doorbell& Sidecar::doorbell() const noexcept { return parts_->doorbell; }

}  // namespace wallock::host
