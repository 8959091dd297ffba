// An opening that is refused says what was found, and leaves nothing behind that was not there.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <set>

#include "repository_support.hpp"

namespace wallock::test {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const TempFolder& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    names.insert(entry.path().filename().string());
  return names;
}

// "path directory": what was refused, and what was found there.
std::string refusal(const TempStore& at, const std::string& path) {
  const auto opened = Coordinator::open(path, at.options());
  if (answer(opened) != "invalid_path") return answer(opened);
  CHECK(opened.error().error_class() == ErrorClass::deterministic);
  return opened.error().facts().field + " " + opened.error().facts().found;
}

void make_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  close(made);
}

// Makes something of that kind; its target, if it has one, is "target".
void make(const TempFolder& folder, const std::string& kind, const std::string& path) {
  if (kind == "directory") fs::create_directory(path);
  if (kind == "FIFO") REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  if (kind == "socket") make_socket(path);
  if (kind == "link") fs::create_symlink("target", path);
  if (kind == "hard link") fs::create_hard_link(folder.file("target"), path);
}

}  // namespace

TEST_CASE("a path that no store can lie at is refused by what was found there") {
  const std::string kind = GENERATE(as<std::string>(), "directory", "FIFO", "socket", "hard link");
  CAPTURE(kind);
  TempStore at;
  write_file(at.folder.file("target"), "");
  make(at.folder, kind, at.path());
  const auto before = names_in(at.folder);
  CHECK(refusal(at, at.path()) == "path " + kind);
  CHECK(names_in(at.folder) == before);
}

TEST_CASE("a device is no store") { CHECK(refusal(TempStore(), "/dev/null") == "path device"); }

TEST_CASE("names that mean no file to SQLite are refused, and no file of that name is made") {
  TempStore at;
  const fs::path here = fs::current_path();
  fs::current_path(at.folder.path());
  CHECK(refusal(at, ":memory:") == "path memory");
  CHECK(refusal(at, "file:store.db") == "path URI");
  CHECK(refusal(at, "file:store.db?mode=memory&cache=shared") == "path URI");
  CHECK(names_in(at.folder).empty());
  CHECK(refusal(at, "./file:store.db") == "ok");  // who means a file can say so
  fs::current_path(here);
}

TEST_CASE("what stands in the place of a file beside the store is refused by what it is") {
  const std::string ending = GENERATE(as<std::string>(), "-wal", "-shm", "-journal", "-wallock");
  const std::string kind = GENERATE(as<std::string>(), "directory", "FIFO", "socket", "link");
  CAPTURE(ending, kind);
  TempStore at;
  write_file(at.folder.file("target"), "precious");
  make(at.folder, kind, at.path() + ending);
  const auto before = names_in(at.folder);
  CHECK(refusal(at, at.path()) == ending + " " + kind);
  CHECK(names_in(at.folder) == before);
  CHECK(read_file(at.folder.file("target")) == "precious");
  fs::remove(at.path() + ending);
  CHECK(refusal(at, at.path()) == "ok");
}

TEST_CASE("the words about a place say what it is and what to do") {
  TempStore at;
  fs::create_directory(at.path());
  const auto opened = Coordinator::open(at.path(), at.options());
  REQUIRE_FALSE(opened);
  CHECK(to_string(opened.error()) ==
        "invalid_path (deterministic): at the path, or beside it, is something that no store can "
        "use [field=path found=directory]; give the path of a regular file with one name, or of "
        "one that is not there yet; move away what stands in the place of a file beside it");
}

TEST_CASE("an opening that is refused leaves no file beside the one that it refused") {
  TempStore at;
  SECTION("no database") { write_file(at.path(), std::string(5000, 'x')); }
  SECTION("another application's tables under the library's names") {
    at.raw().must("CREATE TABLE wallock_meta (x)");
  }
  SECTION("a view under the name of a table") {
    at.raw().must("CREATE VIEW wallock_lease_queue_events AS SELECT 1");
  }
  SECTION("a newer store that came without its sidecar") {
    static_cast<void>(at.open());
    at.raw().must("UPDATE wallock_meta SET min_writer = 2");
    fs::remove(at.path() + "-wallock");
  }
  CHECK(answer(Coordinator::open(at.path(), at.options())) != "ok");
  CHECK(names_in(at.folder) == std::set<std::string>{"store.db"});
}

TEST_CASE("an application's file that is refused keeps its journal, one that had a log its log") {
  const std::string mode = GENERATE(as<std::string>(), "delete", "wal");
  TempStore at;
  at.raw().must("PRAGMA journal_mode=" + mode + "; CREATE TABLE wallock_meta (x)");
  CHECK(answer(Coordinator::open(at.path(), at.options())) == "store_corrupt");
  CHECK(at.raw().text("PRAGMA journal_mode") == mode);
}

TEST_CASE("an opening that is refused leaves the sidecar that was there") {
  TempStore at;
  static_cast<void>(at.open());
  at.raw().must("UPDATE wallock_meta SET min_writer = 2");
  const auto before = read_file(at.path() + "-wallock");
  struct stat first{};
  struct stat second{};
  REQUIRE(stat((at.path() + "-wallock").c_str(), &first) == 0);
  CHECK(answer(Coordinator::open(at.path(), at.options())) == "schema_too_new");
  REQUIRE(stat((at.path() + "-wallock").c_str(), &second) == 0);
  CHECK(first.st_ino == second.st_ino);
}

}  // namespace wallock::test
