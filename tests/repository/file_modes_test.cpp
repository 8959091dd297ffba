// Who may read and write the files beside a database, and whose files are believed.
#include <csignal>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/side_files.hpp"
#include "repository_support.hpp"

namespace wallock::test {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat found{};
  REQUIRE(stat(path.c_str(), &found) == 0);
  return found.st_mode & 07777;
}

std::string opened(const TempStore& at) {
  return answer(Coordinator::open(at.path(), at.options()));
}

}  // namespace

TEST_CASE("no file beside the database may be read or written by more users than it") {
  const mode_t mask = umask(0);
  for (const mode_t mode : {0600, 0640, 0660, 0664}) {
    TempStore at;
    write_file(at.path(), "");
    REQUIRE(chmod(at.path().c_str(), mode) == 0);
    auto store = at.open();
    REQUIRE(answer(store.execute("r", recorded("a"))) == "ok");
    CAPTURE(mode);
    CHECK(mode_of(at.path()) == mode);
    for (const char* ending : {"-wal", "-shm", "-wallock"}) {
      CAPTURE(ending);
      CHECK((mode_of(at.path() + ending) & ~mode) == 0);
    }
  }
  umask(mask);
}

TEST_CASE("a log, an index or a journal that is a link is refused, and its target left alone") {
  for (const char* ending : {"-wal", "-shm", "-journal"}) {
    for (const bool exists : {false, true}) {
      CAPTURE(ending, exists);
      TempStore at;
      if (exists) static_cast<void>(at.open());
      write_file(at.folder.file("target"), "precious");
      std::filesystem::create_symlink("target", at.path() + ending);
      CHECK(opened(at) == "invalid_path");
      CHECK(read_file(at.folder.file("target")) == "precious");
      std::filesystem::remove(at.path() + ending);
      std::filesystem::create_hard_link(at.folder.file("target"), at.path() + ending);
      CHECK(opened(at) == "invalid_path");
      std::filesystem::remove(at.path() + ending);
      std::filesystem::create_symlink("nowhere", at.path() + ending);
      CHECK(opened(at) == "invalid_path");
      CHECK_FALSE(std::filesystem::exists(at.folder.file("nowhere")));
      std::filesystem::remove(at.path() + ending);
      CHECK(opened(at) == "ok");
    }
  }
}

TEST_CASE("a log of one who may not write the database is not believed") {
  struct stat like{};
  struct stat own{};
  like.st_uid = 1000;
  like.st_gid = 100;
  like.st_mode = S_IFREG | 0600;
  own.st_uid = 4242;
  own.st_gid = 100;
  CHECK_FALSE(host::is_owner_trusted(own, like));
  like.st_mode = S_IFREG | 0644;
  CHECK_FALSE(host::is_owner_trusted(own, like));
  like.st_mode = S_IFREG | 0660;
  CHECK(host::is_owner_trusted(own, like));  // of the group that may write
  own.st_gid = 4242;
  CHECK_FALSE(host::is_owner_trusted(own, like));
  like.st_mode = S_IFREG | 0666;
  CHECK(host::is_owner_trusted(own, like));
  like.st_mode = S_IFREG | 0600;
  for (const uid_t trusted : {uid_t{0}, geteuid(), uid_t{1000}}) {
    own.st_uid = trusted;
    CHECK(host::is_owner_trusted(own, like));
  }

  if (geteuid() != 0) return;  // only root can give a file away
  TempStore at;
  std::string log;
  {
    auto store = at.open();
    REQUIRE(answer(store.force_open("r", "planted")) == "ok");
    log = read_file(at.path() + "-wal");
  }
  constexpr uid_t stranger = 54321;
  write_file(at.path() + "-wal", log);
  REQUIRE(chmod(at.path().c_str(), 0644) == 0);
  REQUIRE(chown((at.path() + "-wal").c_str(), stranger, stranger) == 0);
  CHECK(opened(at) == "invalid_path");
  REQUIRE(chmod(at.path().c_str(), 0666) == 0);
  CHECK(opened(at) == "ok");
}

TEST_CASE("whoever may read the file can lock it: calls are busy by their deadline, then go on") {
  TempStore at;
  auto options = at.options();
  options.operation_timeout = 50ms;
  auto store = at.open(options);
  int ready[2] = {};
  REQUIRE(pipe(ready) == 0);
  const pid_t reader = fork();
  if (reader == 0) {
    // A read lock on the byte that writers lock in SQLite's index of the log.
    constexpr off_t write_lock = 120;
    const int file = open((at.path() + "-shm").c_str(), O_RDONLY);
    struct flock lock{};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = write_lock;
    lock.l_len = 1;
    const char done = fcntl(file, F_SETLK, &lock) == 0 ? 'y' : 'n';
    if (write(ready[1], &done, 1) == 1) pause();
    _exit(0);
  }
  char locked = 0;
  REQUIRE(read(ready[0], &locked, 1) == 1);
  CHECK(locked == 'y');
  CHECK(answer(store.execute("r", recorded("a"))) == "busy");
  CHECK(answer(store.leases()) == "ok");
  kill(reader, SIGKILL);
  CHECK(waitpid(reader, nullptr, 0) == reader);
  CHECK(answer(store.execute("r", recorded("a"))) == "ok");
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("who may not read and write a store leaves nothing beside it when he is refused") {
  TempStore at;
  REQUIRE(answer(at.open().execute("r", recorded("a"))) == "ok");
  const std::string sidecar = at.path() + "-wallock";
  std::filesystem::remove(sidecar);
  using std::filesystem::perms;
  const perms everybody = perms::all | perms::sticky_bit;
  std::filesystem::permissions(at.folder.path(), everybody);
  std::filesystem::permissions(at.path(), geteuid() == 0 ? perms::owner_all : perms::none);
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && seteuid(65534) != 0) _exit(2);
    const auto opened = Coordinator::open(at.path(), at.options());
    _exit(!opened && opened.error() == Error(Errc::store_unavailable, {.native = EACCES}) ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK_FALSE(std::filesystem::exists(sidecar));
  std::filesystem::permissions(at.path(), perms::owner_read | perms::owner_write);
  CHECK(answer(at.open().execute("r", recorded("b"))) == "ok");
}

}  // namespace wallock::test
