#include "process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace demo {

namespace {

[[noreturn]] void throw_errno(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

pid_t spawn_self(const std::vector<std::string>& arguments, int output) {
  std::vector<std::string> words{"wallock_demo"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw_errno(error, "starting a worker");
  return pid;
}

pid_t wait_for(pid_t pid, int& status, int flags) noexcept {
  pid_t result = -1;
  do {
    result = ::waitpid(pid, &status, flags);
  } while (result < 0 && errno == EINTR);
  return result;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno(errno, "making a pipe");
  output_ = ends[0];
  try {
    pid_ = spawn_self(arguments, ends[1]);
  } catch (...) {
    ::close(ends[0]);
    ::close(ends[1]);
    throw;
  }
  ::close(ends[1]);
  ::fcntl(output_, F_SETFL, O_NONBLOCK);
}

ChildProcess::~ChildProcess() {
  kill();
  ::close(output_);
}

std::vector<std::string> ChildProcess::read_lines() {
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = ::read(output_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    at_end_ = at_end_ || count == 0;
    if (count <= 0) break;
    partial_.append(buffer.data(), static_cast<std::size_t>(count));
  }
  std::vector<std::string> lines;
  for (std::size_t end = partial_.find('\n'); end != std::string::npos; end = partial_.find('\n')) {
    lines.push_back(partial_.substr(0, end));
    partial_.erase(0, end + 1);
  }
  return lines;
}

void ChildProcess::kill() noexcept {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  static_cast<void>(wait());
}

bool ChildProcess::pause() noexcept {
  if (pid_ < 0) return false;
  ::kill(pid_, SIGSTOP);
  int status = 0;
  if (wait_for(pid_, status, WUNTRACED) == pid_ && WIFSTOPPED(status)) return true;
  status_ = status;
  pid_ = -1;
  return false;
}

void ChildProcess::resume() noexcept {
  if (pid_ >= 0) ::kill(pid_, SIGCONT);
}

int ChildProcess::wait() noexcept {
  if (pid_ >= 0) {
    wait_for(pid_, status_, 0);
    pid_ = -1;
  }
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
}

void die_with_parent() noexcept { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }

}  // namespace demo
