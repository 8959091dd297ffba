#include "fork.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <system_error>

// Only in a build that counts coverage (tests/coverage.sh): what a child ran counts too.
extern "C" [[gnu::weak]] int __llvm_profile_write_file();

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
  exit_child(status);
}

int wait_for(pid_t pid) noexcept {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

void exit_child(int status) noexcept {
  if (__llvm_profile_write_file != nullptr) __llvm_profile_write_file();
  _exit(status);
}

unsigned draw_seed() {
  const char* const given = std::getenv("RNG_SEED");
  return given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device{}();
}

std::uint64_t how_many(const char* variable, std::uint64_t by_default) {
  const char* const given = std::getenv(variable);
  return given != nullptr ? std::stoull(given) : by_default;
}

Fork::Fork(const std::function<int()>& work) : pid_(fork()) {
  if (pid_ == 0) run_to_end(work);
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
}

void Fork::kill() noexcept {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  static_cast<void>(wait());
}

bool Fork::stop() noexcept {
  ::kill(pid_, SIGSTOP);
  int status = 0;
  while (waitpid(pid_, &status, WUNTRACED) < 0 && errno == EINTR) {
  }
  if (WIFSTOPPED(status)) return true;
  pid_ = -1;
  return false;
}

// The state is behind the name, which stands in brackets.
bool Fork::is_asleep() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto end = text.rfind(") ");
  return end != std::string::npos && end + 2 < text.size() && text[end + 2] == 'S';
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
