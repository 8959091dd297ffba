#include "crowd.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace wallock::bench {
namespace {

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::exit(EXIT_FAILURE);
}

}  // namespace

void await(const std::atomic<std::uint32_t>& value, std::uint32_t least) {
  constexpr auto pause = std::chrono::microseconds(50);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (value.load() < least) {
    if (std::chrono::steady_clock::now() > deadline) give_up("another process does not answer");
    std::this_thread::sleep_for(pause);
  }
}

void StartLine::wait() {
  ready_->fetch_add(1);
  await(*ready_, processes_);
}

pid_t spawn(const std::function<void()>& work) {
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) give_up("fork failed");
  if (child > 0) return child;
  // No process of a run that was broken off stays behind.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);
  work();
  std::fflush(nullptr);
  _exit(EXIT_SUCCESS);
}

void join(const std::vector<pid_t>& children) {
  for (const pid_t child : children) {
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) give_up("a process failed");
  }
}

void kill_and_join(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

void run_crowd(std::size_t processes, const std::function<void(std::size_t)>& work) {
  std::vector<pid_t> children;
  children.reserve(processes);
  for (std::size_t i = 0; i < processes; ++i)
    children.push_back(spawn([&work, i] { work(i); }));
  join(children);
}

}  // namespace wallock::bench
