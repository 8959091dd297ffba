// Opening a sidecar: what is found, what is refused, what is kept.
#include <sys/mount.h>
#include <sys/stat.h>

#include <sched.h>
#include <filesystem>
#include <iostream>
#include <sstream>

#include <fcntl.h>

#include "host_support.hpp"

using namespace wallock;
using namespace wallock::test;
using host::SidecarLayout;

namespace {

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void write_file(const std::string& path, std::string_view text) { std::ofstream(path) << text; }

mode_t mode_of(const std::string& path) {
  struct stat found{};
  REQUIRE(stat(path.c_str(), &found) == 0);
  return found.st_mode & 0777;
}

}  // namespace

TEST_CASE("the sidecar is laid out by its first opener and joined by the others") {
  const Shore shore;
  const auto a = shore.open(1);
  CHECK(std::filesystem::file_size(shore.sidecar()) == sizeof(SidecarLayout));
  const auto b = shore.open(2);
  CHECK(a->membership().own() != b->membership().own());
  CHECK(a->membership().count() == 2);
  CHECK(b->membership().count() == 2);
}

TEST_CASE("the sidecar has the database's mode and leaves nothing open but one file") {
  const Shore shore;
  REQUIRE(chmod(shore.database().c_str(), 0660) == 0);
  const mode_t mask = umask(077);
  const auto sidecar = shore.open(1);
  umask(mask);
  CHECK(mode_of(shore.sidecar()) == 0660);
  int open_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (!std::filesystem::read_symlink(entry.path(), gone).string().ends_with("-wallock")) continue;
    ++open_files;
    const int file = std::stoi(entry.path().filename().string());
    CHECK((fcntl(file, F_GETFD) & FD_CLOEXEC) != 0);
  }
  CHECK(open_files == 1);
}

TEST_CASE("a sidecar that is a link, a folder, a pipe or has a second name is refused") {
  const Shore shore;
  write_file(shore / "target", "x");
  std::filesystem::create_symlink("target", shore.sidecar());
  CHECK(shore.open_error() == ELOOP);
  std::filesystem::remove(shore.sidecar());
  std::filesystem::create_directory(shore.sidecar());
  CHECK(shore.open_error() == EISDIR);
  std::filesystem::remove(shore.sidecar());
  REQUIRE(mkfifo(shore.sidecar().c_str(), 0600) == 0);
  CHECK(shore.open_error() == EINVAL);
  std::filesystem::remove(shore.sidecar());
  write_file(shore / "other", "");
  std::filesystem::create_hard_link(shore / "other", shore.sidecar());
  CHECK(shore.open_error() == EMLINK);
  CHECK(content(shore / "other").empty());
  CHECK(content(shore / "target") == "x");
}

TEST_CASE("a sidecar with foreign content is refused and left as it is") {
  const Shore shore;
  for (const std::string text : {"abc", "a letter to somebody", "\1WALLOC"}) {
    write_file(shore.sidecar(), text);
    CHECK(shore.open_error() == EPROTO);
    CHECK(content(shore.sidecar()) == text);
  }
}

TEST_CASE("a sidecar that was cut short or never finished is laid out anew by the only opener") {
  const Shore shore;
  shore.open(1).reset();
  std::filesystem::resize_file(shore.sidecar(), 4096);
  CHECK(shore.open_error() == 0);
  CHECK(std::filesystem::file_size(shore.sidecar()) == sizeof(SidecarLayout));
  RawSidecar(shore.sidecar())->header.magic = 0;
  CHECK(shore.open_error() == 0);
}

TEST_CASE("a sidecar that others use with another layout is refused, until they are gone") {
  const Shore shore;
  auto sidecar = shore.open(1);
  {
    const RawSidecar raw(shore.sidecar());
    const auto refused_while = [&](auto& field, auto other) {
      const auto before = field.exchange(other);
      CHECK(shore.open_error() == EPROTO);
      field = before;
      CHECK(shore.open_error() == 0);
    };
    refused_while(raw->header.magic, 7U);
    refused_while(raw->header.version, host::sidecar_version + 1);
    refused_while(raw->header.size, 4096U);
    refused_while(raw->header.boot_id, 7U);
    raw->header.version = host::sidecar_version + 1;
  }
  CHECK(shore.open_error() == EPROTO);
  sidecar.reset();
  CHECK(shore.open_error() == 0);
  CHECK(RawSidecar(shore.sidecar())->header.version == host::sidecar_version);
}

