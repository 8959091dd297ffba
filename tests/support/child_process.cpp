#include "child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

extern "C" char** environ;

namespace wallock::test {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe2");
    }
    read = ends[0];
    write = ends[1];
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    if (read >= 0) ::close(read);
    if (write >= 0) ::close(write);
  }
  int read = -1;
  int write = -1;
};

pid_t spawn(const std::string& program, std::vector<std::string> arguments, int input, int output) {
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv;
  for (std::string& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), program);
  return pid;
}

}  // namespace

ChildProcess::ChildProcess(const std::string& program, std::vector<std::string> arguments) {
  // A child that ended does not end the test that writes to it.
  std::signal(SIGPIPE, SIG_IGN);
  Pipe to_child;
  Pipe from_child;
  pid_ = spawn(program, std::move(arguments), to_child.read, from_child.write);
  input_ = std::exchange(to_child.write, -1);
  output_ = std::exchange(from_child.read, -1);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      status_(other.status_),
      ended_(std::exchange(other.ended_, true)),
      buffer_(std::move(other.buffer_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(input_, other.input_);
  std::swap(output_, other.output_);
  std::swap(status_, other.status_);
  std::swap(ended_, other.ended_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

ChildProcess::~ChildProcess() {
  kill();
  close_input();
  close_output();
}

void ChildProcess::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

void ChildProcess::close_output() noexcept {
  if (output_ >= 0) ::close(std::exchange(output_, -1));
}

void ChildProcess::send(std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::write(input_, text.data(), text.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// False at the end of the output and when the time is over.
bool ChildProcess::fill(SteadyClock::time_point deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
    pollfd ready{.fd = output_, .events = POLLIN, .revents = 0};
    const int found = ::poll(&ready, 1, left > 0 ? static_cast<int>(left) : 0);
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) return false;
    std::array<char, 4096> part{};
    const ssize_t count = ::read(output_, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    buffer_.append(part.data(), static_cast<std::size_t>(count));
    return true;
  }
}

std::optional<std::string> ChildProcess::read_line(std::chrono::milliseconds bound) {
  const auto deadline = SteadyClock::now() + bound;
  for (;;) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    if (!fill(deadline)) return std::nullopt;
  }
}

std::vector<std::string> ChildProcess::read_lines(std::chrono::milliseconds bound) {
  std::vector<std::string> lines;
  while (auto line = read_line(bound))
    lines.push_back(*std::move(line));
  return lines;
}

bool ChildProcess::changed(int flags, std::chrono::milliseconds bound) {
  const auto deadline = SteadyClock::now() + bound;
  for (;;) {
    const pid_t found = ::waitpid(pid_, &status_, flags | WNOHANG);
    if (found == pid_) return true;
    if (found < 0 && errno != EINTR) return false;
    if (SteadyClock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

bool ChildProcess::pause(std::chrono::milliseconds bound) {
  if (ended_) return false;
  ::kill(pid_, SIGSTOP);
  if (!changed(WUNTRACED, bound)) return false;
  ended_ = !WIFSTOPPED(status_);
  return !ended_;
}

void ChildProcess::resume() noexcept {
  if (!ended_) ::kill(pid_, SIGCONT);
}

void ChildProcess::terminate() noexcept {
  if (!ended_) ::kill(pid_, SIGTERM);
}

void ChildProcess::kill() noexcept {
  if (ended_ || pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  ended_ = true;
}

std::optional<int> ChildProcess::wait(std::chrono::milliseconds bound) {
  if (!ended_ && !changed(0, bound)) return std::nullopt;
  ended_ = true;
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
}

}  // namespace wallock::test
