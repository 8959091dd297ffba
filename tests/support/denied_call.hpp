// deny_call: takes a system call away from this process, as an old kernel or a sandbox does.
#pragma once

#include <sys/prctl.h>

#include <array>
#include <cstddef>

#include <linux/filter.h>
#include <linux/seccomp.h>

namespace wallock::test {

// From now on the call answers ENOSYS to this thread, and to the threads and processes it starts.
// False if the system has no such filters.
[[nodiscard]] inline bool deny_call(unsigned number) noexcept {
  constexpr unsigned not_there = 38;  // ENOSYS; the filter may have nothing but numbers
  std::array<sock_filter, 4> steps{
      sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, number},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | not_there},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace wallock::test