TEST_CASE("a sidecar that was cut short under its users is refused to others") {
  const Shore shore;
  const auto sidecar = shore.open(1);
  std::filesystem::resize_file(shore.sidecar(), 4096);
  CHECK(shore.open_error() == EPROTO);
  CHECK(std::filesystem::file_size(shore.sidecar()) == 4096);
  // The opening of this test still has to close.
  std::filesystem::resize_file(shore.sidecar(), sizeof(SidecarLayout));
}

TEST_CASE("a sidecar of an earlier boot is laid out anew, one of this boot remembers its dead") {
  const Shore shore;
  ManualClock clock;
  const auto die_as = [&](std::uint64_t instance) {
    CHECK(Fork([&] {
            const auto sidecar = shore.open(instance, clock);
            static_cast<void>(sidecar->line().join("a", Instant::max()));
            return sidecar->turnstile().enter(0s) ? raise(SIGKILL) : 1;
          }).wait() == 128 + SIGKILL);
  };
  die_as(5);
  {
    const auto sidecar = shore.open(6, clock);
    CHECK(sidecar->membership().is_dead(5));
    CHECK(RawSidecar(shore.sidecar())->turnstile.holder == 0);
    CHECK(sidecar->line().count() == 0);
  }
  clock.reboot("boot-2");
  CHECK_FALSE(shore.open(7, clock)->membership().is_dead(5));
}

TEST_CASE("a sidecar is opened by one at a time, within the deadline") {
  const Shore shore;
  const ManualClock clock;
  const auto lock = host::CreationLock::acquire(shore.database(), clock, clock.now());
  REQUIRE(lock);
  const auto refused = Sidecar::open(shore.database(), 1, clock, clock.now() + 5s);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Errc::busy);
}

TEST_CASE("a sidecar that others prepared who may not write the database is refused") {
  if (geteuid() != 0) {
    std::cout << "not root: the owner of a sidecar is not tested\n";
    return;
  }
  constexpr uid_t stranger = 54321;
  const Shore shore;
  const auto prepare = [&](mode_t database, mode_t sidecar) {
    REQUIRE(chmod(shore.database().c_str(), database) == 0);
    std::filesystem::remove(shore.sidecar());
    write_file(shore.sidecar(), "");
    REQUIRE(chown(shore.sidecar().c_str(), stranger, stranger) == 0);
    REQUIRE(chmod(shore.sidecar().c_str(), sidecar) == 0);
  };
  prepare(0644, 0644);
  CHECK(shore.open_error() == EPERM);
  struct stat found{};
  REQUIRE(stat(shore.sidecar().c_str(), &found) == 0);
  CHECK(found.st_uid == stranger);
  prepare(0666, 0666);
  CHECK(shore.open_error() == 0);
}

TEST_CASE("a sidecar that may be written by more users than the database is refused") {
  if (geteuid() != 0) {
    std::cout << "not root: the mode of another user's sidecar is not tested\n";
    return;
  }
  // An opener that is not the file's owner cannot narrow its mode.
  constexpr uid_t opener = 54321;
  const Shore shore;
  write_file(shore.sidecar(), "");
  REQUIRE(chmod(shore.database().c_str(), 0644) == 0);
  REQUIRE(chmod(shore.sidecar().c_str(), 0666) == 0);
  std::filesystem::permissions(std::filesystem::path(shore.database()).parent_path(),
                               std::filesystem::perms::others_all,
                               std::filesystem::perm_options::add);
  CHECK(Fork([&] {
          if (setresgid(opener, opener, opener) != 0 || setresuid(opener, opener, opener) != 0) {
            return -1;
          }
          return shore.open_error();
        }).wait() == EPERM);
}

TEST_CASE("a full disk is an error of opening the sidecar") {
  const Shore shore;
  std::filesystem::create_directory(shore / "small");
  const int status = Fork([&] {
                       if (unshare(CLONE_NEWNS) != 0 ||
                           mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
                           mount("none", (shore / "small").c_str(), "tmpfs", 0, "size=256k") != 0) {
                         return 1;
                       }
                       write_file(shore / "small/a.db", "");
                       const auto clock = system_clock();
                       const auto full = Sidecar::open(shore / "small/a.db", 1, *clock,
                                                       saturating_add(clock->now(), long_enough));
                       const bool is_told = !full && full.error().facts().native == ENOSPC;
                       return is_told ? 0 : 2;
                     }).wait();
  if (status == 1) std::cout << "mounting is not permitted: a full disk is not tested\n";
  CHECK(status != 2);
  CHECK(status <= 2);
}
