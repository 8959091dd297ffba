#include "host_support.hpp"

#include <sched.h>
#include <cerrno>

#include <fcntl.h>

namespace wallock::test {
namespace {

// A child must not fall back into the test that made it.
[[noreturn]] void run_to_end(const std::function<int()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int status = 120;
  try {
    status = work();
  } catch (...) {
    status = 121;
  }
  _exit(status);
}

int wait_for(pid_t pid) noexcept {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

RawSidecar::RawSidecar(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(file >= 0);
  void* const at = mmap(nullptr, sizeof *layout_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  REQUIRE(at != MAP_FAILED);
  layout_ = static_cast<host::SidecarLayout*>(at);
}

Fork::Fork(const std::function<int()>& work) : pid_(fork()) {
  if (pid_ == 0) run_to_end(work);
  REQUIRE(pid_ > 0);
}

void Fork::kill() noexcept {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  static_cast<void>(wait());
}

int Fork::wait() noexcept { return wait_for(std::exchange(pid_, -1)); }

bool may_have_namespaces() {
  return Fork([] { return unshare(CLONE_NEWPID) == 0 ? 0 : 1; }).wait() == 0;
}

// The process between the two dies with the test, and its death ends the namespace's first one.
Fork fork_as_pid_1(const std::function<int()>& work) {
  return Fork([&work] {
    if (unshare(CLONE_NEWPID) != 0) return 122;
    const pid_t first = fork();
    if (first == 0) run_to_end(work);
    return wait_for(first);
  });
}

}  // namespace wallock::test
