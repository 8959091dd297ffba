// The lock that lets one process at a time create a store.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coordinator_support.hpp"
#include "host/creation_lock.hpp"
#include "host/sidecar.hpp"
#include "temporary_folder.hpp"

using namespace wallock;
using namespace wallock::test;
using host::CreationLock;

namespace {

Result<CreationLock> try_lock(const std::string& database) {
  const ManualClock clock;
  return CreationLock::acquire(database, clock, clock.now());
}

mode_t mode_of(const std::string& path) {
  struct stat found{};
  REQUIRE(stat(path.c_str(), &found) == 0);
  return found.st_mode & 0777;
}

// How many descriptors this process has of a file.
int open_files_named(const std::string& path) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) == path) ++found;
  }
  return found;
}

void make_file(const std::string& path, mode_t mode) {
  std::ofstream(path) << "x";
  REQUIRE(chmod(path.c_str(), mode) == 0);
}

}  // namespace

TEST_CASE("the creation lock keeps others out until it is let go of") {
  const TemporaryFolder folder;
  const std::string database = folder.file("a.db");
  {
    const auto lock = try_lock(database);
    REQUIRE(lock);
    const auto second = try_lock(database);
    REQUIRE_FALSE(second);
    CHECK(second.error().code() == Errc::busy);
    CHECK(try_lock(folder.file("b.db")));
  }
  CHECK(try_lock(database));
}

TEST_CASE("the creation lock is one lock under every name of the database") {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("a.db", folder.file("link.db"));
  const auto lock = try_lock(folder.file("link.db"));
  REQUIRE(lock);
  CHECK(std::filesystem::exists(folder.file("a.db-wallock")));
  CHECK(try_lock(folder.file("a.db")).error().code() == Errc::busy);
}

TEST_CASE("waiting for the creation lock ends at its deadline, on the clock") {
  const TemporaryFolder folder;
  const auto lock = try_lock(folder.file("a.db"));
  REQUIRE(lock);
  const ManualClock clock;
  const Instant start = clock.now();
  const auto second = CreationLock::acquire(folder.file("a.db"), clock, start + 10s + 300us);
  CHECK(second.error().code() == Errc::busy);
  CHECK(clock.now() == start + 10s + 300us);
}

TEST_CASE("a waiter gets the creation lock once it is free") {
  const TemporaryFolder folder;
  auto lock = std::make_optional(try_lock(folder.file("a.db")).value());
  std::atomic<bool> got{false};
  std::thread waiter([&] {
    const auto clock = system_clock();
    got = CreationLock::acquire(folder.file("a.db"), *clock, clock->now() + 30s).has_value();
  });
  lock.reset();
  waiter.join();
  CHECK(got);
}

TEST_CASE("moving the creation lock moves it, and overwriting it lets go") {
  const TemporaryFolder folder;
  auto a = try_lock(folder.file("a.db")).value();
  auto moved = std::move(a);
  CHECK_FALSE(try_lock(folder.file("a.db")));
  auto b = try_lock(folder.file("b.db")).value();
  b = std::move(moved);
  CHECK(try_lock(folder.file("b.db")));
  CHECK_FALSE(try_lock(folder.file("a.db")));
}

TEST_CASE("the sidecar gets the database's mode, or is private without a database") {
  const TemporaryFolder folder;
  const mode_t old_mask = umask(077);
  CHECK(try_lock(folder.file("new.db")));
  CHECK(mode_of(folder.file("new.db-wallock")) == 0600);

  make_file(folder.file("shared.db"), 0664);
  CHECK(try_lock(folder.file("shared.db")));
  CHECK(mode_of(folder.file("shared.db-wallock")) == 0664);

  {
    const auto lock = try_lock(folder.file("later.db"));
    REQUIRE(lock);
    make_file(folder.file("later.db"), 0660);
  }
  CHECK(mode_of(folder.file("later.db-wallock")) == 0660);
  umask(old_mask);
}

TEST_CASE("the sidecar stays empty, is never deleted, and the database is not touched") {
  const TemporaryFolder folder;
  make_file(folder.file("a.db"), 0600);
  CHECK(try_lock(folder.file("a.db")));
  CHECK(std::filesystem::file_size(folder.file("a.db-wallock")) == 0);
  CHECK(std::filesystem::file_size(folder.file("a.db")) == 1);
  std::ofstream(folder.file("a.db-wallock")) << "content of a later version";
  CHECK(try_lock(folder.file("a.db")));
  CHECK(std::filesystem::file_size(folder.file("a.db-wallock")) == 26);
}

