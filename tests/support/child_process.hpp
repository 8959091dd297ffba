// Child processes of a test: started afresh, talked to through pipes, paused, killed, waited for.
#pragma once

#include <sys/prctl.h>
#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wallock::test {

// Generous: a test that waits this long has found a process that hangs.
inline constexpr std::chrono::seconds patience{60};

// A program that runs beside the test. Its standard input and output are pipes to the test; its
// standard error is the test's own.
//
// One thread at a time. The destructor kills and reaps a child that still runs.
class ChildProcess {
 public:
  // Starts `program`; throws std::system_error if that fails.
  explicit ChildProcess(const std::string& program, std::vector<std::string> arguments = {});
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  // The child's next line of output, without its end; empty at the end of the output, or when
  // `bound` is over.
  [[nodiscard]] std::optional<std::string> read_line(std::chrono::milliseconds bound = patience);
  // Everything up to the end of the output.
  [[nodiscard]] std::vector<std::string> read_lines(std::chrono::milliseconds bound = patience);
  void send(std::string_view text);
  void close_input();

  // SIGSTOP; true once the child stands still, false if it ended instead.
  [[nodiscard]] bool pause(std::chrono::milliseconds bound = patience);
  // SIGCONT.
  void resume() noexcept;
  // SIGTERM.
  void terminate() noexcept;
  // SIGKILL, and waits until the child is gone.
  void kill() noexcept;
  // How the child ended: its exit code, or 128 + the signal that ended it. Empty if it still runs
  // when `bound` is over.
  [[nodiscard]] std::optional<int> wait(std::chrono::milliseconds bound = patience);

 private:
  [[nodiscard]] bool changed(int flags, std::chrono::milliseconds bound);
  [[nodiscard]] bool fill(std::chrono::steady_clock::time_point deadline);
  void close_output() noexcept;

  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int status_ = 0;
  bool ended_ = false;
  std::string buffer_;
};

// The exit code of a program that SIGKILL ended.
inline constexpr int ended_by_kill = 128 + SIGKILL;

// For a child: ends it with its parent, even while it is stopped.
inline void die_with_parent() noexcept { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }

}  // namespace wallock::test
