// A child process and the pipe that its standard output goes to.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace demo {

// Runs this program again. The child is a fresh program: nothing of the parent but the pipe reaches
// it, least of all an open Coordinator.
//
// Lifetime: the destructor kills and reaps a child that still runs.
class ChildProcess {
 public:
  // Starts this program with the arguments. Throws std::system_error.
  explicit ChildProcess(const std::vector<std::string>& arguments);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  // To poll for what the child writes.
  [[nodiscard]] int output() const noexcept { return output_; }
  // Takes the whole lines that have been written so far, without waiting.
  [[nodiscard]] std::vector<std::string> read_lines();
  // The child has closed its end: it is gone, or about to be.
  [[nodiscard]] bool at_end() const noexcept { return at_end_; }

  // SIGKILL, and wait until the child is gone.
  void kill() noexcept;
  // SIGSTOP, and wait until the child stands still. False if it ended instead.
  [[nodiscard]] bool pause() noexcept;
  // SIGCONT.
  void resume() noexcept;
  // Waits for the end. 0 if the child ended well; otherwise its exit code or 128 + signal.
  [[nodiscard]] int wait() noexcept;

 private:
  pid_t pid_ = -1;  // -1 once reaped
  int output_ = -1;
  int status_ = 0;
  bool at_end_ = false;
  std::string partial_;
};

// In a child: die with the parent, also while stopped.
void die_with_parent() noexcept;

}  // namespace demo