TEST_CASE("a sidecar that is a link, a folder or a pipe is refused") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("target")) << "x";
  REQUIRE(chmod(folder.file("target").c_str(), 0600) == 0);
  std::filesystem::create_symlink("target", folder.file("link.db-wallock"));
  CHECK(try_lock(folder.file("link.db")).error().facts().native == ELOOP);
  std::filesystem::create_symlink("nowhere", folder.file("dangling.db-wallock"));
  CHECK(try_lock(folder.file("dangling.db")).error().facts().native == ELOOP);
  CHECK_FALSE(std::filesystem::exists(folder.file("nowhere")));
  std::filesystem::create_directory(folder.file("dir.db-wallock"));
  CHECK(try_lock(folder.file("dir.db")).error().facts().native == EISDIR);
  REQUIRE(mkfifo(folder.file("pipe.db-wallock").c_str(), 0600) == 0);
  const auto pipe = try_lock(folder.file("pipe.db"));
  CHECK(pipe.error().code() == Errc::store_unavailable);
  CHECK(pipe.error().facts().native == EINVAL);
}

TEST_CASE("a sidecar that has another name is locked, but its mode is left alone") {
  const TemporaryFolder folder;
  make_file(folder.file("other"), 0600);
  make_file(folder.file("a.db"), 0666);
  std::filesystem::create_hard_link(folder.file("other"), folder.file("a.db-wallock"));
  CHECK(try_lock(folder.file("a.db")));
  CHECK(mode_of(folder.file("other")) == 0600);
}

TEST_CASE("the creation lock dies with its process") {
  const TemporaryFolder folder;
  const std::string database = folder.file("a.db");
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = try_lock(database);
    const char byte = lock ? 'y' : 'n';
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    for (;;)
      pause();
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  REQUIRE(byte == 'y');
  CHECK(try_lock(database).error().code() == Errc::busy);
  REQUIRE(kill(child, SIGKILL) == 0);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK(try_lock(database));
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("a file that was made for nothing goes, and who waits for its lock has the next one") {
  const TemporaryFolder folder;
  const std::string database = folder.file("a.db");
  const std::string sidecar = database + "-wallock";
  auto first = std::make_optional(try_lock(database).value());
  std::optional<Result<CreationLock>> second;
  const auto deadline = system_clock()->now() + std::chrono::seconds(60);
  std::thread waiting([&] { second = CreationLock::acquire(database, *system_clock(), deadline); });
  while (open_files_named(sidecar) < 2)
    std::this_thread::yield();
  first->remove_unused_file();
  CHECK_FALSE(std::filesystem::exists(sidecar));
  first.reset();
  waiting.join();
  REQUIRE(second->has_value());
  CHECK(std::filesystem::exists(sidecar));
  CHECK(try_lock(database).error().code() == Errc::busy);
}

TEST_CASE("a file that an opening of the store uses stays") {
  const TemporaryFolder folder;
  const std::string database = folder.file("a.db");
  const auto sidecar = host::Sidecar::open(database, 7, *system_clock(),
                                           system_clock()->now() + std::chrono::seconds(5));
  REQUIRE(sidecar);
  try_lock(database).value().remove_unused_file();
  CHECK(std::filesystem::exists(database + "-wallock"));
}

TEST_CASE("the end of an inherited creation lock in a child lets nobody in (case L32)") {
  const TemporaryFolder folder;
  const std::string database = folder.file("a.db");
  auto lock = std::make_optional(try_lock(database).value());
  const pid_t child = fork();
  if (child == 0) {
    lock.reset();
    _exit(0);
  }
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK(try_lock(database).error().code() == Errc::busy);
}

TEST_CASE("the creation lock's file is closed when another program is started (case L32)") {
  const TemporaryFolder folder;
  const auto lock = try_lock(folder.file("a.db"));
  REQUIRE(lock);
  const auto is_sidecar = [](const std::filesystem::directory_entry& entry) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone);
    return target.string().ends_with("-wallock");
  };
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    if (!is_sidecar(entry)) continue;
    ++found;
    const int file = std::stoi(entry.path().filename().string());
    CHECK((fcntl(file, F_GETFD) & FD_CLOEXEC) != 0);
  }
  CHECK(found == 1);
}
