// What a child process gets from its parent: by fork, a store that it cannot use and cannot harm
// (cases L31 and O28); by exec, nothing at all (case L32).
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "child_process.hpp"
#include "host/creation_lock.hpp"
#include "process_support.hpp"
#include "temp_folder.hpp"
#include "thread_sanitizer.hpp"
#include "wallock/lease_guard.hpp"

using namespace wallock::test;
using wallock::ActionFields;
using wallock::Coordinator;
using wallock::RecordKind;

namespace {

// The descriptors of a program started now that refer to something in the folder.
std::vector<std::string> inherited(ChildProcess& child, const std::string& folder) {
  std::vector<std::string> found;
  for (;;) {
    const auto line = child.read_line();
    REQUIRE(line);
    if (*line == "end") return found;
    if (line->find(folder) != std::string::npos) found.push_back(*line);
  }
}

// The same, for a program started with fork and exec.
std::vector<std::string> inherited_by_exec(const std::string& folder) {
  const std::string path = program("descriptors");
  int ends[2] = {};
  REQUIRE(::pipe(ends) == 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::execl(path.c_str(), path.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t size = 0; (size = ::read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(size));
  ::close(ends[0]);
  int status = -1;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(status == 0);
  REQUIRE(text.find("end\n") != std::string::npos);
  if (text.find(folder) == std::string::npos) return {};
  return {text};
}

}  // namespace

TEST_CASE(
    "fork: children of a process with an open store are refused everything and disturb "
    "nothing, 200 times (cases L31, O28)") {
  const TempFolder folder;
  const std::string database = folder / "store.db";
  constexpr std::size_t children = thread_sanitizer ? 10 : 200;
  ChildProcess forks(program("forks"), {database, std::to_string(children)});
  const auto said = forks.read_lines();
  REQUIRE_FALSE(said.empty());
  INFO(said.back());
  REQUIRE(said.size() == 1);
  REQUIRE(said.back().starts_with("ok "));
  const auto by_the_other_thread = std::stoul(said.back().substr(3));
  CHECK(forks.wait() == 0);
  CHECK(integrity_check(database) == "ok");
  auto coordinator = must(Coordinator::open(database));
  CHECK(must(coordinator.verify()).verdict == wallock::VerifyVerdict::unanchored);
  const auto records = all_records(coordinator);
  // The action for the outbox, and two of the parent's for every tenth child; none of a child's.
  CHECK(count(records, RecordKind::action_recorded) == 1 + children / 5 + by_the_other_thread);
  CHECK(count(records, RecordKind::lease_released) == 3 + by_the_other_thread);
  CHECK(must(coordinator.leases()).empty());
}

TEST_CASE(
    "exec: a program started while a lease is held, inside a commit and inside open gets no "
    "descriptor of the store (case L32)") {
  const TempFolder folder;
  auto coordinator = must(Coordinator::open(folder / "store.db"));
  auto guard = must(coordinator.guard("r", {}));
  std::vector<std::string> found;
  const auto start_both = [&] {
    ChildProcess spawned(program("descriptors"));
    found = inherited(spawned, folder.path());
    const auto by_exec = inherited_by_exec(folder.path());
    found.insert(found.end(), by_exec.begin(), by_exec.end());
  };
  start_both();
  CHECK(found.empty());
  found = {"not looked"};
  static_cast<void>(must(guard.commit(ActionFields{.id = "a"}, start_both)));
  CHECK(found.empty());
  const auto lock = must(wallock::host::CreationLock::acquire(
      folder / "store.db", *wallock::system_clock(), wallock::Instant::max()));
  found = {"not looked"};
  start_both();
  CHECK(found.empty());
}

TEST_CASE("exec: what the test above looks for is seen when it is there") {
  const TempFolder folder;
  const std::string planted = folder / "planted";
  const int file = ::open(planted.c_str(), O_RDWR | O_CREAT, 0600);
  REQUIRE(file >= 0);
  ChildProcess spawned(program("descriptors"));
  CHECK(inherited(spawned, folder.path()) == std::vector<std::string>{planted});
  CHECK(inherited_by_exec(folder.path()).size() == 1);
  ::close(file);
}

TEST_CASE("a child that lives on does not keep the creation lock of its parent (case L32)") {
  const TempFolder folder;
  const std::string database = folder / "store.db";
  const auto& clock = *wallock::system_clock();
  const auto try_lock = [&] {
    return wallock::host::CreationLock::acquire(database, clock, wallock::Instant::min());
  };
  auto lock = must(try_lock());
  CHECK_FALSE(try_lock());  // the lock works at all
  ChildProcess spawned(program("descriptors"));
  REQUIRE(inherited(spawned, folder.path()).empty());
  const pid_t forked = ::fork();
  if (forked == 0) {
    die_with_parent();
    for (;;)
      ::pause();
  }
  {
    const auto gone = std::move(lock);
  }
  CHECK(try_lock());
  ::kill(forked, SIGKILL);
  REQUIRE(::waitpid(forked, nullptr, 0) == forked);
}

TEST_CASE("fork: a child cannot open anew what its parent had open when it forked, and only that") {
  const TempFolder folder;
  ChildProcess opener(program("fork_opener"), {folder / "store.db", folder / "other.db"});
  CHECK(opener.read_lines() ==
        std::vector<std::string>{"before: ok", "child: forked_handle", "child-elsewhere: ok",
                                 "grandchild: forked_handle", "grandchild-elsewhere: ok",
                                 "child-of-the-second: forked_handle", "after: ok", "parent: ok"});
  CHECK(opener.wait() == 0);
  CHECK(integrity_check(folder / "store.db") == "ok");
}
